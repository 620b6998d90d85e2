/// The tables of Core Data's persistent history, as a file has them (docs/file-format.md, History).
struct HistoryTables: Sendable {
  /// An entity of the history, with its number in Z_PRIMARYKEY.
  enum Kind: Int64, CaseIterable {
    case change = 16001
    case transaction = 16002
    case string = 16003

    /// In Z_PRIMARYKEY.
    var name: String {
      switch self {
      case .change: "CHANGE"
      case .transaction: "TRANSACTION"
      case .string: "TRANSACTIONSTRING"
      }
    }

    var table: String { "A\(name)" }
  }

  /// A text of a transaction.
  enum Label: CaseIterable {
    case author, bundleID, contextName, processID

    /// The column that had the text itself, before there was a table of texts.
    var column: String {
      switch self {
      case .author: "ZAUTHOR"
      case .bundleID: "ZBUNDLEID"
      case .contextName: "ZCONTEXTNAME"
      case .processID: "ZPROCESSID"
      }
    }

    /// The column that has the key of the text.
    var keyColumn: String { column + "TS" }
  }

  /// Whether texts of transactions have a table of their own. Files of the first systems with a history do without.
  let hasStrings: Bool
  /// How many columns hold values of deleted rows.
  let tombstoneCount: Int
  /// The columns of ATRANSACTION.
  private let transactionColumns: Set<String>

  /// Fails for tables in a form that is not known.
  init(on connection: Connection, changes: Set<String>, transactions: Set<String>, strings: Set<String>) throws(Failure)
  {
    func check(_ table: Kind, _ found: Set<String>, _ needed: [String]) throws(Failure) {
      guard let missing = needed.first(where: { !found.contains($0) }) else { return }
      throw Failure(
        .unsupported,
        "The history of the store '\(connection.path)' has a form that this version does not know: its table "
          + "\(table.table) has no column \(missing). Open the store for reading only.")
    }
    try check(
      .change, changes, ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"])
    try check(.transaction, transactions, ["Z_PK", "Z_ENT", "ZTIMESTAMP"])
    hasStrings = Label.allCases.allSatisfy { transactions.contains($0.keyColumn) }
    if hasStrings {
      try check(.string, strings, ["Z_PK", "Z_ENT", "ZNAME"])
    } else {
      try check(.transaction, transactions, Label.allCases.map(\.column))
    }
    tombstoneCount = (0...).first { !changes.contains(HistoryTables.tombstone($0)) } ?? 0
    transactionColumns = transactions
  }

  /// What the file has now; nil where it keeps no history.
  static func read(on connection: Connection) throws(Failure) -> HistoryTables? {
    func columns(_ table: Kind) throws(Failure) -> Set<String> {
      let select = try connection.statement("SELECT name FROM pragma_table_info('\(table.table)')")
      var names: Set<String> = []
      while try select.step() {
        if let name = select.text(at: 0) { names.insert(name.string) }
      }
      return names
    }
    let changes = try columns(.change), transactions = try columns(.transaction)
    if changes.isEmpty && transactions.isEmpty { return nil }
    return try HistoryTables(on: connection, changes: changes, transactions: transactions, strings: columns(.string))
  }

  static func tombstone(_ place: Int) -> String { "ZTOMBSTONE\(place)" }

  /// The attributes whose last values a deletion leaves, in the order of their columns.
  static func preservedAttributes(of entity: Entity) -> [Attribute] {
    entity.attributes.filter { $0.traits.preservesAfterDeletion && !$0.isTransient }.sorted { $0.name < $1.name }
  }

  /// How many columns the deletions of a model need.
  static func tombstoneCount(of model: Model) -> Int {
    model.numberedEntities.map { preservedAttributes(of: $0).count }.max() ?? 0
  }

  // MARK: SQL

  /// Makes the tables in a file that has none.
  static func create(for model: Model, on connection: Connection) throws(Failure) {
    let tombstones = (0..<tombstoneCount(of: model)).map { ", \(tombstone($0)) BLOB" }.joined()
    let labels = Label.allCases
    let statements =
      [
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
          + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones) )",
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + labels.map { "\($0.keyColumn) INTEGER, " }.joined() + "ZTIMESTAMP FLOAT, "
          + labels.map { "\($0.column) VARCHAR, " }.joined() + "ZQUERYGEN BLOB )",
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
      ]
      + labels.map { "CREATE INDEX ATRANSACTION_\($0.keyColumn)_INDEX ON ATRANSACTION (\($0.keyColumn))" } + [
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
      ]
    for statement in statements { try connection.execute(statement) }
    for kind in Kind.allCases { try setLast(0, of: kind, on: connection) }
  }

  /// Adds columns for the values that deletions of a model leave, where the file has too few.
  func addTombstones(for model: Model, on connection: Connection) throws(Failure) {
    for place in tombstoneCount..<max(tombstoneCount, HistoryTables.tombstoneCount(of: model)) {
      try connection.execute("ALTER TABLE ACHANGE ADD COLUMN \(HistoryTables.tombstone(place)) BLOB")
    }
  }

  /// An expression for a text of a transaction of `t`.
  func text(_ label: Label) -> String {
    var parts: [String] = []
    if hasStrings { parts.append("(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.\(label.keyColumn))") }
    if transactionColumns.contains(label.column) { parts.append("t.\(label.column)") }
    return parts.count == 1 ? parts[0] : "ifnull(\(parts.joined(separator: ", ")))"
  }

  // MARK: Numbers

  /// The last number in use, of rows that are there or were.
  static func last(_ kind: Kind, on connection: Connection) throws(Failure) -> Int64 {
    let select = try connection.statement(
      "SELECT max(CAST(ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(kind.rawValue)), 0) AS INTEGER), "
        + "ifnull((SELECT max(Z_PK) FROM \(kind.table)), 0))")
    return try select.step() ? select.integer(at: 0) : 0
  }

  /// Takes numbers, and returns the first of them.
  static func take(_ count: Int, of kind: Kind, on connection: Connection) throws(Failure) -> Int64 {
    let last = try last(kind, on: connection)
    let (newLast, overflow) = last.addingReportingOverflow(Int64(count))
    if overflow || newLast == .max {
      throw Failure(
        .database,
        "The table \(kind.table) of the store '\(connection.path)' has no numbers left: the last in use is \(last).")
    }
    try setLast(newLast, of: kind, on: connection)
    return last + 1
  }

  private static func setLast(_ last: Int64, of kind: Kind, on connection: Connection) throws(Failure) {
    let insert = try connection.statement(
      "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(kind.rawValue), '\(kind.name)', 0, ?1) "
        + "ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = ?1")
    try insert.bind(last, at: 1)
    try insert.run()
    if connection.changes == 0 {
      throw connection.ignoredFailure("Z_PRIMARYKEY", doing: "take numbers for \(kind.table)")
    }
  }
}
