/// A SELECT of one value, inside of another statement.
struct SQLSelect {
  let value: SQLExpr
  /// What the value is called; empty for nothing.
  var name = ""
  var query: SQLQuery

  var stack: Int {
    max(name.isEmpty ? 0 : 9, 4 + value.stack, query.stack)
  }

  var parts: [SQLExpr] { [value] + query.parts }
}

/// Statements whose rows are put together.
struct SQLSelects {
  enum Union {
    /// Each row once.
    case distinct
    case all
  }

  let all: [SQLSelect]
  var union = Union.all

  init(_ all: SQLSelect..., union: Union = .all) {
    self.all = all
    self.union = union
  }

  init(_ all: [SQLSelect]) { self.all = all }

  var stack: Int {
    var stack = all.first?.stack ?? 0
    for select in all.dropFirst() { stack = max(stack, 2 + select.stack) }
    return stack
  }
}
