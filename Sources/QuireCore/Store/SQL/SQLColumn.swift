/// A column, or another piece of SQL whose values are of one declared type.
struct SQLColumn {
  var expr: SQLExpr
  var type: ColumnType
  /// The number of the row that it belongs to, or of the outermost row that it looks at.
  var home = 0
  /// The attribute that the column holds.
  var attribute: Attribute?
  /// Where the text of a searchable attribute can be looked up.
  var textIndex: TextIndexColumn?
}
