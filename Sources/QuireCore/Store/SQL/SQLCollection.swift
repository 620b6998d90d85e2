/// The rows behind a to-many relationship, or some of them, and what is taken of each.
struct SQLCollection {
  enum Step {
    case keys([String])
    /// `a.d[0]`: the key, and the index into what it holds.
    case indexed(String, Expression.Index)
  }

  /// The tables, with their aliases.
  let source: String
  let joins: SQLJoins
  let row: SQLRow
  /// Which rows there are, besides those that `link` leaves out.
  var conditions: [SQLFragment]
  /// A column of the tables, and what it must be equal to: the key of the owner.
  let link: (column: String, owner: String)?
  /// What the rows are ordered by, the first before the others.
  let order: [String]
  var orderStack = SQLColumn.plainStack
  /// The key of the owner where there may be none: the collection is nil then, and not empty.
  var nilKey: String?
  /// Of the key of the owner.
  var ownerStack = SQLColumn.plainStack
  /// Of the outermost row that is looked at.
  var home: Int
  /// The number of its own row.
  let number: Int
  var steps: [Step] = []
  /// The parts of a set expression, which memory puts together where their order matters.
  var set: (Expression.SetOperation, Expression, Expression)?

  func mapping(_ step: Step) -> SQLCollection {
    var copy = self
    copy.steps.append(step)
    return copy
  }

  /// `SELECT … FROM …` of its rows, the newest conditions last.
  func select(_ columns: String, also more: [SQLFragment] = [], ordered: Bool = false, isLinked: Bool = true) -> String
  {
    let condition = condition(more, isLinked: isLinked)
    let order = ordered && !order.isEmpty ? " ORDER BY \(order.joined(separator: ", "))" : ""
    return "SELECT \(columns) FROM \(source)\(joins.sql)\(condition.isTrue ? "" : " WHERE \(condition.sql)")\(order)"
  }

  /// The parser's stack that reading what `select` gives takes, see `SQLFragment.stack`.
  func stack(
    _ columns: Int = SQLColumn.plainStack, also more: [SQLFragment] = [], ordered: Bool = false, isLinked: Bool = true
  ) -> Int {
    max(
      SQLCollection.joinStack, 4 + columns, 5 + condition(more, isLinked: isLinked).stack,
      ordered ? 11 + orderStack : 0)
  }

  /// Of `SELECT … FROM … JOIN … ON t2.Z_PK = t1.ZOWNER`.
  private static let joinStack = 14

  private func condition(_ more: [SQLFragment], isLinked: Bool) -> SQLFragment {
    var parts = conditions + more
    if isLinked, let link {
      let sql = "\(link.column) = \(link.owner)"
      parts.insert(SQLFragment(sql: sql, isExact: false, stack: 2 + ownerStack), at: 0)
    }
    return .chain(.and, parts)
  }
}
