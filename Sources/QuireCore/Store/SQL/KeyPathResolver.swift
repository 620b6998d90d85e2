/// Turns resolved key paths that start at one row into columns of a query.
struct KeyPathResolver {
  struct Column {
    let expr: SQLExpr
    let property: Property
    var type: StoredType { StoredType(ofValuesOf: property) }
  }

  let compiler: SQLCompiler
  let row: SQLRow

  /// The column at the end of `path`. A path that ends in a to-one relationship yields its key.
  func column(_ path: ResolvedKeyPath) throws(Failure) -> Column {
    let expr = try compiler.inParts { () throws(Failure) -> SQLExpr in
      var row = row
      for relationship in path.relationships { row = try compiler.row(behind: relationship, of: row) }
      return try compiler.column(of: path.last, in: row)
    }
    return Column(expr: expr, property: path.last)
  }
}
