/// A comparison ready to be asked about objects. For one thread at a time.
final class ComparisonTest {
  private enum Operation {
    case relation(Relation)
    case between
    case isIn
    case contains
    case text(TextMatcher.Operation)
  }

  private let comparison: Comparison
  private let operation: Operation
  private let left: ExpressionNode
  private let right: ExpressionNode
  private let test: ValueTest
  private let folder = TextFolder()
  /// The constants of `IN {…}` and `{…} CONTAINS`.
  private var members: MemberSet?

  init(_ comparison: Comparison) throws(Failure) {
    self.comparison = comparison
    if comparison.options.contains(.word) { throw ComparisonTest.unsupported("The option [w]", comparison) }
    test = ValueTest(comparison.options.folding)
    // Only whether there is a value is asked where the other side is nil.
    let isEquality = Relation(comparison.operator)?.isOrdering == false
    func need(beside other: Expression) throws(Failure) -> KeyWalk.Need {
      if isEquality, let value = try Arithmetic.fold(other), value.isNil { return .presence }
      return .value
    }
    left = try ExpressionNode(comparison.left, need(beside: comparison.right))
    right = try ExpressionNode(comparison.right, need(beside: comparison.left))
    if let relation = Relation(comparison.operator) {
      operation = .relation(relation)
    } else if let text = TextMatcher.Operation(comparison.operator) {
      operation = .text(text)
      if let pattern = right.constant?.scalar { try test.prepare(text, pattern) }
    } else {
      switch comparison.operator {
      case .between:
        operation = .between
        if let bounds = right.constant { _ = try ComparisonTest.bounds(bounds, comparison) }
      case .isIn:
        operation = .isIn
        members = memberSet(right)
        if let collection = right.constant { try ComparisonTest.checkCollection(collection, comparison) }
      case .contains:
        operation = .contains
        // Under ANY and ALL the parts of the list are asked, not the list.
        if comparison.modifier == .direct { members = memberSet(left) }
      default: throw ComparisonTest.unsupported("The operator \(comparison.customOperator)", comparison)
      }
    }
  }

  private func memberSet(_ node: ExpressionNode) -> MemberSet? {
    guard case .list(let items)? = node.constant else { return nil }
    return MemberSet(items, comparison.options.folding, folder)
  }

  func holds(_ scope: inout Scope) throws(Failure) -> Bool {
    let left = try left.item(&scope)
    let right = try right.item(&scope)
    switch comparison.modifier {
    case .direct: return try holds(left, right)
    case .any:
      for element in try elements(left) where try holds(element, right) { return true }
      return false
    case .all:
      for element in try elements(left) where try !holds(element, right) { return false }
      return true
    }
  }

  /// The values for ANY and ALL: the innermost ones, and nothing when there is no collection at all.
  private func elements(_ item: Item) throws(Failure) -> [Item] {
    if item.isNil { return [] }
    guard let elements = item.innermost else {
      throw Failure(
        .invalidPredicate,
        "\(comparison.modifier == .any ? "ANY" : "ALL") needs a collection on its left side, and in "
          + "\(Predicate.comparison(comparison).text) there is \(item.kindName).")
    }
    return elements
  }

  private func holds(_ left: Item, _ right: Item) throws(Failure) -> Bool {
    switch operation {
    case .relation(let relation): return try test.holds(relation, left, right)
    case .between:
      let (low, high) = try ComparisonTest.bounds(right, comparison)
      guard let value = left.scalar, let low = low.scalar, let high = high.scalar else { return false }
      return try test.isBetween(value, low, high)
    case .isIn: return try isMember(left, of: right)
    case .contains: return try isMember(right, of: left)
    case .text(let operation):
      guard let text = left.scalar, let pattern = right.scalar else { return false }
      return try test.matches(operation, text, pattern)
    }
  }

  /// Of a list or the values of a dictionary; of a text, whether the other is a part of it.
  private func isMember(_ item: Item, of collection: Item) throws(Failure) -> Bool {
    if let members, let value = item.scalar { return members.contains(value, folder) }
    if let elements = collection.elements { return try test.contains(elements, item) }
    guard let text = collection.scalar, let part = item.scalar else { return false }
    return try test.matches(.contains, text, part)
  }

  // MARK: Failures

  private static func bounds(_ item: Item, _ comparison: Comparison) throws(Failure) -> (Item, Item) {
    guard case .list(let bounds) = item, bounds.count == 2 else {
      throw Failure(
        .invalidPredicate, "BETWEEN needs a list of exactly two bounds, and has \(comparison.right.text).")
    }
    return (bounds[0], bounds[1])
  }

  private static func checkCollection(_ item: Item, _ comparison: Comparison) throws(Failure) {
    guard let value = item.scalar else { return }
    guard value.isNil || value.comparableText != nil else {
      throw Failure(
        .invalidPredicate,
        "IN needs a list or text on its right side, and has \(comparison.right.text). "
          + "A list is written in braces, such as {1, 2}.")
    }
  }

  private static func unsupported(_ part: String, _ comparison: Comparison) -> Failure {
    Failure(.unsupported, "\(part), used in \(Predicate.comparison(comparison).text), is not supported.")
  }
}
