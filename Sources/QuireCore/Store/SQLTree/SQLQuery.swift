/// What a statement reads, behind its columns: tables, conditions, order and window.
struct SQLQuery {
  var tables: [SQLTable]
  /// All of which must hold.
  var conditions: [SQLExpr] = []
  var groups: [SQLExpr] = []
  /// Of a group.
  var having: SQLExpr?
  var order: [SQLOrder] = []
  var window: Window?

  enum Window {
    /// The first row behind `offset`.
    case one(offset: Int?)
    case parameters(limit: SQLExpr, offset: SQLExpr)
  }

  /// See `SQLExpr.stack`. Of ORDER BY all clauses before are on it, though they may be empty, and a list with a comma.
  var stack: Int {
    var stack = 5 + conditions.greatestStack + (conditions.count > 1 ? 2 : 0)
    for table in tables { stack = max(stack, 4 + table.stack) }
    if !order.isEmpty { stack = max(stack, 11 + order.reduce(0) { max($0, $1.value.stack) }) }
    return window == nil ? stack : max(stack, 12)
  }

  var parts: [SQLExpr] {
    var parts: [SQLExpr] = []
    for table in tables { parts += table.parts }
    parts += conditions + groups
    if let having { parts.append(having) }
    for term in order { parts.append(term.value) }
    return parts
  }

  /// The tables in its FROM, and those of the statements there.
  var aliases: [String] { tables.flatMap(\.aliases) }
}

/// A key of an order.
struct SQLOrder {
  let value: SQLExpr
  var isDescending = false

  var reversed: SQLOrder { SQLOrder(value: value, isDescending: !isDescending) }
}
