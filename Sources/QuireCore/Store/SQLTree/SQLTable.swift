/// A table of a FROM clause.
struct SQLTable {
  enum Join {
    case first, inner
    /// A row without one in this table stays.
    case left
    /// SQLite keeps the order of the tables.
    case cross

    var text: StaticString {
      switch self {
      case .first: " FROM "
      case .inner: " JOIN "
      case .left: " LEFT JOIN "
      case .cross: " CROSS JOIN "
      }
    }
  }

  var name = ""
  /// In place of a table with a name.
  var selects: SQLSelects?
  /// Empty for none.
  var alias = ""
  var join = Join.first
  var condition: SQLExpr?

  /// Inside of FROM: the tables before, the name with what may belong to it, ON.
  var stack: Int {
    var stack = 5
    if let selects { stack = 2 + selects.stack }
    return max(stack, condition.map { 5 + $0.stack } ?? 0)
  }

  var parts: [SQLExpr] {
    var parts: [SQLExpr] = []
    if let selects { parts = selects.all.flatMap(\.parts) }
    return parts + (condition.map { [$0] } ?? [])
  }

  var aliases: [String] {
    var aliases = alias.isEmpty ? [] : [alias]
    if let selects { aliases += selects.all.flatMap(\.query.aliases) }
    return aliases
  }

  static func named(_ name: String, _ alias: String = "") -> SQLTable { SQLTable(name: name, alias: alias) }

  /// Joined by its primary key.
  static func named(_ name: String, _ alias: String, _ join: Join, key: SQLExpr) -> SQLTable {
    SQLTable(name: name, alias: alias, join: join, condition: .compare(.column(alias, "Z_PK"), .equal, key))
  }
}
