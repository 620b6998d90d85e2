/// The members that one owner has in a relationship that is its own inverse. A pair is kept either way round.
struct ReflexiveMembers {
  private let pairs: Schema.JoinTable
  private let owner: SQLExpr

  init(_ pairs: Schema.JoinTable, owner: SQLExpr) {
    self.pairs = pairs
    self.owner = owner
  }

  /// Whether a key, which is never NULL, is that of a member.
  func contain(_ key: SQLExpr) -> SQLExpr {
    func side(_ owners: String, _ members: String) -> SQLSelect {
      select(.column("", members), "", .compare(.column("", owners), .equal, owner))
    }
    let (first, second) = (pairs.ownerColumn, pairs.destinationColumn)
    return .member(
      key, of: .selects(SQLSelects(side(first, second), side(second, first), union: .distinct)), isExact: true)
  }

  /// What orders a member among the others; nil where there is no order.
  func place(of key: SQLExpr) -> SQLExpr? {
    guard let place = pairs.orderColumn, let inverse = pairs.inverseOrderColumn else { return nil }
    func side(_ column: String, _ name: String, _ owners: String, _ members: String) -> SQLSelect {
      // The owner first: an index serves it.
      var found = select(.column("", column), name, .compare(.column("", owners), .equal, owner))
      found.query.conditions.append(.compare(.column("", members), .equal, key))
      return found
    }
    let (first, second) = (pairs.ownerColumn, pairs.destinationColumn)
    let both = SQLSelects(side(place, "place", first, second), side(inverse, "", second, first))
    let least = SQLExpr.call(.minimum, .column("", "place"))
    return SQLExpr(.scalar(SQLSelect(value: least, query: SQLQuery(tables: [SQLTable(selects: both)]))))
  }

  private func select(_ value: SQLExpr, _ name: String, _ condition: SQLExpr) -> SQLSelect {
    SQLSelect(value: value, name: name, query: SQLQuery(tables: [.named(pairs.name)], conditions: [condition]))
  }
}
