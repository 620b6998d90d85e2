extension Schema {
  /// The bookkeeping tables, spelled as Core Data spells them.
  static let bookkeepingStatements = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  /// What a new file has of one thing beside its bookkeeping.
  struct Definition: Sendable {
    enum Kind: Sendable { case table, joinTable, index, rTree }
    let kind: Kind
    let name: String
    /// The table that it is, or that it is an index of.
    let table: String
    /// Those of an R-Tree are its declaration and its triggers.
    let statements: [String]
    /// What an R-Tree needs where the table has rows.
    var filling: String?

    var isIndex: Bool { kind == .index || kind == .rTree }
    /// What each statement makes.
    var names: [String] {
      kind == .rTree ? [name] + RTree.Event.allCases.map { "\(name)_\($0.rawValue)" } : [name]
    }
  }

  /// Everything that a new file needs, in an order that can be run: tables, their indexes, bookkeeping. Fails for an
  /// index that cannot be made.
  func statements() throws(Failure) -> [String] {
    try definitions().flatMap(\.statements) + Schema.bookkeepingStatements
  }

  /// Tables and their indexes, in an order in which they can be made.
  func definitions() throws(Failure) -> [Definition] {
    var definitions: [Definition] = [], indexes = IndexStatements(tables: tables, joins: joins)
    let incoming = Dictionary(
      grouping: model.numberedEntities.flatMap(\.ownRelationships).filter {
        $0.isToMany && $0.inverse == nil && !$0.isTransient
      }, by: { $0.destination.number })
    for table in tables {
      definitions.append(
        Definition(kind: .table, name: table.name, table: table.name, statements: [Schema.statement(table)]))
      let subtree = table.entity.number...table.entity.lastNumber
      for join in joins where subtree.contains(join.relationship.entity.number) {
        let name = join.table.name
        definitions.append(
          Definition(kind: .joinTable, name: name, table: name, statements: [Schema.statement(join.table)]))
        indexes.add(join.table)
      }
      for entity in table.entity.subtree {
        try addIndexes(of: entity, incoming[entity.number] ?? [], in: table, to: &indexes)
      }
    }
    return definitions + indexes.definitions
  }

  /// `others` are columns that another program has added to the table.
  static func statement(_ table: Table, with others: [Column] = []) -> String {
    let columns = (table.columns + others).map { "\($0.name) \($0.sqlType)" }.joined(separator: ", ")
    return "CREATE TABLE \(table.name) ( \(columns) )"
  }

  private static func statement(_ join: JoinTable) -> String {
    let keys = [join.ownerColumn, join.destinationColumn]
    // The naming side's own order column comes last.
    let orders = [join.inverseOrderColumn, join.orderColumn].compactMap { $0 }
    let columns = (keys + orders).map { "\($0) INTEGER" } + ["PRIMARY KEY (\(keys.joined(separator: ", ")))"]
    return "CREATE TABLE \(join.name) ( \(columns.joined(separator: ", ")) )"
  }

  /// `incoming` are the to-many relationships without inverse that lead to the entity, by the numbers of their owners.
  private func addIndexes(
    of entity: Entity, _ incoming: [Relationship], in table: Table, to indexes: inout IndexStatements
  ) throws(Failure) {
    if entity === table.entity, entity.hasChildren { indexes.addKey("Z_ENT", of: table.name) }
    for relationship in entity.ownRelationships.sorted(by: { $0.name < $1.name })
    where !relationship.isToMany && !relationship.isTransient {
      indexes.addKey(toOne(relationship).key, of: table.name)
    }
    for relationship in incoming { indexes.addKey(ownerColumns(of: relationship).key, of: table.name) }
    let fetchIndexes = entity.fetchIndexes + entity.impliedIndexes + entity.indexesOfPlaces()
    if entity.uniquenessConstraints.isEmpty, fetchIndexes.isEmpty { return }
    let ancestors = Array(entity.ancestry.dropFirst())
    for constraint in entity.uniquenessConstraints
    where !ancestors.contains(where: { $0.uniquenessConstraints.contains(constraint) }) {
      indexes.add(
        "Z_\(entity.name)_UNIQUE_\(constraint.joined(separator: "_"))", isUnique: true, of: table.name,
        "(\(constraint.map { "\(indexedColumn($0, of: entity)) COLLATE BINARY ASC" }.joined(separator: ", ")))")
    }
    var names: Set<String> = []
    for index in fetchIndexes where names.insert(Names.upper(index.name.string)).inserted {
      let sql = FetchIndexSQL(index: index, entity: entity, schema: self)
      if index.kind == .rTree {
        let name = indexes.name(like: "Z_RT_\(entity.name)_\(index.name)")
        indexes.add(try sql.rTree(named: name, on: table.name))
      } else if let columns = try sql.columns() {
        indexes.add("Z_\(entity.name)_\(index.name)", isUnique: false, of: table.name, columns)
      }
    }
  }

  private func indexedColumn(_ name: String, of entity: Entity) -> String {
    switch entity.propertiesByName[name] {
    case let attribute as Attribute: column(of: attribute)
    case let relationship as Relationship: toOne(relationship).key
    default: Names.column(name)
    }
  }
}

/// Collects index statements. Indexes share one name space with tables, without case. Two names by the rules can be
/// equal (entity `A_B` index `C`, entity `A` index `B_C`): the later one gets a number.
private struct IndexStatements {
  private(set) var definitions: [Schema.Definition] = []
  private var taken: Set<String>

  init(tables: [Schema.Table], joins: [(relationship: Relationship, table: Schema.JoinTable)]) {
    taken = Set(tables.map(\.name) + joins.map(\.table.name) + ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"])
  }

  mutating func addKey(_ column: String, of table: String) {
    add("\(table)_\(column)_INDEX", isUnique: false, of: table, "(\(column))")
  }

  mutating func add(_ join: Schema.JoinTable) {
    add(
      "\(join.name)_\(join.destinationColumn)_INDEX", isUnique: false, of: join.name,
      "(\(join.destinationColumn), \(join.ownerColumn))")
  }

  /// `columns` in parentheses, with the condition behind them.
  mutating func add(_ wanted: String, isUnique: Bool, of table: String, _ columns: String) {
    let name = name(like: wanted)
    let sql = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(Names.quoted(name)) ON \(table) \(columns)"
    definitions.append(Schema.Definition(kind: .index, name: name, table: table, statements: [sql]))
  }

  /// One whose name is taken already.
  mutating func add(_ tree: RTree) {
    definitions.append(
      Schema.Definition(
        kind: .rTree, name: tree.name, table: tree.table, statements: tree.statements, filling: tree.filling))
  }

  /// Takes a name.
  mutating func name(like wanted: String) -> String {
    var name = wanted, number = 0
    while !taken.insert(Names.upper(name)).inserted {
      number += 1
      name = "\(wanted)\(number)"
    }
    return name
  }
}
