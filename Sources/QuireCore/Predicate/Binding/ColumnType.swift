/// The declared type of a key, as far as predicates need it.
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
  /// Throws where types show that an ordering compares what has no order, such as text with a number.
  ///
  /// Without, the comparison would be false. `type` gives the class of the values of a key path, which an entity
  /// declares; nil where there is no one class.
  func checkTypes(_ type: ([String]) throws(Failure) -> Value.ComparisonClass?) throws(Failure) {
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

  /// The same for a subject without an entity: its own values have their classes, and nil has none.
  func checkTypes(of subject: Item) throws(Failure) {
    try checkTypes { (keys) throws(Failure) in subject.comparisonClass(atKeyPath: keys) }
  }

  private func checkOrder(
    _ left: Expression, _ right: Expression, _ type: ([String]) throws(Failure) -> Value.ComparisonClass?
  ) throws(Failure) {
    guard let left = try comparisonClass(left, type), let right = try comparisonClass(right, type) else { return }
    if left == right && left.hasOrder { return }
    let reason = left == right ? "\(left.name) has no order" : "\(left.name) and \(right.name) have no order"
    throw Failure(.invalidPredicate, "\(text) cannot be answered: \(reason). Compare with == or !=.")
  }

  private func comparisonClass(
    _ expression: Expression, _ type: ([String]) throws(Failure) -> Value.ComparisonClass?
  ) throws(Failure) -> Value.ComparisonClass? {
    if let value = try Arithmetic.fold(expression) { return value.comparisonClass }
    switch expression {
    case .selfObject: return try type([])
    case .keyPath(let keys), .path(.selfObject, let keys): return try type(keys)
    default: return nil
    }
  }
}

extension Item {
  /// The class of the value at a key path; nil where there is none, or a list on the way, as of a to-many relationship.
  fileprivate func comparisonClass(atKeyPath keys: [String]) -> Value.ComparisonClass? {
    var item = self
    for key in keys {
      switch item {
      case .dictionary, .subject:
        // Operators and what is missing are known when the predicate is asked.
        guard key.utf8.first != UInt8(ascii: "@"), let next = try? item.item(forKey: key, asValue: true) else {
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
