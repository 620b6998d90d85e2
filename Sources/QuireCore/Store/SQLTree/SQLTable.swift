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
