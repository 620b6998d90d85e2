/// Turns key paths that start at one entity into columns of a query, and gathers the joins that they need.
///
/// To-one steps become left joins, so that a row whose path ends in nil stays and yields nil. Paths that share a
/// beginning share its joins.
final class KeyPathResolver {
  struct Column {
    let sql: String
    let property: Property
    var type: StoredType { StoredType(of: property) }
  }

  private let schema: Schema
  private let entity: Entity
  private let alias: String
  private var aliases: [[String]: String] = [:]
  /// What follows the table and its alias in the FROM clause.
  private(set) var joins = ""

  init(schema: Schema, entity: Entity, alias: String) {
    self.schema = schema
    self.entity = entity
    self.alias = alias
  }

  /// The column at the end of `keyPath`. A path that ends in a to-one relationship yields its key.
  func column(_ keyPath: [String]) throws(Failure) -> Column {
    guard let last = keyPath.last else {
      throw Failure(.invalidArgument, "An empty key path names no property of entity '\(entity.name)'. Name one.")
    }
    var owner = entity, alias = alias
    for (depth, name) in keyPath.dropLast().enumerated() {
      let relationship = try toOne(try owner.property(named: name), in: keyPath)
      alias = join(Array(keyPath[...depth]), relationship, from: alias)
      owner = relationship.destination
    }
    let property = try owner.property(named: last)
    try checkStored(property, in: keyPath)
    guard let column = schema.valueColumn(of: property) else { throw toMany(property, in: keyPath) }
    return Column(sql: "\(alias).\(column)", property: property)
  }

  /// What a predicate finds at the end of `keyPath`; the empty path is the row itself.
  func sqlColumn(_ keyPath: [String]) throws(Failure) -> SQLColumn {
    if keyPath.isEmpty { return SQLColumn(sql: "\(alias).Z_PK", type: .object(root: entity.rootNumber)) }
    let column = try column(keyPath)
    guard let type = ColumnType(of: column.property) else {
      throw Failure(
        .unsupported,
        "'\(column.property.qualifiedName)' is of a type that predicates do not compare. Fetch the objects and look at its values."
      )
    }
    return SQLColumn(sql: column.sql, type: type)
  }

  private func toOne(_ property: Property, in keyPath: [String]) throws(Failure) -> Relationship {
    guard let relationship = property as? Relationship else {
      throw Failure(
        .invalidArgument,
        "Key path '\(keyPath.joined(separator: "."))' goes on after '\(property.qualifiedName)', which is an attribute. End it there, or step through a relationship."
      )
    }
    try checkStored(relationship, in: keyPath)
    if relationship.isToMany { throw toMany(relationship, in: keyPath) }
    return relationship
  }

  private func checkStored(_ property: Property, in keyPath: [String]) throws(Failure) {
    if property.isTransient {
      throw Failure(
        .invalidArgument,
        "Key path '\(keyPath.joined(separator: "."))' uses '\(property.qualifiedName)', which is transient and so is not in the store. Use a stored property."
      )
    }
  }

  private func toMany(_ property: Property, in keyPath: [String]) -> Failure {
    Failure(
      .unsupported,
      "Key path '\(keyPath.joined(separator: "."))' passes through '\(property.qualifiedName)', which is to-many and has no single value. Use a path of to-one relationships."
    )
  }

  private func join(_ path: [String], _ relationship: Relationship, from owner: String) -> String {
    if let known = aliases[path] { return known }
    let joined = "t\(aliases.count + 1)"
    let table = schema.table(of: relationship.destination)
    joins += " LEFT JOIN \(table) \(joined) ON \(joined).Z_PK = \(owner).\(schema.toOne(relationship).key)"
    aliases[path] = joined
    return joined
  }
}
