import Glibc

extension TextIndexes {
  /// Compares each index with the texts, and rebuilds those that do not lead to every row: so many. Of the others it is
  /// recorded that they are right with the schema as it is now, which another program may have changed.
  func checkAll(on connection: Connection) throws(Failure) -> Int {
    try lock.withLock { () throws(Failure) in try checkEach(on: connection) }
  }

  private func checkEach(on connection: Connection) throws(Failure) -> Int {
    try check(on: connection)
    if !hasModule { return 0 }
    var damaged: [TextIndex] = [], sound: [TextIndex] = []
    let schema = try connection.schemaNumber()
    for index in all {
      if index.isUsable, try verify(index, on: connection), try index.leadsToEveryRow(on: connection) {
        sound.append(index)
        continue
      }
      index.setAside()
      damaged.append(index)
    }
    if connection.isReadOnly { return damaged.count }
    try record(sound, with: schema, on: connection)
    if damaged.isEmpty { return 0 }
    do throws(Failure) {
      try removing(on: connection) { removal throws(Failure) in
        try build(damaged, by: removal, on: connection, since: try connection.schemaNumber())
      }
    } catch {
      for index in damaged { index.setAside() }
      throw error
    }
    for index in damaged { index.isBeyondRepair = false }
    return damaged.count
  }

  /// Without, a store that is opened for reading does not use an index that was just found to be sound.
  private func record(_ sound: [TextIndex], with schema: Int64, on connection: Connection) throws(Failure) {
    var outdated: [TextIndex] = []
    for index in sound {
      let select = try connection.statement("SELECT 1 FROM \(TextIndexes.directory) WHERE Z_NAME = ? AND Z_SCHEMA <> ?")
      try select.bind(Text(index.name), at: 1)
      try select.bind(schema, at: 2)
      if try select.step() { outdated.append(index) }
      select.reset()
    }
    if outdated.isEmpty { return }
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try connection.transaction { () throws(Failure) in
          // What has changed since was not checked.
          if try connection.schemaNumber() != schema { return }
          for index in outdated {
            let update = try connection.statement("UPDATE \(TextIndexes.directory) SET Z_SCHEMA = ? WHERE Z_NAME = ?")
            try update.bind(schema, at: 1)
            try update.bind(Text(index.name), at: 2)
            try update.run()
          }
        }
      }
    } catch {
      // Another program is writing; the next check records it.
      if error.kind != .busy { throw error }
    }
  }
}

extension TextIndex {
  private static let wanted = "temp.QUIRE_TEXT_CHECK"
  private static let wantedTerms = "temp.QUIRE_TEXT_CHECK_WANTED"
  private static let foundTerms = "temp.QUIRE_TEXT_CHECK_FOUND"

  /// Whether each trigram of each text leads to its row, unless the row is pending. Makes a second index in memory.
  fileprivate func leadsToEveryRow(on connection: Connection) throws(Failure) -> Bool {
    func drop() {
      for table in [TextIndex.foundTerms, TextIndex.wantedTerms, TextIndex.wanted] {
        try? connection.execute("DROP TABLE IF EXISTS \(table)")
      }
    }
    drop()
    defer { drop() }
    return try connection.snapshot { () throws(Failure) in
      try connection.execute(TextIndex.virtualTable(TextIndex.wanted))
      try connection.execute(
        """
        INSERT INTO \(TextIndex.wanted) (rowid, text)
        SELECT Z_PK, \(TextIndexFunction.name)(\(column)) FROM \(table)
        WHERE typeof(\(column)) = 'text' AND Z_PK NOT IN (SELECT Z_PK FROM \(pending)) ORDER BY Z_PK
        """)
      try connection.execute(
        """
        CREATE VIRTUAL TABLE \(TextIndex.wantedTerms) USING fts5vocab(temp, QUIRE_TEXT_CHECK, instance);
        CREATE VIRTUAL TABLE \(TextIndex.foundTerms) USING fts5vocab(main, \(name), instance)
        """)
      // Each term with its rows, both in the order that they have in an index.
      let wanted = try connection.statement("SELECT term, doc FROM \(TextIndex.wantedTerms)")
      let found = try connection.statement("SELECT term, doc FROM \(TextIndex.foundTerms)")
      var isFound = try found.step()
      while try wanted.step() {
        while isFound, TextIndex.order(found, wanted) < 0 { isFound = try found.step() }
        if !isFound || TextIndex.order(found, wanted) > 0 { return false }
      }
      return true
    }
  }

  private static func order(_ left: Statement, _ right: Statement) -> Int {
    guard let leftTerm = left.cell(at: 0), let rightTerm = right.cell(at: 0) else { return 0 }
    let leftBytes = SQLValue.data(leftTerm), rightBytes = SQLValue.data(rightTerm)
    if let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress {
      let order = memcmp(leftStart, rightStart, min(leftBytes.count, rightBytes.count))
      if order != 0 { return Int(order) }
    }
    if leftBytes.count != rightBytes.count { return leftBytes.count - rightBytes.count }
    let leftKey = left.integer(at: 1), rightKey = right.integer(at: 1)
    return leftKey < rightKey ? -1 : leftKey > rightKey ? 1 : 0
  }
}
