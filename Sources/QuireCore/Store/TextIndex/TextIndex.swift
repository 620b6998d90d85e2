/// A trigram index of the text of one attribute, in tables of its own beside the table of the entity.
///
/// Each row of it is the search text of a row of the table. Plain SQL triggers, which any program runs, note the rows
/// that were written since. These rows are candidates whatever they hold, so the index is true without help from any
/// program.
final class TextIndex: @unchecked Sendable {
  let attribute: Attribute
  /// Of the entity.
  let table: String
  let column: String
  /// Of the virtual table.
  let name: String
  /// Key and indexed text, or NULL, of the rows that were written since, and `watchman`.
  let pending: String
  /// A key that is always among those that are pending, and no row has. Where it is missing, others may be.
  static let watchman = "-9223372036854775808"

  // Guarded by the lock of `TextIndexes`.
  /// The commit that has made it, where that was this store.
  var firstCommit: Int64 = 0
  /// Whether its tables and triggers are in the file, as they have to be.
  var isUsable = false
  /// Whether what is in them was found to be what was written there.
  var isVerified = false
  /// Whether that took no time.
  var wasSmall = false
  /// Whether it is to be made anew when that can be done.
  var isDamaged = false
  /// Whether what is pending is to go into it after the save under way.
  var isToBeMended = false
  /// Whether making it anew has failed.
  var isBeyondRepair = false
  var statistics: TrigramStatistics?

  init(_ attribute: Attribute, table: String, column: String, name: String) {
    self.attribute = attribute
    self.table = table
    self.column = column
    self.name = name
    pending = "\(name)_PENDING"
  }

  // MARK: The file

  /// What it is made of, by name, with the text that the file has of it.
  var statements: [(name: String, sql: String)] {
    [
      (name, TextIndex.virtualTable(name)),
      (pending, "CREATE TABLE \(pending) (Z_PK INTEGER PRIMARY KEY, \(column) VARCHAR)"),
    ] + triggers
  }

  /// A statement may impose its way with conflicts on the triggers it fires, so theirs have none: they look first.
  var triggers: [(name: String, sql: String)] {
    func note(_ row: String, indexed: String) -> String {
      "INSERT INTO \(pending) (Z_PK, \(column)) SELECT \(row).Z_PK, \(indexed) "
        + "WHERE NOT EXISTS (SELECT 1 FROM \(pending) WHERE Z_PK = \(row).Z_PK);"
    }
    func trigger(_ event: String, when condition: String, _ actions: String...) -> (name: String, sql: String) {
      let trigger = "\(name)_\(event)"
      return (
        trigger,
        "CREATE TRIGGER \(trigger) AFTER \(event) ON \(table) WHEN \(condition) BEGIN "
          + "\(actions.joined(separator: " ")) END"
      )
    }
    return [
      trigger("INSERT", when: "NEW.\(column) IS NOT NULL", note("NEW", indexed: "NULL")),
      // Not UPDATE OF: the key has other names, by which it may be changed.
      trigger(
        "UPDATE", when: "OLD.Z_PK <> NEW.Z_PK OR OLD.\(column) IS NOT NEW.\(column)",
        note("OLD", indexed: "OLD.\(column)"), note("NEW", indexed: "NULL")),
      trigger("DELETE", when: "OLD.\(column) IS NOT NULL", note("OLD", indexed: "OLD.\(column)")),
    ]
  }

  /// Neither the text nor the places in it are kept: what is found is looked at anyway.
  static func virtualTable(_ name: String) -> String {
    "CREATE VIRTUAL TABLE \(name) USING fts5(text, content='', columnsize=0, detail=none, "
      + "tokenize='trigram case_sensitive 1')"
  }

  /// Takes what is pending into the index, in a transaction.
  func mend(on connection: Connection) throws(Failure) {
    try connection.execute(
      """
      INSERT INTO \(name) (\(name), rowid, text)
      SELECT 'delete', Z_PK, \(TextIndexFunction.name)(\(column)) FROM \(pending)
      WHERE typeof(\(column)) = 'text' AND Z_PK <> \(TextIndex.watchman) ORDER BY Z_PK
      """)
    try connection.execute(
      """
      INSERT INTO \(name) (rowid, text)
      SELECT p.Z_PK, \(TextIndexFunction.name)(q.\(column)) FROM \(pending) p CROSS JOIN \(table) q ON q.Z_PK = p.Z_PK
      WHERE typeof(q.\(column)) = 'text' AND p.Z_PK <> \(TextIndex.watchman) ORDER BY p.Z_PK
      """)
    try connection.execute("DELETE FROM \(pending) WHERE Z_PK <> \(TextIndex.watchman)")
    statistics = nil
  }

  /// The names of all that it is made of.
  var names: [String] { statements.map(\.name) + TextIndex.withShadows(name) }

  /// Makes it anew, in a transaction.
  func build(by removal: Removal, on connection: Connection) throws(Failure) {
    try TextIndex.remove(names, by: removal, on: connection)
    for (_, sql) in statements { try connection.execute(sql) }
    try connection.execute("INSERT INTO \(pending) (Z_PK) VALUES (\(TextIndex.watchman))")
    // Of memory, for what a transaction adds; with FTS5's own 1 MB a third of the time goes into merging.
    try connection.execute("INSERT INTO \(name) (\(name), rank) VALUES ('hashsize', \(8 << 20))")
    try connection.execute(
      """
      INSERT INTO \(name) (rowid, text) SELECT Z_PK, \(TextIndexFunction.name)(\(column)) FROM \(table)
      WHERE typeof(\(column)) = 'text' ORDER BY Z_PK
      """)
    statistics = nil
  }

  /// How many rows are pending, counted no further than `limit`.
  func pendingCount(upTo limit: Int, on connection: Connection) throws(Failure) -> Int {
    let statement = try connection.statement(
      "SELECT count(*) FROM (SELECT 1 FROM \(pending) WHERE Z_PK > \(TextIndex.watchman) LIMIT ?)")
    try statement.bind(Int64(limit), at: 1)
    return try statement.step() ? Int(statement.integer(at: 0)) : 0
  }
}
