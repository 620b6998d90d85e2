/// What an expression is in SQL.
enum SQLTerm {
  case constant(Value)
  indirect case column(SQLColumn)
  /// An object: the row of a table.
  case row(SQLRow)
  indirect case collection(SQLCollection)
  /// What SQL has no words for: an expression over arguments that it looks up, evaluated by `SQLProgram`.
  case expression(Expression)
}

/// The tables that are joined to one table of a FROM clause, through to-one relationships. A row whose path ends in nil
/// stays and yields NULL. Paths that share a beginning share its tables.
final class SQLJoins {
  private(set) var tables: [SQLTable] = []
  private var aliases: [SQLName: String] = [:]

  /// SQLite joins at most 64 tables. What more paths lead to is asked by subqueries.
  private static let mostTables = 48

  /// nil when there is no room for one more, or the key is calculated.
  func alias(forKey key: SQLExpr, table: String, new: () -> String) -> String? {
    guard let name = key.name else { return nil }
    if let known = aliases[name] { return known }
    if aliases.count >= SQLJoins.mostTables { return nil }
    let alias = new()
    tables.append(.named(table, alias, .left, key: key))
    aliases[name] = alias
    return alias
  }
}
