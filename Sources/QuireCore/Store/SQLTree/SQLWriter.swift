/// Writes trees as the text of SQL. What is still to be written waits in `pending`, not in calls within calls: a deep
/// tree takes no more stack than a flat one.
struct SQLWriter {
  private(set) var text = ""
  /// The last is the next.
  private var pending: [Piece] = []
  /// The numbers of parameters that stand in the place of columns.
  private let replaced: [SQLName: Int]

  private enum Piece {
    case text(String)
    case expr(SQLExpr)
  }

  init(replacing replaced: [SQLName: Int] = [:]) {
    self.replaced = replaced
    text.reserveCapacity(200)
  }

  mutating func write(_ text: String) { self.text += text }

  mutating func write(_ expr: SQLExpr) {
    if writeLeaf(expr) { return }
    pending.append(.expr(expr))
    writePending()
  }

  /// With a comma before each.
  mutating func write(further exprs: [SQLExpr]) {
    for expr in exprs {
      text += ", "
      write(expr)
    }
  }

  mutating func write(list exprs: [SQLExpr]) {
    guard let first = exprs.first else { return }
    write(first)
    write(further: Array(exprs.dropFirst()))
  }

  mutating func write(_ query: SQLQuery) {
    append(query)
    pending.reverse()
    writePending()
  }

  /// ` FROM …`
  mutating func write(from tables: [SQLTable]) {
    append(tables)
    pending.reverse()
    writePending()
  }

  // MARK: Pieces

  private mutating func writePending() {
    while let piece = pending.popLast() {
      switch piece {
      case .text(let piece): text += piece
      case .expr(let expr):
        if writeLeaf(expr) { continue }
        let start = pending.count
        append(expr.kind)
        pending[start...].reverse()
      }
    }
  }

  /// False for what has parts.
  private mutating func writeLeaf(_ expr: SQLExpr) -> Bool {
    switch expr.kind {
    case .column(let name): write(name)
    case .parameter(let number): write(parameter: number)
    case .integer(let integer): text += String(integer)
    case .truth(let holds): text += holds ? "1" : "0"
    case .rows: text += "count(*)"
    default: return false
    }
    return true
  }

  private mutating func write(_ name: SQLName) {
    if !replaced.isEmpty, let number = replaced[name] { return write(parameter: number) }
    if !name.alias.isEmpty {
      text += name.alias
      text += "."
    }
    text += name.column
  }

  private mutating func write(parameter number: Int) {
    text += "?"
    text += String(number)
  }

  /// In the order of the text.
  private mutating func append(_ kind: SQLExpr.Kind) {
    switch kind {
    case .truth, .integer, .parameter, .column, .rows: return
    case .function(let function, let parts): appendCall(function.name, parts)
    case .real(let part): append("CAST(", part, " AS REAL)")
    case .unindexed(let part): append("+", part, "")
    case .likely(let part): append("likelihood(", part, ", 0.25)")
    case .comparison(let sign, let left, let right):
      append("", left, sign.rawValue)
      append(right)
    case .isNull(let part): append("", part, " IS NULL")
    case .between(let part, let first, let last): append("", part, " BETWEEN \(first) AND \(last)")
    case .membership(let part, let list, let isNegated):
      append("", part, isNegated ? " NOT IN (" : " IN (")
      append(list)
      append(")")
    case .chain(let chain, let parts):
      append("(")
      for (place, part) in parts.enumerated() {
        if place > 0 { append(chain.rawValue) }
        append(part)
      }
      append(")")
    case .group(let part): append("(", part, ")")
    case .not(let part): append("NOT (", part, ")")
    case .isNotTrue(let part): append("(", part, ") IS NOT TRUE")
    case .present(let key, let value):
      append("CASE WHEN ", key, " IS NOT NULL THEN ")
      append("", value, " END")
    case .exists(let select):
      append("EXISTS (")
      append(select)
      append(")")
    case .scalar(let select):
      append("(")
      append(select)
      append(")")
    }
  }

  private mutating func append(_ text: String) { pending.append(.text(text)) }
  private mutating func append(_ expr: SQLExpr) { pending.append(.expr(expr)) }

  private mutating func append(_ before: String, _ expr: SQLExpr, _ after: String) {
    if !before.isEmpty { append(before) }
    append(expr)
    if !after.isEmpty { append(after) }
  }

  private mutating func appendCall(_ name: String, _ arguments: [SQLExpr]) {
    append(name)
    append("(")
    append(list: arguments)
    append(")")
  }

  private mutating func append(list exprs: [SQLExpr]) {
    for (place, expr) in exprs.enumerated() {
      if place > 0 { append(", ") }
      append(expr)
    }
  }

  private mutating func append(_ list: SQLList) {
    switch list {
    case .values(let values): append(list: values)
    case .selects(let selects), .searched(let selects): append(selects)
    case .ids(let parameter): append("SELECT value FROM json_each(", parameter, ")")
    case .packed(let count, let values):
      append(
        "WITH RECURSIVE place(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM place WHERE i + 1 < ", count,
        ") SELECT \(SQLFunction.element.name)(")
      append("", values, ", i) FROM place")
    }
  }

  // MARK: Statements

  private mutating func append(_ selects: SQLSelects) {
    for (place, select) in selects.all.enumerated() {
      if place > 0 { append(selects.union.rawValue) }
      append(select)
    }
  }

  private mutating func append(_ select: SQLSelect) {
    append("SELECT ", select.value, select.name.isEmpty ? "" : " AS \(select.name)")
    append(select.query)
  }

  private mutating func append(_ query: SQLQuery) {
    append(query.tables)
    for (place, condition) in query.conditions.enumerated() {
      append(place == 0 ? " WHERE " : " AND ", condition, "")
    }
    if !query.groups.isEmpty {
      append(" GROUP BY ")
      append(list: query.groups)
    }
    if let having = query.having { append(" HAVING ", having, "") }
    for (place, term) in query.order.enumerated() {
      append(place == 0 ? " ORDER BY " : ", ", term.value, term.isDescending ? " DESC" : "")
    }
    switch query.window {
    case nil: break
    case .one(let offset): append(offset.map { " LIMIT 1 OFFSET \($0)" } ?? " LIMIT 1")
    case .parameters(let limit, let offset):
      append(" LIMIT ", limit, " OFFSET ")
      append(offset)
    }
  }

  private mutating func append(_ tables: [SQLTable]) {
    for (place, table) in tables.enumerated() {
      append(place == 0 ? " FROM " : table.join.rawValue)
      switch table.source {
      case .name(let name): append(name)
      case .selects(let selects):
        append("(")
        append(selects)
        append(")")
      }
      if !table.alias.isEmpty {
        append(" ")
        append(table.alias)
      }
      if let condition = table.condition { append(" ON ", condition, "") }
    }
  }
}

extension SQLExpr {
  var sql: String {
    var writer = SQLWriter()
    writer.write(self)
    return writer.text
  }
}
