/// Turns key paths of to-one relationships that start at one entity into columns of a query.
struct KeyPathResolver {
  struct Column {
    let sql: String
    let property: Property
    var type: StoredType { StoredType(of: property) }
  }

  let compiler: SQLCompiler
  let row: SQLRow

  /// The column at the end of `keyPath`. A path that ends in a to-one relationship yields its key.
  func column(_ keyPath: [String], for purpose: ResolvedKeyPath.Purpose) throws(Failure) -> Column {
    let path = try ResolvedKeyPath(keyPath, of: row.entity, for: purpose)
    var row = row
    for relationship in path.relationships {
      row = SQLRow(
        entity: relationship.destination, key: try compiler.column(of: relationship, in: row), home: row.home,
        joins: row.joins)
    }
    return Column(sql: try compiler.column(of: path.last, in: row), property: path.last)
  }
}
