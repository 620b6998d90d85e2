/// The rows behind a to-many relationship, or some of them, and what is taken of each.
struct SQLCollection {
  enum Step {
    case keys([Key])
    /// `a.d[0]`: the key, and the index into what it holds.
    case indexed(Key, Expression.Index)
  }

  /// The tables that its rows are of. What is joined to them is in `joins`.
  let tables: [SQLTable]
  let joins: SQLJoins
  let row: SQLRow
  /// Which rows there are, besides those that `link` leaves out.
  var conditions: [SQLExpr]
  /// A column of the tables, and what it must be equal to: the key of the owner.
  let link: (column: SQLExpr, owner: SQLExpr)?
  /// What the rows are ordered by, the first before the others.
  let order: [SQLOrder]
  /// The key of the owner where there may be none: the collection is nil then, and not empty.
  var nilKey: SQLExpr?
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

  /// Selects a value of its rows, the newest conditions last.
  func select(
    _ value: SQLExpr, as name: String = "", also more: [SQLExpr] = [], ordered: Bool = false, isLinked: Bool = true
  ) -> SQLSelect {
    var parts = conditions + more
    if isLinked, let link { parts.insert(.compare(link.column, .equal, link.owner), at: 0) }
    let condition = SQLExpr.chain(.and, parts)
    return SQLSelect(
      value: value, name: name,
      query: SQLQuery(
        tables: tables + joins.tables, conditions: condition.isTrue ? [] : [condition], order: ordered ? order : []))
  }
}
