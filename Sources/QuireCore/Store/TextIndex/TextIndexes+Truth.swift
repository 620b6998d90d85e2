extension TextIndexes {
  /// What was found out or built since may have been taken back.
  func forgetChecks() {
    lock.withLock {
      checkedSchema = nil
      for index in all {
        index.isVerified = false
        index.statistics = nil
      }
    }
  }

  /// Finds out which indexes can be trusted, if the schema changed since that was last asked.
  func check(on connection: Connection) throws(Failure) {
    let schema = try connection.schemaNumber()
    if schema == checkedSchema { return }
    try read(isOpening: !isOpened, on: connection)
    isOpened = true
    checkedSchema = schema
  }

  /// While a store is open, a change of the schema is taken for what it mostly is, such as one more index.
  func read(isOpening: Bool, on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    let schema = try connection.schemaNumber()
    var found: [String: String] = [:]
    let select = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE name LIKE 'QUIRE\\_TEXT%' ESCAPE '\\'")
    while try select.step() {
      if let name = select.text(at: 0)?.string { found[name] = select.text(at: 1)?.string }
    }
    var current: Set<String> = []
    if found[TextIndexes.directory] == TextIndexes.directorySQL {
      do throws(Failure) {
        let select = try connection.statement(
          "SELECT Z_NAME FROM \(TextIndexes.directory) WHERE Z_FOLDING = ? AND (Z_SCHEMA = ? OR ?)")
        try select.bind(Text(TextIndexes.folding), at: 1)
        try select.bind(schema, at: 2)
        try select.bind(isOpening ? 0 : 1, at: 3)
        while try select.step() {
          if let name = select.text(at: 0)?.string { current.insert(name) }
        }
      } catch {
        if !error.mayBeDamage { throw error }
        current = []
      }
    }
    for index in all {
      let isWhole = index.statements.allSatisfy { found[$0.name] == $0.sql }
      let isUsable = hasModule && isWhole && current.contains(index.name) && (isOpening || index.isUsable)
      index.isVerified = false
      if isUsable { index.isUsable = true } else { index.setAside() }
    }
  }

  // MARK: What is in the tables

  /// Looks whether an index is what was written last, and sets it aside when it is not.
  func verify(_ index: TextIndex, on connection: Connection) throws(Failure) -> Bool {
    do throws(Failure) {
      index.isVerified = try connection.snapshot { () throws(Failure) in
        let (sums, last) = try noted(index, on: connection)
        guard let sums, sums == (try TextIndexSums(of: index, on: connection)) else { return false }
        index.wasSmall = try index.isSmall(on: connection)
        return try index.pendingIsWhole(since: last, on: connection)
      }
    } catch {
      if !error.mayBeDamage { throw error }
      index.isVerified = false
    }
    if !index.isVerified { index.setAside() }
    return index.isVerified
  }

  /// The notes about an index from its last write: its sums, and the last key that the table had.
  func noted(_ index: TextIndex, on connection: Connection) throws(Failure) -> (sums: TextIndexSums?, last: Int64) {
    let select = try connection.statement("SELECT Z_SUMS, Z_LAST FROM \(TextIndexes.directory) WHERE Z_NAME = ?")
    try select.bind(Text(index.name), at: 1)
    guard try select.step() else { return (nil, 0) }
    return (TextIndexSums(select.data(at: 0)), select.integer(at: 1))
  }

  func note(_ sums: TextIndexSums, of index: TextIndex, on connection: Connection) throws(Failure) {
    let update = try connection.statement(
      "UPDATE \(TextIndexes.directory) SET Z_SUMS = ?, Z_LAST = (SELECT max(Z_PK) FROM \(index.table)) "
        + "WHERE Z_NAME = ?")
    try update.bind(sums.bytes, at: 1)
    try update.bind(Text(index.name), at: 2)
    try update.run()
  }
}

extension TextIndex {
  /// Is not used from now on, until it was made anew.
  func setAside() {
    isUsable = false
    isVerified = false
    isDamaged = true
    statistics = nil
  }

  func isSmall(on connection: Connection) throws(Failure) -> Bool {
    do throws(Failure) {
      let statement = try connection.statement("SELECT count(*) FROM (SELECT 1 FROM \(name)_data LIMIT ?)")
      try statement.bind(Int64(TextIndexes.fewBlocks + 1), at: 1)
      return try statement.step() && statement.integer(at: 0) <= Int64(TextIndexes.fewBlocks)
    } catch {
      // Verifying finds out in no time.
      if error.mayBeDamage { return true }
      throw error
    }
  }

  /// Whether all rows seem to be there that were noted as written. Some of those behind the last that the table had
  /// when the index was written to are looked for.
  fileprivate func pendingIsWhole(since last: Int64, on connection: Connection) throws(Failure) -> Bool {
    let select = try connection.statement("SELECT 1 FROM \(pending) WHERE Z_PK = \(TextIndex.watchman)")
    guard try select.step() else { return false }
    let missing = try connection.statement(
      """
      SELECT 1 FROM (SELECT Z_PK, \(column) FROM \(table) WHERE Z_PK > ? ORDER BY Z_PK LIMIT 4096)
      WHERE typeof(\(column)) = 'text' AND Z_PK NOT IN (SELECT Z_PK FROM \(pending)) LIMIT 1
      """)
    try missing.bind(last, at: 1)
    return try !missing.step()
  }

  /// Drops its triggers when what they write to is not as they need it, which fails every statement that fires them.
  func silence(on connection: Connection) throws(Failure) {
    let select = try connection.statement("SELECT sql FROM sqlite_master WHERE name = ?")
    try select.bind(Text(pending), at: 1)
    if try select.step(), let sql = select.text(at: 0)?.string, statements.contains(where: { $0.sql == sql }) { return }
    select.reset()
    for (name, _) in triggers { try connection.execute("DROP TRIGGER IF EXISTS \(name)") }
  }
}
