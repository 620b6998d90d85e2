import Glibc

extension TextIndexes {
  /// Compares each index with the texts, and makes those anew that do not lead to every row: so many.
  func checkAll(on connection: Connection) throws(Failure) -> Int {
    try lock.withLock { () throws(Failure) in try checkEach(on: connection) }
  }

  private func checkEach(on connection: Connection) throws(Failure) -> Int {
    try check(on: connection)
    if !hasModule { return 0 }
    var damaged: [TextIndex] = []
    for index in all {
      if index.isUsable, try verify(index, on: connection), try index.leadsToEveryRow(on: connection) { continue }
      index.setAside()
      damaged.append(index)
    }
    if damaged.isEmpty || connection.isReadOnly { return damaged.count }
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
