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
  /// Memory, which meets values only, would call the comparison false. `type` gives nil for what has no one type.
  func checkTypes(_ type: ([String]) throws(Failure) -> ColumnType?) throws(Failure) {
    switch self {
    case .constant: return
    case .not(let part): try part.checkTypes(type)
    case .and(let parts), .or(let parts):
      for part in parts { try part.checkTypes(type) }
    case .comparison(let comparison):
      guard comparison.modifier == .direct else { return }
      if comparison.operator == .between {
        guard let bounds = comparison.right.listParts else { return }
        for bound in bounds { try checkOrder(comparison.left, bound, type) }
      } else if Relation(comparison.operator)?.isOrdering == true {
        try checkOrder(comparison.left, comparison.right, type)
      }
    }
  }

  private func checkOrder(
    _ left: Expression, _ right: Expression, _ type: ([String]) throws(Failure) -> ColumnType?
  ) throws(Failure) {
    guard let left = try comparisonClass(left, type), let right = try comparisonClass(right, type) else { return }
    if left == right && left.hasOrder { return }
    let reason = left == right ? "\(left.name) has no order" : "\(left.name) and \(right.name) have no order"
    throw Failure(.invalidPredicate, "\(text) cannot be answered: \(reason). Compare with == or !=.")
  }

  private func comparisonClass(
    _ expression: Expression, _ type: ([String]) throws(Failure) -> ColumnType?
  ) throws(Failure) -> Value.ComparisonClass? {
    if let value = try Arithmetic.fold(expression) { return value.comparisonClass }
    switch expression {
    case .selfObject: return try type([])?.comparisonClass
    case .keyPath(let keys), .path(.selfObject, let keys): return try type(keys)?.comparisonClass
    default: return nil
    }
  }
}
