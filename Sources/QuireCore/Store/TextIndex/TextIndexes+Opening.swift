extension TextIndexes {
  /// Makes the file have the indexes that the model asks for and no others, as far as it can be written now.
  func prepare(on connection: Connection, with catalog: Catalog) throws(Failure) {
    if all.isEmpty, !catalog.mayHavePartsOfQuire { return }
    hasModule = try connection.statement("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").step()
    if connection.isReadOnly { return }
    try requireModule()
    if try !needsWork(on: connection) { return }
    do throws(Failure) {
      try removing(on: connection) { removal throws(Failure) in try work(by: removal, on: connection) }
    } catch {
      // Without the indexes everything is as it is with them, but slower.
      let isDamage = error.mayBeDamage && error.databaseCode != 0
      if error.kind != .busy, !isDamage { throw error }
      for index in all where index.isDamaged {
        index.setAside()
        index.isBeyondRepair = isDamage
      }
    }
    checkedSchema = nil
  }

  private func needsWork(on connection: Connection) throws(Failure) -> Bool {
    try read(isOpening: true, on: connection)
    for index in all {
      if try !seemsTrue(index, on: connection) { return true }
      let limit = TextIndexes.mostPending
      if try index.pendingCount(upTo: limit, on: connection) == limit { return true }
    }
    return try !superfluous(on: connection).isEmpty
  }

  /// To verify a large index takes a while, so that is left to its first use.
  private func seemsTrue(_ index: TextIndex, on connection: Connection) throws(Failure) -> Bool {
    if !index.isUsable { return false }
    return try index.isSmall(on: connection) ? verify(index, on: connection) : true
  }

  /// Runs a transaction that removes tables: by dropping them, and if that fails for damage, without.
  func removing(
    on connection: Connection, _ body: (TextIndex.Removal) throws(Failure) -> Void
  ) throws(Failure) {
    do throws(Failure) {
      try connection.transactionWithoutRows { () throws(Failure) in try body(.dropping) }
    } catch {
      if !error.mayBeDamage || error.databaseCode == 0 { throw error }
      try connection.transactionWithoutRows { () throws(Failure) in try body(.forgetting) }
    }
  }

  private func work(by removal: TextIndex.Removal, on connection: Connection) throws(Failure) {
    // Another process may have done it meanwhile.
    try read(isOpening: true, on: connection)
    let schema = try connection.schemaNumber()
    try TextIndex.remove(try superfluous(on: connection), by: removal, on: connection)
    var damaged: [TextIndex] = []
    for index in all {
      // What was found to be damaged is not read again: a damaged page fails the transaction that reads it.
      if removal == .forgetting, index.isDamaged {
        damaged.append(index)
      } else if try !seemsTrue(index, on: connection) {
        damaged.append(index)
      }
    }
    try build(damaged, by: removal, on: connection, since: schema)
    for index in all where index.isUsable {
      let limit = TextIndexes.mostPending
      if try index.pendingCount(upTo: limit, on: connection) == limit { try mend(index, on: connection) }
    }
  }

  private func requireModule() throws(Failure) {
    guard let index = all.first else { return }
    let version = Connection.version
    if hasModule, version.number >= 3_034_000 { return }
    throw Failure(
      .unsupported,
      "Attribute '\(index.attribute.qualifiedName)' is searchable, which needs SQLite 3.34 or later with FTS5; this is "
        + "SQLite \(version.text)\(hasModule ? "" : " without FTS5"). "
        + "Use another SQLite, or a model without searchable attributes.", about: .property(index.attribute))
  }

  /// Notes the number of the schema with each index that was right at the number `schema`. Another program that changes
  /// the schema may replace the table of the entity without firing a trigger.
  func build(
    _ indexes: [TextIndex], by removal: TextIndex.Removal, on connection: Connection, since schema: Int64
  ) throws(Failure) {
    if all.isEmpty { return }
    try makeDirectory(by: removal, on: connection)
    for index in indexes {
      try index.build(by: removal, on: connection)
      // Whatever FTS5 still has in memory goes into the file.
      _ = try connection.segmentsWritten(of: index) { () throws(Failure) in }
      let insert = try connection.statement(
        "INSERT OR REPLACE INTO \(TextIndexes.directory) (Z_NAME, Z_FOLDING, Z_SCHEMA) VALUES (?, ?, ?)")
      try insert.bind(Text(index.name), at: 1)
      try insert.bind(Text(TextIndexes.folding), at: 2)
      try insert.bind(schema, at: 3)
      try insert.run()
      try note(try TextIndexSums(of: index, on: connection), of: index, on: connection)
      index.isUsable = true
      index.firstCommit = connection.commits.map { $0.newest + 1 } ?? 0
      index.isVerified = true
      index.wasSmall = try index.isSmall(on: connection)
      index.isDamaged = false
    }
    let update = try connection.statement("UPDATE \(TextIndexes.directory) SET Z_SCHEMA = ? WHERE Z_SCHEMA = ?")
    try update.bind(try connection.schemaNumber(), at: 1)
    try update.bind(schema, at: 2)
    try update.run()
    checkedSchema = nil
  }

  /// A table that cannot be read says nothing of the indexes, which are then made anew at the next opening.
  private func makeDirectory(by removal: TextIndex.Removal, on connection: Connection) throws(Failure) {
    let select = try connection.statement("SELECT sql FROM sqlite_master WHERE name = ?")
    try select.bind(Text(TextIndexes.directory), at: 1)
    let isThere = try select.step() && select.text(at: 0)?.string == TextIndexes.directorySQL
    select.reset()
    if isThere, removal == .dropping {
      do throws(Failure) {
        // Reads and writes each row.
        return try connection.savepoint { () throws(Failure) in
          try connection.execute("UPDATE \(TextIndexes.directory) SET Z_SCHEMA = Z_SCHEMA")
        }
      } catch {
        if !error.mayBeDamage || !connection.hasTransaction { throw error }
      }
    }
    try TextIndex.remove([TextIndexes.directory], by: removal, on: connection)
    try connection.execute(TextIndexes.directorySQL)
  }

  /// Names of what the model does not ask for.
  private func superfluous(on connection: Connection) throws(Failure) -> [String] {
    var wanted = Set(all.flatMap(\.names))
    if !all.isEmpty { wanted.insert(TextIndexes.directory) }
    var names: [String] = []
    let select = try connection.statement(
      """
      SELECT type, name, sql FROM sqlite_master
      WHERE type IN ('table', 'trigger')
      AND (name = '\(TextIndexes.directory)' OR name LIKE 'QUIRE\\_TEXT\\_%' ESCAPE '\\')
      """)
    while try select.step() {
      guard let type = select.text(at: 0)?.string, let name = select.text(at: 1)?.string, !wanted.contains(name)
      else { continue }
      // Without FTS5 its tables are not known to be its. Without the triggers they are known to be stale.
      if type == "trigger" || hasModule { names.append(name) }
    }
    return names
  }
}
