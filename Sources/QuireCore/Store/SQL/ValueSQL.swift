extension SQLCompiler {
  /// A column with the one value that an expression has in each row.
  func value(_ expression: Expression, of row: SQLRow) throws(Failure) -> (expr: SQLExpr, kind: SQLLeaf.Kind) {
    try inParts { () throws(Failure) in
      switch try term(expression, SQLScope(subject: row)) {
      case .column(let column): return (column.expr, .value(column.type))
      case .row(let row): return (row.key, .value(.object(root: row.entity.rootNumber)))
      case .expression(.argument(let number, _)): return (leaves[number].expr, leaves[number].kind)
      case .expression(let expression): return (try computed(expression, .coded), .coded)
      case .constant(.boolean(true)): return (.constant(true), .value(.boolean))
      case .constant(let value): return (try computed(.constant(value), .coded), .coded)
      case .collection:
        throw Failure(
          .invalidArgument,
          "\(expression.text) has many values in each row. Use one of them, their number or another calculation.")
      }
    }
  }
}
