/// Makes rows and columns, each alias once, and knows which outer rows a piece of SQL looks at.
final class SQLCompiler {
  let schema: Schema
  let arguments: SQLArguments
  var leaves: [SQLLeaf] = []
  /// The numbers of those that are columns, by their SQL.
  var plainLeaves: [String: Int] = [:]
  private var aliasCount = 0
  /// The lowest home of what was used since it was last set.
  private var lowestHome = Int.max
  /// See `SQLPart`.
  var parting = SQLParting()

  init(schema: Schema, arguments: SQLArguments) {
    self.schema = schema
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
  func value(of key: String, in row: SQLRow) throws(Failure) -> SQLTerm {
    if key == "self" { return .row(row) }
    let property = try row.entity.property(named: key)
    if property.isTransient {
      throw Failure(
        .invalidArgument,
        "The predicate uses '\(property.qualifiedName)', which is transient: the store does not have it. "
          + "Use a stored property.", about: .property(property))
    }
    guard let relationship = property as? Relationship else {
      let attribute = property as? Attribute
      let (sql, stack) = try lookup(property, in: row)
      return .column(
        SQLColumn(
          sql: sql, type: try ColumnType(comparing: property), home: row.home, attribute: attribute,
          textIndex: attribute.flatMap { schema.textIndexes.column(of: $0, key: row.key) }, stack: stack))
    }
    if relationship.isToMany { return .collection(try collection(relationship, of: row)) }
    return .row(try self.row(behind: relationship, of: row))
  }

  /// What a to-one relationship of a row leads to.
  func row(behind relationship: Relationship, of row: SQLRow) throws(Failure) -> SQLRow {
    let (key, stack) = try lookup(relationship, in: row)
    return SQLRow(
      entity: relationship.destination, key: key, keyStack: stack, home: row.home,
      joins: stack > SQLColumn.plainStack ? nil : row.joins)
  }

  /// SQL of the column that holds an attribute or the key of a to-one relationship.
  func column(of property: Property, in row: SQLRow) throws(Failure) -> String { try lookup(property, in: row).sql }

  private func lookup(_ property: Property, in row: SQLRow) throws(Failure) -> (sql: String, stack: Int) {
    guard let column = schema.valueColumn(of: property) else {
      throw Failure(
        .invalidArgument, "'\(property.qualifiedName)' is not in the store. Use a stored property.",
        about: .property(property))
    }
    touch(row.home)
    if let alias = row.alias { return ("\(alias).\(column)", SQLColumn.plainStack) }
    let table = schema.table(of: row.entity)
    if let alias = row.joins?.alias(forKey: row.key, table: table, new: { newAlias().name }) {
      row.alias = alias
      return ("\(alias).\(column)", SQLColumn.plainStack)
    }
    let alias = newAlias().name
    return fitted(
      "(SELECT \(alias).\(column) FROM \(table) \(alias) WHERE \(alias).Z_PK = \(row.key))", stack: 8 + row.keyStack)
  }

  // MARK: Collections

  private func collection(_ relationship: Relationship, of owner: SQLRow) throws(Failure) -> SQLCollection {
    let path = try RelationshipSQL(relationship, schema: schema)
    let (alias, number) = newAlias()
    let joins = SQLJoins()
    let row = SQLRow(entity: relationship.destination, alias: alias, home: number, joins: joins)
    var conditions: [SQLFragment] = []
    let source: String
    var link: (column: String, owner: String)?
    var order: [String], orderStack = SQLColumn.plainStack
    touch(owner.home)
    switch path.storage {
    case .owner: throw Failure(
      .invalidState, "'\(relationship.qualifiedName)' is to-one and has no collection.",
      about: .property(relationship))
    case .destination(let key, let place):
      source = "\(path.table) \(alias)"
      link = ("\(alias).\(key)", owner.key)
      order = place.map { ["\(alias).\($0)"] } ?? []
    case .pairs(let pairs) where !pairs.isReflexive:
      let pair = newAlias().name
      source = "\(pairs.name) \(pair) JOIN \(path.table) \(alias) ON \(alias).Z_PK = \(pair).\(pairs.destinationColumn)"
      link = ("\(pair).\(pairs.ownerColumn)", owner.key)
      order = pairs.orderColumn.map { ["\(pair).\($0)"] } ?? []
    case .pairs(let pairs):
      source = "\(path.table) \(alias)"
      let (first, second) = (pairs.ownerColumn, pairs.destinationColumn)
      conditions.append(
        SQLFragment(
          sql: "\(alias).Z_PK IN (SELECT \(second) FROM \(pairs.name) WHERE \(first) = \(owner.key) "
            + "UNION SELECT \(first) FROM \(pairs.name) WHERE \(second) = \(owner.key))",
          isExact: true, stack: 12 + owner.keyStack))
      order = []
      if let place = pairs.orderColumn, let inverse = pairs.inverseOrderColumn {
        order = [
          "(SELECT min(place) FROM (SELECT \(place) AS place FROM \(pairs.name) WHERE \(first) = \(owner.key) "
            + "AND \(second) = \(alias).Z_PK UNION ALL SELECT \(inverse) FROM \(pairs.name) "
            + "WHERE \(second) = \(owner.key) AND \(first) = \(alias).Z_PK))"
        ]
        orderStack = 16 + owner.keyStack
      }
    }
    order.append("\(alias).Z_PK")
    if let condition = path.destinationCondition(alias) {
      conditions.append(SQLFragment(sql: condition, isExact: false))
    }
    return SQLCollection(
      source: source, joins: joins, row: row, conditions: conditions, link: link, order: order, orderStack: orderStack,
      nilKey: owner.alias.map { "\($0).Z_PK" } == owner.key ? nil : owner.key, ownerStack: owner.keyStack,
      home: owner.home, number: number)
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
    func membership(_ collection: SQLCollection, _ row: SQLRow) -> SQLFragment {
      fitted(
        SQLFragment(
          sql: "\(alias).Z_PK IN (\(collection.select(row.key)))", isExact: false,
          stack: 3 + collection.stack(row.keyStack)))
    }
    let isLeft = membership(left, leftRow), isRight = membership(right, rightRow)
    let condition: SQLFragment
    switch operation {
    case .union: condition = .chain(.or, [isLeft, isRight])
    case .intersect: condition = .chain(.and, [isLeft, isRight])
    case .minus: condition = .chain(.and, [isLeft, isRight.negated])
    }
    let joins = SQLJoins()
    return SQLCollection(
      source: "\(schema.table(of: entity)) \(alias)", joins: joins,
      row: SQLRow(entity: entity, alias: alias, home: number, joins: joins), conditions: [condition], link: nil,
      order: ["\(isLeft.sql) DESC", "\(alias).Z_PK"], orderStack: isLeft.stack, nilKey: nil,
      home: min(left.home, right.home), number: number)
  }
}
