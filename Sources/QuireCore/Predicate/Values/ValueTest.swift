/// The operators on single values, under the options of one comparison. For one thread at a time.
final class ValueTest {
  private let folding: TextFolding
  /// The pattern last compiled: with a constant pattern, the only one.
  private var matcher: TextMatcher?

  init(_ folding: TextFolding) { self.folding = folding }

  /// `<=` and `>=` hold between nil and nil, as equality does.
  func holds(_ relation: Relation, _ left: Value, _ right: Value) throws(Failure) -> Bool {
    if left.isNil || right.isNil {
      let bothNil = left.isNil && right.isNil
      return switch relation {
      case .equal, .lessOrEqual, .greaterOrEqual: bothNil
      case .notEqual: !bothNil
      case .less, .greater: false
      }
    }
    if !folding.isEmpty, let left = left.comparableText, let right = right.comparableText {
      return try matcher(relation.textOperation, right).matches(left)
    }
    switch relation {
    case .equal: return Value.areEqual(left, right)
    case .notEqual: return !Value.areEqual(left, right)
    default: return relation.holds(Value.order(left, right))
    }
  }

  /// False wherever one of the three is nil.
  func isBetween(_ value: Value, _ low: Value, _ high: Value) throws(Failure) -> Bool {
    if value.isNil || low.isNil || high.isNil { return false }
    guard try holds(.greaterOrEqual, value, low) else { return false }
    return try holds(.lessOrEqual, value, high)
  }

  /// A text operator; false for everything that is no text.
  func matches(
    _ operation: TextMatcher.Operation, _ value: Value, _ pattern: Value
  ) throws(Failure) -> Bool {
    guard let text = value.comparableText, let pattern = pattern.comparableText else { return false }
    return try matcher(operation, pattern).matches(text)
  }

  /// Compiles a pattern that will be asked for, which says at once what is wrong with it.
  func prepare(_ operation: TextMatcher.Operation, _ pattern: Value) throws(Failure) {
    if let pattern = pattern.comparableText { _ = try matcher(operation, pattern) }
  }

  private func matcher(_ operation: TextMatcher.Operation, _ pattern: Text) throws(Failure) -> TextMatcher {
    if let matcher, matcher.operation == operation, matcher.pattern == pattern { return matcher }
    let compiled = try TextMatcher(operation, folding, pattern: pattern)
    matcher = compiled
    return compiled
  }

  // MARK: Items

  /// Lists are equal when their elements are, one by one; dictionaries when the values of all keys are.
  func areEqual(_ left: Item, _ right: Item) throws(Failure) -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)):
      guard left.count == right.count else { return false }
      for (left, right) in zip(left, right) where try !areEqual(left, right) { return false }
      return true
    case (.dictionary(let left), .dictionary(let right)):
      guard left.items.count == right.items.count else { return false }
      for (key, item) in left.items {
        guard let other = right.items[key], try areEqual(item, other) else { return false }
      }
      return true
    default:
      guard let left = left.scalar, let right = right.scalar else { return false }
      return try holds(.equal, left, right)
    }
  }

  func holds(_ relation: Relation, _ left: Item, _ right: Item) throws(Failure) -> Bool {
    if let left = left.scalar, let right = right.scalar { return try holds(relation, left, right) }
    switch relation {
    case .equal: return try areEqual(left, right)
    case .notEqual: return try !areEqual(left, right)
    default: return false
    }
  }

  func contains(_ items: [Item], _ item: Item) throws(Failure) -> Bool {
    for element in items where try areEqual(element, item) { return true }
    return false
  }
}
