/// What a key is declared to hold, as far as predicates care.
enum ColumnType: Sendable, Equatable {
  case integer, boolean, double, float, decimal, text, date, data, uuid, uri
  /// A to-one relationship, or the object itself, in the tree of that root entity.
  case object(root: Int)

  var comparisonClass: Value.ComparisonClass {
    switch self {
    case .integer, .boolean, .double, .float, .decimal: .number
    case .text, .uri: .text
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .object: .object
    }
  }
}

extension Predicate {
  /// Throws where declared types show that an ordering compares what has no order, such as text with a number.
  ///
  /// SQL checks this by itself; memory, which meets values only, would call the comparison false.
  func checkTypes(_ type: ([String]) throws(Failure) -> ColumnType) throws(Failure) {
    switch self {
    case .constant: return
    case .not(let part): try part.checkTypes(type)
    case .and(let parts), .or(let parts):
      for part in parts { try part.checkTypes(type) }
    case .comparison(let comparison):
      let plan = try ComparisonPlan(comparison)
      switch plan.test {
      case .relation(let relation, let left, let right) where relation.isOrdering:
        try checkOrder(left, right, type)
      case .between(let operand, let low, let high):
        try checkOrder(operand, low, type)
        try checkOrder(operand, high, type)
      default: return
      }
    }
  }

  private func checkOrder(
    _ left: ComparisonPlan.Operand, _ right: ComparisonPlan.Operand,
    _ type: ([String]) throws(Failure) -> ColumnType
  ) throws(Failure) {
    guard let left = try comparisonClass(left, type), let right = try comparisonClass(right, type) else { return }
    if left == right && left.hasOrder { return }
    let reason = left == right ? "\(left.name) has no order" : "\(left.name) and \(right.name) have no order"
    throw Failure(.invalidPredicate, "\(text) cannot be answered: \(reason). Compare with == or !=.")
  }

  private func comparisonClass(
    _ operand: ComparisonPlan.Operand, _ type: ([String]) throws(Failure) -> ColumnType
  ) throws(Failure) -> Value.ComparisonClass? {
    switch operand {
    case .constant(let value): value.comparisonClass
    case .keyPath(let keys): try type(keys).comparisonClass
    }
  }
}
