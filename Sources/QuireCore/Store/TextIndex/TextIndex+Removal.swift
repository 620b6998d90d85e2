extension TextIndex {
  /// The tables that FTS5 makes beside a virtual table.
  private static let shadows = ["_data", "_idx", "_content", "_docsize", "_config"]

  /// A name with those of what FTS5 makes beside it.
  static func withShadows(_ name: String) -> [String] { [name] + shadows.map { name + $0 } }

  /// How tables are removed.
  enum Removal {
    /// They are dropped. FTS5 cannot drop a table that it cannot open: what is left is taken out of the schema.
    case dropping
    /// All are taken out of the schema, and their pages lie idle until the file is vacuumed. A DROP that meets a
    /// damaged page would fail all that follows in its transaction.
    case forgetting
  }

  /// Removes tables and triggers, in a transaction and in whatever state they are.
  static func remove(_ names: [String], by removal: Removal, on connection: Connection) throws(Failure) {
    if removal == .dropping {
      for (type, name) in try existing(names, on: connection) {
        do throws(Failure) { try connection.execute("DROP \(type) IF EXISTS \(SQLLiteral.name(name))") } catch {
          if !error.mayBeDamage { throw error }
        }
      }
    }
    let stubborn = try existing(names, on: connection)
    if stubborn.isEmpty { return }
    try connection.execute("PRAGMA writable_schema = ON")
    var failure: Failure?
    do throws(Failure) {
      for (_, name) in stubborn {
        let delete = try connection.statement("DELETE FROM sqlite_master WHERE name = ?1 OR tbl_name = ?1")
        try delete.bind(Text(name), at: 1)
        try delete.run()
      }
    } catch { failure = error }
    // Makes SQLite read the schema again, too.
    try connection.execute("PRAGMA writable_schema = RESET")
    if let failure { throw failure }
    // Other connections look at the number of the schema to learn of a new one.
    let number = try connection.schemaNumber()
    try connection.execute("PRAGMA schema_version = \(Int32(truncatingIfNeeded: number &+ 1))")
  }

  /// Triggers first, because they name tables, then the virtual table, which takes its shadows along.
  private static func existing(
    _ names: [String], on connection: Connection
  ) throws(Failure) -> [(type: String, name: String)] {
    let wanted = Set(names)
    var found: [(type: String, name: String)] = []
    let select = try connection.statement(
      """
      SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger')
      ORDER BY type = 'trigger' DESC, sql LIKE 'CREATE VIRTUAL TABLE %' DESC
      """)
    while try select.step() {
      guard let type = select.text(at: 0)?.string, let name = select.text(at: 1)?.string, wanted.contains(name) else {
        continue
      }
      found.append((type, name))
    }
    return found
  }
}
