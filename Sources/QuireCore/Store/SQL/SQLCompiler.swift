/// Makes rows and columns, each alias once, and knows which outer rows a piece of SQL looks at.
final class SQLCompiler {
  let schema: Schema
  let arguments: SQLArguments
  /// nil where the schema has no searchable attribute, or no store is open.
  private let textIndexes: TextIndexSearch?
  var leaves: [SQLLeaf] = []
  /// The numbers of those that are columns.
  var plainLeaves: [SQLName: Int] = [:]
  private var aliasCount = 0
  /// The lowest home of what was used since it was last set.
  private var lowestHome = Int.max
  /// See `SQLPart`.
  var parting = SQLParting()

  init(schema: Schema, textIndexes: TextIndexSearch?, arguments: SQLArguments) {
    self.schema = schema
    self.textIndexes = textIndexes
    self.arguments = arguments
  }

  /// The row that the statement's first table is read for.
  static func mainRow(_ entity: Entity, alias: String) -> SQLRow {
    SQLRow(entity: entity, alias: alias, home: 0, joins: SQLJoins())
  }

  func newAlias() -> (name: String, number: Int) {
    aliasCount += 1
    return ("t\(aliasCount)", aliasCount)
  }

  func touch(_ home: Int) { lowestHome = min(lowestHome, home) }

  /// Runs `body` and tells the lowest home that it touched; one below `number` is touched from outside as well.
  func enclosed<Result>(
    above number: Int, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> (result: Result, lowest: Int) {
    let outer = enter()
    let result = try body()
    return (result, leave(outer, above: number))
  }

  /// The two halves of `enclosed`, for what goes on to any depth.
  func enter() -> Int {
    defer { lowestHome = .max }
    return lowestHome
  }

  func leave(_ outer: Int, above number: Int) -> Int {
    let inner = lowestHome
    lowestHome = min(outer, inner < number ? inner : .max)
    return inner
  }

  // MARK: Keys

  /// The value of one key of a row.
  func value(of key: Key, in row: SQLRow) throws(Failure) -> SQLTerm {
    if key.isSelf(of: row.entity) { return .row(row) }
    let property = try key.property(of: row.entity)
    if property.isTransient {
      throw Failure(
        .invalidArgument,
        "The predicate uses '\(property.qualifiedName)', which is transient: the store does not have it. "
          + "Use a stored property.", about: .property(property))
    }
    guard let relationship = property as? Relationship else {
      let attribute = property as? Attribute
      let column = try column(of: property, in: row)
      return .column(
        SQLColumn(
          expr: column, type: try ColumnType(comparing: property), home: row.home, attribute: attribute,
          textIndex: attribute.flatMap { textIndexes?.column(of: $0, key: row.key) }))
    }
    if relationship.isToMany { return .collection(try collection(relationship, of: row)) }
    return .row(try self.row(behind: relationship, of: row))
  }

  /// What a to-one relationship of a row leads to.
  func row(behind relationship: Relationship, of row: SQLRow) throws(Failure) -> SQLRow {
    SQLRow(
      entity: relationship.destination, key: try column(of: relationship, in: row), home: row.home, joins: row.joins)
  }

  /// The column that holds an attribute or the key of a to-one relationship.
  func column(of property: Property, in row: SQLRow) throws(Failure) -> SQLExpr {
    guard let column = schema.valueColumn(of: property) else {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is not in the store. Use a stored property.",
        about: .property(property))
    }
    touch(row.home)
    /// What is compared is the data itself, wherever it is.
    func value(_ alias: String) -> SQLExpr {
      let name = SQLExpr.column(alias, column)
      guard let external = property.externalColumn else { return name }
      return .call(.external, SQLExpr(.integer(external.number)), .column(alias, "Z_PK"), name)
    }
    if let alias = row.alias { return value(alias) }
    let table = schema.table(of: row.entity)
    if let alias = row.joins?.alias(forKey: row.key, table: table, new: { newAlias().name }) {
      row.alias = alias
      return value(alias)
    }
    let alias = newAlias().name
    let isRow = SQLExpr.compare(.column(alias, "Z_PK"), .equal, row.key)
    let query = SQLQuery(tables: [.named(table, alias)], conditions: [isRow])
    return fitted(SQLExpr(.scalar(SQLSelect(value: value(alias), query: query))))
  }

  // MARK: Collections

  private func collection(_ relationship: Relationship, of owner: SQLRow) throws(Failure) -> SQLCollection {
    let path = try RelationshipSQL(relationship, schema: schema)
    let (alias, number) = newAlias()
    let joins = SQLJoins()
    let row = SQLRow(entity: relationship.destination, alias: alias, home: number, joins: joins)
    var conditions: [SQLExpr] = []
    var tables = [SQLTable.named(path.table, alias)]
    var link: (column: SQLExpr, owner: SQLExpr)?
    var order: [SQLOrder]
    touch(owner.home)
    switch path.storage {
    case .owner: throw Failure(
      .invalidState, "'\(relationship.qualifiedName)' is to-one and has no collection.",
      about: .property(relationship))
    case .destination(let key, let place):
      link = (.column(alias, key), owner.key)
      order = place.map { [SQLOrder(value: .column(alias, $0))] } ?? []
    case .pairs(let pairs) where !pairs.isReflexive:
      let pair = newAlias().name
      tables = [
        .named(pairs.name, pair), .named(path.table, alias, .inner, key: .column(pair, pairs.destinationColumn)),
      ]
      link = (.column(pair, pairs.ownerColumn), owner.key)
      order = pairs.orderColumn.map { [SQLOrder(value: .column(pair, $0))] } ?? []
    case .pairs(let pairs):
      let members = ReflexiveMembers(pairs, owner: owner.key)
      conditions.append(members.contain(.column(alias, "Z_PK")))
      order = members.place(of: .column(alias, "Z_PK")).map { [SQLOrder(value: $0)] } ?? []
    }
    order.append(SQLOrder(value: .column(alias, "Z_PK")))
    if let condition = path.destinationCondition(alias) { conditions.append(condition) }
    return SQLCollection(
      tables: tables, joins: joins, row: row, conditions: conditions, link: link, order: order,
      nilKey: owner.isPresent ? nil : owner.key, home: owner.home, number: number)
  }

  /// What both sides hold, one of them, or the left one alone; nil where they have no table in common.
  func combined(
    _ operation: Expression.SetOperation, _ left: SQLCollection, _ right: SQLCollection
  ) throws(Failure) -> SQLCollection? {
    // What steps lead to may be nil, which is an element too but no row.
    guard left.nilKey == nil, right.nilKey == nil, left.steps.isEmpty, right.steps.isEmpty,
      case .row(let leftRow) = try element(of: left),
      case .row(let rightRow) = try element(of: right), leftRow.entity.root === rightRow.entity.root
    else { return nil }
    var entity = leftRow.entity
    while !rightRow.entity.isKind(of: entity), let parent = entity.parent { entity = parent }
    let (alias, number) = newAlias()
    let key = SQLExpr.column(alias, "Z_PK")
    func membership(_ collection: SQLCollection, _ row: SQLRow) -> SQLExpr {
      fitted(.member(key, of: .selects(SQLSelects(collection.select(row.key)))))
    }
    let isLeft = membership(left, leftRow), isRight = membership(right, rightRow)
    let condition: SQLExpr
    switch operation {
    case .union: condition = .chain(.or, [isLeft, isRight])
    case .intersect: condition = .chain(.and, [isLeft, isRight])
    case .minus: condition = .chain(.and, [isLeft, isRight.negated])
    }
    let joins = SQLJoins()
    return SQLCollection(
      tables: [.named(schema.table(of: entity), alias)], joins: joins,
      row: SQLRow(entity: entity, alias: alias, home: number, joins: joins), conditions: [condition], link: nil,
      order: [SQLOrder(value: isLeft, isDescending: true), SQLOrder(value: key)], nilKey: nil,
      home: min(left.home, right.home), number: number)
  }
}
