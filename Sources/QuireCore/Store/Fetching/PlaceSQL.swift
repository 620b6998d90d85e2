/// The conditions that leave only the rows behind a place of an order.
struct PlaceSQL {
  private let place: FetchPlan.Place?
  private let key: String
  private let arguments: SQLArguments
  private var count = 0
  /// What holds for rows that have the values of the place at all keys so far.
  private var equalities: [String] = []
  private var alternatives: [String] = []
  /// For the index that the order uses.
  private var bound: String?

  /// `key` is the column of the id, which decides among rows with equal values.
  init(_ place: FetchPlan.Place?, key: String, _ arguments: SQLArguments) {
    self.place = place
    self.key = key
    self.arguments = arguments
  }

  /// Adds the next key of the order. nil comes first ascending and last descending.
  mutating func add(_ column: String, isAscending: Bool, _ ordered: (String) -> String) {
    guard let place, count < place.values.count else { return }
    let value = place.values[count]
    count += 1
    if value.isNil {
      if isAscending { add("\(column) IS NOT NULL") }
      equalities.append("\(column) IS NULL")
      return
    }
    let left = ordered(column), right = ordered(arguments.parameter(value))
    add(isAscending ? "\(left) > \(right)" : "(\(left) < \(right) OR \(column) IS NULL)")
    if isAscending, count == 1 { bound = "\(left) >= \(right)" }
    equalities.append("\(left) = \(right)")
  }

  private mutating func add(_ condition: String) {
    alternatives.append((equalities + [condition]).joined(separator: " AND "))
  }

  /// All of which must hold.
  func conditions() -> [String] {
    guard let place else { return [] }
    let last = (equalities + ["\(key) > \(arguments.parameter(.integer(place.id)))"]).joined(separator: " AND ")
    let all = (alternatives + [last]).map { "(\($0))" }.joined(separator: " OR ")
    return (bound.map { [$0] } ?? []) + ["(\(all))"]
  }
}
