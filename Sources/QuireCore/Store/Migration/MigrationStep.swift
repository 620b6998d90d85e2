/// One thing that a migration does to a file, or one that changes by what other steps do.
struct MigrationStep: Sendable {
  /// Mirrors `quire_migration_step_kind`.
  enum Kind: UInt32, Sendable {
    case addEntity = 1
    case removeEntity = 2
    case renameEntity = 3
    case changeEntity = 4
    case addProperty = 5
    case removeProperty = 6
    case renameProperty = 7
    case changeProperty = 8
    case changeTable = 9
    case changeIndex = 10
    case changeBookkeeping = 11
  }

  /// What is run for it.
  enum Work: Sendable {
    /// The statements of other steps do it.
    case none
    case statements([String])
    case metadata
    case modelCache
    /// A trigger or an index of another program, which may name what is gone.
    case restore(SchemaObject)
  }

  /// The stage that it is of, from 0.
  var stage = 0
  let kind: Kind
  /// Of the target, or of the source for what is removed; empty for none.
  let entity: Text
  let property: Text
  let sentence: Text
  let work: Work
  /// The statements, each ended by a semicolon; empty where there are none. Callers are lent it.
  let sql: Text

  init(_ kind: Kind, of entity: String = "", property: String = "", _ sentence: String, _ work: Work = .none) {
    self.kind = kind
    self.entity = Text(entity)
    self.property = Text(property)
    self.sentence = Text(sentence)
    self.work = work
    sql = Text(work.statements.map { "\($0);" }.joined(separator: "\n"))
  }
}

extension MigrationStep.Work {
  /// A question mark stands for what is bound.
  fileprivate var statements: [String] {
    switch self {
    case .none: []
    case .statements(let statements): statements
    case .metadata: ["UPDATE Z_METADATA SET Z_PLIST = ?"]
    case .modelCache: ["DELETE FROM Z_MODELCACHE", "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)"]
    case .restore(let object): [object.sql]
    }
  }
}

/// A row of `sqlite_master` that a statement has made.
struct SchemaObject: Sendable {
  enum Kind: String, Sendable { case table, index, trigger, view }
  let kind: Kind
  let name: String
  let table: String
  let sql: String
  /// Whether it has to do with the derived attributes of Quire.
  let namesDerivations: Bool

  /// A virtual table.
  var isVirtual: Bool { kind == .table && Names.upper(String(sql.prefix(14))) == "CREATE VIRTUAL" }
  var drop: String { "DROP \(Names.upper(kind.rawValue)) \(SQLLiteral.name(name))" }
}

extension Connection {
  /// What is in the schema, without what SQLite makes by itself.
  func schemaObjects() throws(Failure) -> [SchemaObject] {
    let select = try statement(
      "SELECT type, name, tbl_name, sql, instr(sql, '\(DerivedAttributes.directory)') FROM sqlite_master "
        + "WHERE sql IS NOT NULL")
    var objects: [SchemaObject] = []
    while try select.step() {
      guard let kind = select.text(at: 0).flatMap({ SchemaObject.Kind(rawValue: $0.string) }),
        let name = select.text(at: 1), let table = select.text(at: 2), let sql = select.text(at: 3)
      else { continue }
      objects.append(
        SchemaObject(
          kind: kind, name: name.string, table: table.string, sql: sql.string,
          namesDerivations: select.integer(at: 4) > 0))
    }
    return objects
  }

  /// The columns of a table as they were declared. Those that are calculated have no type here.
  func declaredColumns(of table: String) throws(Failure) -> [(column: Schema.Column, isCalculated: Bool)] {
    let select = try statement("PRAGMA table_xinfo(\(SQLLiteral.name(table)))", isKept: false)
    var columns: [(Schema.Column, Bool)] = []
    while try select.step() {
      guard let name = select.text(at: 1)?.string, let type = select.text(at: 2)?.string else { continue }
      columns.append((Schema.Column(name: name, sqlType: type), select.integer(at: 6) != 0))
    }
    return columns
  }
}
