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
  func column(_ keyPath: [String], for purpose: ResolvedKeyPath.Purpose) throws(Failure) -> Column {
    let path = try ResolvedKeyPath(keyPath, of: entity, for: purpose)
    var alias = alias
    for (depth, relationship) in path.relationships.enumerated() {
      alias = join(Array(keyPath[...depth]), relationship, from: alias)
    }
    guard let column = schema.valueColumn(of: path.last) else {
      throw Failure(.invalidArgument, "'\(path.last.qualifiedName)' is not in the store. Use a stored property.")
    }
    return Column(sql: "\(alias).\(column)", property: path.last)
  }

  /// What a predicate finds at the end of `keyPath`; the empty path is the row itself.
  func sqlColumn(_ keyPath: [String]) throws(Failure) -> SQLColumn {
    if keyPath.isEmpty { return SQLColumn(sql: "\(alias).Z_PK", type: .object(root: entity.rootNumber)) }
    let column = try column(keyPath, for: .predicate)
    return SQLColumn(sql: column.sql, type: try ColumnType(comparing: column.property))
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
