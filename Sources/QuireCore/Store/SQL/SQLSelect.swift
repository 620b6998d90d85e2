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

/// A table of a FROM clause.
struct SQLTable {
  enum Source {
    case name(String)
    case selects(SQLSelects)
  }

  enum Join: String {
    case first = ""
    case inner = " JOIN "
    /// A row without one in this table stays.
    case left = " LEFT JOIN "
    /// SQLite keeps the order of the tables.
    case cross = " CROSS JOIN "
  }

  let source: Source
  /// Empty for none.
  var alias = ""
  var join = Join.first
  var condition: SQLExpr?

  /// Inside of FROM: the tables before, the name with what may belong to it, ON.
  var stack: Int {
    var stack = 5
    if case .selects(let selects) = source { stack = 2 + selects.stack }
    return max(stack, condition.map { 5 + $0.stack } ?? 0)
  }

  var parts: [SQLExpr] {
    var parts: [SQLExpr] = []
    if case .selects(let selects) = source { parts = selects.all.flatMap(\.parts) }
    return parts + (condition.map { [$0] } ?? [])
  }

  var aliases: [String] {
    var aliases = alias.isEmpty ? [] : [alias]
    if case .selects(let selects) = source { aliases += selects.all.flatMap(\.query.aliases) }
    return aliases
  }

  static func named(_ name: String, _ alias: String = "") -> SQLTable { SQLTable(source: .name(name), alias: alias) }

  /// Joined by its primary key.
  static func named(_ name: String, _ alias: String, _ join: Join, key: SQLExpr) -> SQLTable {
    SQLTable(
      source: .name(name), alias: alias, join: join,
      condition: .compare(.column(alias, "Z_PK"), .equal, key))
  }
}

/// Statements whose rows are put together.
struct SQLSelects {
  enum Union: String {
    /// Each row once.
    case distinct = " UNION "
    case all = " UNION ALL "
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

/// A key of an order.
struct SQLOrder {
  let value: SQLExpr
  var isDescending = false

  var reversed: SQLOrder { SQLOrder(value: value, isDescending: !isDescending) }
}

/// What IN looks into.
indirect enum SQLList {
  case values([SQLExpr])
  case selects(SQLSelects)
  /// Keys that a text index finds, each statement by itself.
  case searched(SQLSelects)
  /// The parameter of an `IDList`.
  case ids(SQLExpr)
  /// The parameters of a `PackedList`.
  case packed(count: SQLExpr, values: SQLExpr)

  /// See `SQLExpr.stack`, behind `IN (`.
  var stack: Int {
    switch self {
    case .values(let values): 2 + values.greatestStack
    case .selects(let selects), .searched(let selects): selects.stack
    case .ids: 12
    case .packed: 21
    }
  }

  var parts: [SQLExpr] {
    switch self {
    case .values(let values): values
    case .selects(let selects), .searched(let selects): selects.all.flatMap(\.parts)
    case .ids(let parameter): [parameter]
    case .packed(let count, let values): [count, values]
    }
  }

  var selects: [SQLSelect] {
    switch self {
    case .selects(let selects), .searched(let selects): selects.all
    default: []
    }
  }
}
