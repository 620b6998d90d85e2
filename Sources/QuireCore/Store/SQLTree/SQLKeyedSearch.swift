/// Another way to what a expression holds for: through a list of keys, where one row is looked at for each.
struct SQLKeyedSearch {
  /// The key that is in the list.
  let key: SQLExpr
  /// Each a SELECT of keys as `Z_PK`, in no order, some of them perhaps twice.
  let keys: SQLSelects
  /// What remains to be asked of their rows.
  let test: SQLExpr
}
