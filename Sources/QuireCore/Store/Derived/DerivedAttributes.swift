import Glibc

/// The derived attributes of an open store's model, and the state of their triggers in the file.
///
/// Any program may write: the triggers then write the values themselves. Where a value takes a function that SQLite
/// lacks, the triggers note the row in the pending table. The next opening or save of Quire goes through that table.
///
/// While a session of Quire writes, a flag in the file, which no other program ever sees, has the triggers note
/// everything. Each value is then calculated once, however many rows it is made of, and the session knows which have
/// changed.
final class DerivedAttributes: @unchecked Sendable {
  static let pending = "QUIRE_DERIVED_PENDING"
  static let directory = "QUIRE_DERIVED"
  /// SQL that holds while a session of Quire writes.
  static let isDeferring = "ifnull((SELECT Z_DEFERS FROM \(directory)), 0)"

  private static let tables = [
    (name: directory, sql: "CREATE TABLE \(directory) (Z_PK INTEGER PRIMARY KEY, Z_DEFERS INTEGER)"),
    (
      name: pending,
      sql: "CREATE TABLE \(pending) (Z_NAME VARCHAR, Z_PK INTEGER, PRIMARY KEY (Z_NAME, Z_PK)) WITHOUT ROWID"
    ),
  ]

  let all: [DerivedAttribute]
  private let byAttribute: [ObjectIdentifier: DerivedAttribute]
  // Guarded by the store's lock.
  /// SQLite's number of the schema when the triggers were last found to be there.
  private var checkedSchema: Int64?
  /// The moment of the session under way.
  private(set) var now = 0.0
  private var changes: [DerivedValue] = []

  /// Without those that another program's triggers keep up, or nothing does: see `keptByOthers`.
  init(schema: Schema, keptByOthers: Set<ObjectIdentifier> = []) throws(Failure) {
    var all: [DerivedAttribute] = []
    var byAttribute: [ObjectIdentifier: DerivedAttribute] = [:]
    var taken: Set<String> = []
    for entity in schema.model.numberedEntities {
      for attribute in entity.ownAttributes where !attribute.isTransient {
        guard let derivation = attribute.derivation, !keptByOthers.contains(ObjectIdentifier(attribute)) else {
          continue
        }
        try DerivedAttributes.check(attribute)
        let derived = try DerivedAttribute(attribute, derivation, schema: schema, &taken)
        all.append(derived)
        byAttribute[ObjectIdentifier(attribute)] = derived
      }
    }
    self.all = all
    self.byAttribute = byAttribute
  }

  /// Fails for what a model of a file derives and this version does not calculate.
  static func check(_ entity: Entity) throws(Failure) {
    for attribute in entity.ownAttributes where !attribute.isTransient { try check(attribute) }
  }

  private static func check(_ attribute: Attribute) throws(Failure) {
    if let problem = attribute.derivationProblem {
      throw Failure(.unsupported, problem.string, about: .property(attribute))
    }
  }

  subscript(property: Property) -> DerivedAttribute? { byAttribute[ObjectIdentifier(property)] }

  // MARK: Sessions

  /// At the start of a transaction that writes.
  func begin(on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    changes = []
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    now = Double(time.tv_sec) - Value.secondsFrom1970To2001 + (Double(time.tv_nsec) / 1_000_000).rounded(.down) / 1000
    if try connection.schemaNumber() != checkedSchema { try build(on: connection) }
    try setDeferring(true, on: connection)
  }

  /// What was found out or built since may have been taken back.
  func forgetChecks() { checkedSchema = nil }

  /// At its end. Returns the values that were calculated since the last call.
  func end(on connection: Connection) throws(Failure) -> [DerivedValue] {
    if all.isEmpty { return [] }
    let values = try settle(on: connection)
    try setDeferring(false, on: connection)
    return values
  }

  /// Calculates what is pending.
  func settle(on connection: Connection) throws(Failure) -> [DerivedValue] {
    if all.isEmpty { return [] }
    let select = try connection.statement("SELECT DISTINCT Z_NAME FROM \(DerivedAttributes.pending)")
    var names: Set<String> = []
    while try select.step() {
      if let name = select.text(at: 0) { names.insert(name.string) }
    }
    if !names.isEmpty {
      for derived in all where names.contains(derived.name) { try calculate(derived, on: connection) }
      try connection.execute("DELETE FROM \(DerivedAttributes.pending)")
    }
    defer { changes = [] }
    return changes
  }

  /// A row was inserted with a value that its object does not know.
  func note(_ value: DerivedValue) { changes.append(value) }

  private func calculate(_ derived: DerivedAttribute, on connection: Connection) throws(Failure) {
    let slot = derived.attribute.slot
    var found: [DerivedValue] = []
    do throws(Failure) {
      let select = try connection.statement(derived.pendingRows)
      try select.bind(Text(derived.name), at: 1)
      while try select.step() {
        let value: Value =
          derived.operation == .now
          ? .date(now) : derived.result(try select.value(at: 3, as: derived.sourceType))
        // What stands there may be nothing of its type, as another program may have left it.
        if let present = try? select.value(at: 2, as: derived.attribute.type), present.isIdentical(to: value) {
          continue
        }
        let row = RowIdentifier(id: select.integer(at: 0), entity: Int32(truncatingIfNeeded: select.integer(at: 1)))
        found.append(DerivedValue(row: row, slot: slot, value: value))
      }
    } catch {
      throw Failure(
        error.kind, "'\(derived.attribute.qualifiedName)' could not be derived: \(error.message)",
        about: .property(derived.attribute),
        databaseCode: error.databaseCode)
    }
    if found.isEmpty { return }
    let update = try connection.statement("UPDATE \(derived.table) SET \(derived.column) = ? WHERE Z_PK = ?")
    for change in found {
      try update.bind(change.value, at: 1)
      try update.bind(change.row.id, at: 2)
      try update.run()
    }
    changes += found
  }

  private func setDeferring(_ isDeferring: Bool, on connection: Connection) throws(Failure) {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO \(DerivedAttributes.directory) (Z_PK, Z_DEFERS) VALUES (1, ?)")
    try statement.bind(isDeferring ? 1 : 0, at: 1)
    try statement.run()
  }

  // MARK: The file

  /// Makes the file have the triggers that the model asks for and no others, as far as it can be written now.
  func prepare(on connection: Connection, with catalog: Catalog) throws(Failure) {
    if connection.isReadOnly || all.isEmpty && !catalog.mayHavePartsOfQuire { return }
    if try isWhole(on: connection) { return }
    do throws(Failure) {
      try connection.transaction { () throws(Failure) in
        try build(on: connection)
        if all.isEmpty { return }
        try begin(on: connection)
        _ = try end(on: connection)
      }
    } catch {
      // The first save does it.
      if error.kind != .busy { throw error }
    }
    checkedSchema = nil
  }

  private func isWhole(on connection: Connection) throws(Failure) -> Bool {
    let found = try statements(on: connection)
    if all.isEmpty { return found.isEmpty }
    let wanted = DerivedAttributes.tables + all.flatMap(\.triggers)
    if found.count != wanted.count || !wanted.allSatisfy({ found[$0.name] == $0.sql }) { return false }
    return try !connection.statement("SELECT 1 FROM \(DerivedAttributes.pending) LIMIT 1").step()
  }

  /// Everything in the file that belongs to derived attributes of Quire or bears the name of it.
  private func statements(on connection: Connection) throws(Failure) -> [String: String] {
    let select = try connection.statement(
      """
      SELECT name, sql FROM sqlite_master
      WHERE name IN ('\(DerivedAttributes.directory)', '\(DerivedAttributes.pending)')
      OR type = 'trigger' AND name LIKE 'Z\\_DA\\_%' ESCAPE '\\' AND instr(sql, '\(DerivedAttributes.directory)')
      """)
    var found: [String: String] = [:]
    while try select.step() {
      if let name = select.text(at: 0)?.string { found[name] = select.text(at: 1)?.string ?? "" }
    }
    return found
  }

  private func build(on connection: Connection) throws(Failure) {
    var found = try statements(on: connection)
    let wanted = Set(all.flatMap(\.triggers).map(\.name))
    for name in found.keys.sorted() where name.hasPrefix("Z_DA_") && !wanted.contains(name) {
      try connection.execute("DROP TRIGGER IF EXISTS \"\(name)\"")
    }
    for (name, sql) in DerivedAttributes.tables where all.isEmpty || found[name] != sql {
      try connection.execute("DROP TABLE IF EXISTS \(name)")
      if !all.isEmpty { try connection.execute(sql) }
      // What was pending there is not known any more.
      if name == DerivedAttributes.pending { found = [:] }
    }
    for derived in all where !derived.triggers.allSatisfy({ found[$0.name] == $0.sql }) {
      for (name, sql) in derived.triggers {
        try connection.execute("DROP TRIGGER IF EXISTS \(name)")
        try connection.execute(sql)
      }
      let statement = try connection.statement(derived.everyRow)
      try statement.bind(Text(derived.name), at: 1)
      try statement.run()
    }
    checkedSchema = try connection.schemaNumber()
  }
}
