extension Comparison {
  /// Throws where types show that an ordering compares what has no order, such as text with a number.
  ///
  /// Without, the comparison would be false. `type` returns the class of the values of a key path, which an entity
  /// declares; nil where there is no one class.
  func checkOrder(_ type: ([Key]) throws(Failure) -> Value.ComparisonClass?) throws(Failure) {
    if !needsOrder { return }
    if `operator` == .between {
      guard let bounds = right.listParts else { return }
      for bound in bounds { try checkOrder(left, bound, type) }
    } else {
      try checkOrder(left, right, type)
    }
  }

  /// Whether it compares single values by their order.
  var needsOrder: Bool {
    modifier == .direct && (`operator` == .between || Relation(`operator`)?.isOrdering == true)
  }

  private func checkOrder(
    _ left: Expression, _ right: Expression, _ type: ([Key]) throws(Failure) -> Value.ComparisonClass?
  ) throws(Failure) {
    guard let left = try comparisonClass(left, type), let right = try comparisonClass(right, type) else { return }
    if left == right && left.hasOrder { return }
    let remedy =
      if left == right {
        "Compare with == or !=."
      } else if left == .date || right == .date {
        "Compare with a date as argument (%@), with one in ISO 8601, such as '2026-11-21T10:30:00Z', or with the "
          + "seconds since 2001 as CAST(number, \"NSDate\")."
      } else {
        "Compare values of one type; == of these two is never true."
      }
    let reason = left == right ? "\(left.name) has no order" : "\(left.name) and \(right.name) have no order"
    throw Failure(
      .invalidPredicate,
      "\(Predicate.comparison(self).text) cannot be answered: \(reason). \(remedy)")
  }

  private func comparisonClass(
    _ expression: Expression, _ type: ([Key]) throws(Failure) -> Value.ComparisonClass?
  ) throws(Failure) -> Value.ComparisonClass? {
    if let value = try Arithmetic.fold(expression) { return value.comparisonClass }
    switch expression {
    case .selfObject: return try type([])
    case .keyPath(let keys), .path(.selfObject, let keys): return try type(keys)
    default: return nil
    }
  }
}

extension Predicate {
  /// Checks its comparisons. Those inside of expressions are asked of other objects, too.
  func checkTypes(_ type: ([Key]) throws(Failure) -> Value.ComparisonClass?) throws(Failure) {
    switch self {
    case .constant: return
    case .not(let part): try part.checkTypes(type)
    case .and(let parts), .or(let parts):
      for part in parts { try part.checkTypes(type) }
    case .comparison(let comparison): try comparison.checkOrder(type)
    }
  }

  /// The same for a subject without an entity: its own values have their classes, and nil has none.
  func checkTypes(of subject: Item) throws(Failure) {
    try checkTypes { (keys) throws(Failure) in subject.comparisonClass(atKeyPath: keys) }
  }
}

extension Item {
  /// The class of the value at a key path; nil where there is none, or a list on the way, as of a to-many relationship.
  fileprivate func comparisonClass(atKeyPath keys: [Key]) -> Value.ComparisonClass? {
    var item = self
    for key in keys {
      switch item {
      case .dictionary, .subject:
        // Operators and what is missing are known when the predicate is asked.
        guard !key.isOperator, let next = try? item.item(forKey: key, asValue: true) else {
          return nil
        }
        item = next
      case .value, .list: return nil
      }
    }
    if case .dictionary = item { return .dictionary }
    return item.scalar?.comparisonClass
  }
}
