/// The conditions that leave only the rows behind a place of an order.
struct PlaceSQL {
  private let place: FetchPlan.Place?
  private let key: SQLExpr
  private let arguments: SQLArguments
  private var count = 0
  /// What holds for rows that have the values of the place at all keys so far.
  private var equalities: [SQLExpr] = []
  private var alternatives: [SQLExpr] = []
  /// For the index that the order uses.
  private var bound: SQLExpr?

  /// `key` is the column of the id, which decides among rows with equal values.
  init(_ place: FetchPlan.Place?, key: SQLExpr, _ arguments: SQLArguments) {
    self.place = place
    self.key = key
    self.arguments = arguments
  }

  /// Adds the next key of the order. nil comes first ascending and last descending.
  mutating func add(_ column: SQLExpr, isAscending: Bool, _ ordered: (SQLExpr) -> SQLExpr) {
    guard let place, count < place.values.count else { return }
    let value = place.values[count]
    count += 1
    if value.isNil {
      if isAscending { add(SQLExpr.isNull(column).negated) }
      equalities.append(.isNull(column))
      return
    }
    let left = ordered(column), right = ordered(arguments.parameter(value))
    add(
      isAscending
        ? .compare(left, .greater, right) : .chain(.or, [.compare(left, .less, right), .isNull(column)]))
    if isAscending, count == 1 { bound = .compare(left, .greaterOrEqual, right) }
    equalities.append(.compare(left, .equal, right))
  }

  private mutating func add(_ condition: SQLExpr) { alternatives.append(.chain(.and, equalities + [condition])) }

  /// All of which must hold.
  func conditions() -> [SQLExpr] {
    guard let place else { return [] }
    let isBehind = SQLExpr.compare(key, .greater, arguments.parameter(.integer(place.id)))
    let last = SQLExpr.chain(.and, equalities + [isBehind])
    return (bound.map { [$0] } ?? []) + [SQLExpr(.group(.chain(.or, alternatives + [last])))]
  }
}
