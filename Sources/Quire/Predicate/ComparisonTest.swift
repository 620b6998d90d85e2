/// A comparison ready to be asked about objects.
final class ComparisonTest {
  private let test: ComparisonPlan.Test
  private let folding: TextFolding
  private let folder = TextFolder()
  /// The pattern last compiled: with a constant pattern, the only one.
  private var matcher: TextMatcher?
  private var members: MemberSet?

  init(_ plan: ComparisonPlan) throws(Failure) {
    folding = plan.folding
    test = plan.test
    switch plan.test {
    case .text(let operation, _, .constant(let pattern)):
      guard let pattern = pattern.comparableText else { break }
      matcher = try TextMatcher(operation, folding, pattern: pattern)
    case .member(_, let parts): members = MemberSet(parts, folding, folder)
    default: break
    }
  }

  func matches(_ subject: some PropertySource) throws(Failure) -> Bool {
    switch test {
    case .relation(let relation, let left, let right):
      return try holds(relation, value(left, subject), value(right, subject))
    case .between(let operand, let low, let high):
      let value = try value(operand, subject)
      if value.isNil { return false }
      guard try isOrdered(.greaterOrEqual, value, self.value(low, subject)) else { return false }
      return try isOrdered(.lessOrEqual, value, self.value(high, subject))
    case .member(let operand, let parts):
      let value = try value(operand, subject)
      if let members { return members.contains(value, folder) }
      for part in parts where try holds(.equal, value, self.value(part, subject)) { return true }
      return false
    case .memberOfKey(let operand, let keys):
      return try isMember(value(operand, subject), of: subject.value(atKeyPath: keys))
    case .contains(let keys, let operand):
      return try isMember(value(operand, subject), of: subject.value(atKeyPath: keys))
    case .text(let operation, let operand, let pattern):
      return try matches(operation, value(operand, subject), value(pattern, subject))
    }
  }

  private func value(
    _ operand: ComparisonPlan.Operand, _ subject: some PropertySource
  ) throws(Failure) -> Value {
    switch operand {
    case .constant(let value): value
    case .keyPath(let keys): try subject.value(atKeyPath: keys)
    }
  }

  /// `<=` and `>=` hold between nil and nil, as equality does.
  private func holds(
    _ relation: ComparisonPlan.Relation, _ left: Value, _ right: Value
  ) throws(Failure) -> Bool {
    if left.isNil || right.isNil {
      let bothNil = left.isNil && right.isNil
      return switch relation {
      case .equal, .lessOrEqual, .greaterOrEqual: bothNil
      case .notEqual: !bothNil
      case .less, .greater: false
      }
    }
    return try isOrdered(relation, left, right)
  }

  private func isOrdered(
    _ relation: ComparisonPlan.Relation, _ left: Value, _ right: Value
  ) throws(Failure) -> Bool {
    if !folding.isEmpty, let left = left.comparableText, let right = right.comparableText {
      return try matcher(relation.textOperation, right).matches(left)
    }
    switch relation {
    case .equal: return Value.areEqual(left, right)
    case .notEqual: return !Value.areEqual(left, right)
    default: return relation.holds(Value.order(left, right))
    }
  }

  private func isMember(_ value: Value, of collection: Value) throws(Failure) -> Bool {
    if case .list(let list) = collection {
      for element in list.values where try holds(.equal, value, element) { return true }
      return false
    }
    return try matches(.contains, collection, value)
  }

  private func matches(
    _ operation: TextMatcher.Operation, _ value: Value, _ pattern: Value
  ) throws(Failure) -> Bool {
    guard let text = value.comparableText, let pattern = pattern.comparableText else { return false }
    return try matcher(operation, pattern).matches(text)
  }

  private func matcher(_ operation: TextMatcher.Operation, _ pattern: Text) throws(Failure) -> TextMatcher {
    if let matcher, matcher.operation == operation, matcher.pattern == pattern { return matcher }
    let compiled = try TextMatcher(operation, folding, pattern: pattern)
    matcher = compiled
    return compiled
  }
}
