import CSQLite

/// The text indexes that a model asks for, and what the file has of them.
final class TextIndexes: @unchecked Sendable {
  let all: [TextIndex]
  private let byAttribute: [ObjectIdentifier: TextIndex]
  /// Set once, when the store is made; the store holds this.
  weak var store: Store?
  // Guarded by the store's lock.
  /// SQLite's number of the schema when the file was last looked at.
  private var checkedSchema: Int64?
  private var isOpened = false
  /// Whether this SQLite has FTS5.
  private var hasModule = false

  /// The folding of texts that are in the file; it changes with Unicode, and with our way of using it.
  private static let folding = "1 \(TextFolder.unicodeVersion)"
  private static let directory = "QUIRE_TEXT"
  /// From so many rows on, what is pending goes into the index with the next save. Below that, looking at each of them
  /// costs a query less than the save.
  static let mostPending = 256
  /// From so many rows on, a query does not wait for a save: another program has written them.
  private static let tooManyPending = 4096

  /// `column` is nil for an attribute without a column.
  init(_ model: Model, table: (Entity) -> String, column: (Attribute) -> String?) {
    var all: [TextIndex] = []
    var byAttribute: [ObjectIdentifier: TextIndex] = [:]
    var taken: Set<String> = []
    for entity in model.numberedEntities {
      for attribute in entity.ownAttributes where attribute.isSearchable {
        guard let column = column(attribute) else { continue }
        let index = TextIndex(
          attribute, table: table(entity), column: column,
          name: TextIndexes.freeName("\(TextIndexes.directory)_\(table(entity))_\(column)", &taken))
        all.append(index)
        byAttribute[ObjectIdentifier(attribute)] = index
      }
    }
    self.all = all
    self.byAttribute = byAttribute
  }

  /// Names of several attributes, or of tables that FTS5 makes, can meet; the later one gets a number.
  private static func freeName(_ wanted: String, _ taken: inout Set<String>) -> String {
    let endings = ["", "_PENDING", "_INSERT", "_UPDATE", "_DELETE", "_DATA", "_IDX", "_CONTENT", "_DOCSIZE", "_CONFIG"]
    var name = wanted, number = 0
    while endings.contains(where: { taken.contains(name + $0) }) {
      number += 1
      name = "\(wanted)_\(number)"
    }
    for ending in endings { taken.insert(name + ending) }
    return name
  }

  /// `key` is the SQL of the row's primary key; nil when the attribute is not searchable.
  func column(of attribute: Attribute, key: String) -> TextIndexColumn? {
    byAttribute[ObjectIdentifier(attribute)].map { TextIndexColumn(index: $0, indexes: self, key: key) }
  }

  // MARK: Queries

  /// nil when the index cannot be asked, or is not worth it.
  func choose(from trigrams: [Trigram], of index: TextIndex) -> [Trigram]? {
    guard let store else { return nil }
    do throws(Failure) {
      let chosen = try store.withConnection { connection throws(Failure) -> [Trigram] in
        try check(on: connection)
        guard index.isUsable else { return [] }
        try mendForQuery(index, on: connection)
        if index.statistics == nil { index.statistics = try TrigramStatistics(index, on: connection) }
        return index.statistics?.choose(from: trigrams) ?? []
      }
      return chosen.isEmpty ? nil : chosen
    } catch {
      // An index never decides what is found, so what goes wrong here goes wrong again, and is said, where it matters.
      return nil
    }
  }

  private func mendForQuery(_ index: TextIndex, on connection: Connection) throws(Failure) {
    guard !connection.isReadOnly, !connection.isInTransaction,
      try index.pendingCount(upTo: TextIndexes.tooManyPending, on: connection) == TextIndexes.tooManyPending
    else { return }
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try connection.transaction { () throws(Failure) in try mend(index, on: connection) }
      }
    } catch {
      // Another program is writing; the rows stay candidates.
      if error.kind != .busy { throw error }
    }
  }

  // MARK: Saves

  /// To be called at the end of a transaction that may have written to searchable attributes.
  func mend(on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    try check(on: connection)
    for index in all where index.isUsable {
      if try index.pendingCount(upTo: TextIndexes.mostPending, on: connection) == TextIndexes.mostPending {
        try mend(index, on: connection)
      }
    }
  }

  private func mend(_ index: TextIndex, on connection: Connection) throws(Failure) {
    do throws(Failure) {
      try index.mend(on: connection)
    } catch {
      guard error.databaseCode & 0xFF == SQLITE_CORRUPT else { throw error }
      // It can be made again from the texts, unlike these.
      try build([index], on: connection, since: try schemaNumber(on: connection))
    }
  }

  // MARK: Opening

  /// Makes the file have the indexes that the model asks for and no others, as far as it can be written now.
  func prepare(on connection: Connection) throws(Failure) {
    hasModule = try connection.statement("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").step()
    if connection.isReadOnly { return }
    try requireModule()
    if try !needsWork(on: connection) { return }
    do throws(Failure) {
      try connection.transaction { () throws(Failure) in try work(on: connection) }
    } catch {
      // Without the indexes everything is as it is with them, but slower.
      if error.kind != .busy { throw error }
    }
    checkedSchema = nil
  }

  private func needsWork(on connection: Connection) throws(Failure) -> Bool {
    try read(isOpening: true, on: connection)
    for index in all {
      if !index.isUsable { return true }
      let limit = TextIndexes.mostPending
      if try index.pendingCount(upTo: limit, on: connection) == limit { return true }
    }
    return try !superfluous(on: connection).isEmpty
  }

  private func work(on connection: Connection) throws(Failure) {
    // Another process may have done it meanwhile.
    try read(isOpening: true, on: connection)
    let schema = try schemaNumber(on: connection)
    for sql in try superfluous(on: connection) { try connection.execute(sql) }
    let missing = all.filter { !$0.isUsable }
    try build(missing, on: connection, since: schema)
    try mend(on: connection)
  }

  private func requireModule() throws(Failure) {
    guard let index = all.first else { return }
    if hasModule, sqlite3_libversion_number() >= 3_034_000 { return }
    throw Failure(
      .unsupported,
      "Attribute '\(index.attribute.qualifiedName)' is searchable, which needs SQLite 3.34 or later with FTS5; this is "
        + "SQLite \(String(cString: sqlite3_libversion()))\(hasModule ? "" : " without FTS5"). "
        + "Use another SQLite, or a model without searchable attributes.", about: .property(index.attribute))
  }

  /// Notes the number of the schema with each index that was right at the number `schema`: whoever changes the schema
  /// other than here may replace the table of the entity without firing a trigger.
  private func build(_ indexes: [TextIndex], on connection: Connection, since schema: Int64) throws(Failure) {
    if all.isEmpty { return }
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(TextIndexes.directory) "
        + "(Z_NAME VARCHAR PRIMARY KEY, Z_FOLDING VARCHAR, Z_SCHEMA INTEGER)")
    let insert = try connection.statement(
      "INSERT OR REPLACE INTO \(TextIndexes.directory) (Z_NAME, Z_FOLDING, Z_SCHEMA) VALUES (?, ?, ?)")
    for index in indexes {
      try index.build(on: connection)
      try insert.bind(Text(index.name), at: 1)
      try insert.bind(Text(TextIndexes.folding), at: 2)
      try insert.bind(schema, at: 3)
      try insert.run()
      index.isUsable = true
    }
    let update = try connection.statement("UPDATE \(TextIndexes.directory) SET Z_SCHEMA = ? WHERE Z_SCHEMA = ?")
    try update.bind(try schemaNumber(on: connection), at: 1)
    try update.bind(schema, at: 2)
    try update.run()
    checkedSchema = nil
  }

  /// Statements that remove what the model does not ask for.
  private func superfluous(on connection: Connection) throws(Failure) -> [String] {
    var wanted = Set(all.flatMap(\.statements).map(\.name))
    if !all.isEmpty { wanted.insert(TextIndexes.directory) }
    var statements: [String] = []
    let select = try connection.statement(
      """
      SELECT type, name FROM sqlite_master
      WHERE name = '\(TextIndexes.directory)' OR name LIKE 'QUIRE\\_TEXT\\_%' ESCAPE '\\'
      AND (type = 'trigger' OR sql LIKE 'CREATE VIRTUAL TABLE %' OR name LIKE '%\\_PENDING' ESCAPE '\\')
      ORDER BY type = 'trigger' DESC
      """)
    while try select.step() {
      guard let type = select.text(at: 0)?.string, let name = select.text(at: 1)?.string, !wanted.contains(name)
      else { continue }
      statements.append("DROP \(type) IF EXISTS \"\(name)\"")
    }
    // Only the module can drop its tables. Without the triggers they are known to be stale.
    return hasModule ? statements : statements.filter { $0.hasPrefix("DROP trigger") }
  }

  // MARK: Truth

  /// What was found out or built since may have been taken back.
  func forgetChecks() {
    checkedSchema = nil
    for index in all { index.statistics = nil }
  }

  private func schemaNumber(on connection: Connection) throws(Failure) -> Int64 {
    let statement = try connection.statement("PRAGMA schema_version")
    return try statement.step() ? statement.integer(at: 0) : 0
  }

  /// Finds out which indexes can be trusted, if the schema changed since that was last asked.
  private func check(on connection: Connection) throws(Failure) {
    let schema = try schemaNumber(on: connection)
    if schema == checkedSchema { return }
    try read(isOpening: !isOpened, on: connection)
    isOpened = true
    checkedSchema = schema
  }

  /// While a store is open, a change of the schema is taken for what it mostly is, such as one more index.
  private func read(isOpening: Bool, on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    let schema = try schemaNumber(on: connection)
    var found: [String: String] = [:]
    let select = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE name LIKE 'QUIRE\\_TEXT%' ESCAPE '\\'")
    while try select.step() {
      if let name = select.text(at: 0)?.string { found[name] = select.text(at: 1)?.string }
    }
    var current: Set<String> = []
    if found[TextIndexes.directory] != nil {
      let select = try connection.statement(
        "SELECT Z_NAME FROM \(TextIndexes.directory) WHERE Z_FOLDING = ? AND (Z_SCHEMA = ? OR ?)")
      try select.bind(Text(TextIndexes.folding), at: 1)
      try select.bind(schema, at: 2)
      try select.bind(isOpening ? 0 : 1, at: 3)
      while try select.step() {
        if let name = select.text(at: 0)?.string { current.insert(name) }
      }
    }
    for index in all {
      let isWhole = index.statements.allSatisfy { found[$0.name] == $0.sql }
      index.isUsable = hasModule && isWhole && current.contains(index.name) && (isOpening || index.isUsable)
      if !index.isUsable { index.statistics = nil }
    }
  }
}
