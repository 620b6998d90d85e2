/// A comparison reduced to what SQL carries out.
struct ComparisonPlan {
  enum Operand {
    case constant(Value)
    /// Keys from the object; none for the object itself.
    case keyPath([String])
  }

  enum Test {
    case relation(Relation, Operand, Operand)
    case between(Operand, low: Operand, high: Operand)
    /// Membership in a list written out.
    case member(Operand, of: [Operand])
    /// `a IN key`, where the value of the key decides: membership in a list, or being part of a text.
    case memberOfKey(Operand, of: [String])
    /// `key CONTAINS a`, where the value of the key decides likewise.
    case contains([String], Operand)
    case text(TextMatcher.Operation, Operand, pattern: Operand)
  }

  let test: Test
  let folding: TextFolding

  init(test: Test, folding: TextFolding) {
    self.test = test
    self.folding = folding
  }

  init(_ comparison: Comparison) throws(Failure) {
    try ComparisonPlan.checkSupported(comparison)
    folding = comparison.options.folding
    let left = try ComparisonPlan.operand(comparison.left)
    if let relation = Relation(comparison.operator) {
      test = .relation(relation, left, try ComparisonPlan.operand(comparison.right))
      return
    }
    if let operation = TextMatcher.Operation(comparison.operator) {
      test = .text(operation, left, pattern: try ComparisonPlan.operand(comparison.right))
      return
    }
    switch comparison.operator {
    case .between:
      guard let bounds = try ComparisonPlan.parts(comparison.right), bounds.count == 2 else {
        throw Failure(
          .invalidPredicate,
          "BETWEEN needs a list of exactly two bounds, and has \(comparison.right.text).")
      }
      test = .between(left, low: bounds[0], high: bounds[1])
    case .isIn: test = try ComparisonPlan.membership(left, comparison.right)
    case .contains:
      switch left {
      case .keyPath(let keys): test = .contains(keys, try ComparisonPlan.operand(comparison.right))
      case .constant(.list):
        let parts = try ComparisonPlan.parts(comparison.left) ?? []
        test = .member(try ComparisonPlan.operand(comparison.right), of: parts)
      case .constant: test = .text(.contains, left, pattern: try ComparisonPlan.operand(comparison.right))
      }
    default: throw ComparisonPlan.unsupported("the operator \(comparison.customOperator)", comparison)
    }
  }

  private static func membership(_ left: Operand, _ right: Expression) throws(Failure) -> Test {
    if let parts = try parts(right) { return .member(left, of: parts) }
    switch try operand(right) {
    case .keyPath(let keys): return .memberOfKey(left, of: keys)
    case .constant(let value):
      guard value.isNil || value.comparableText != nil else {
        throw Failure(.invalidPredicate, "IN needs a list or text on its right side, and has \(right.text).")
      }
      return .text(.contains, .constant(value), pattern: left)
    }
  }

  /// The parts of a list, or nil when the expression is none.
  private static func parts(_ expression: Expression) throws(Failure) -> [Operand]? {
    switch expression {
    case .list(let parts):
      var operands: [Operand] = []
      for part in parts { operands.append(try operand(part)) }
      return operands
    case .constant(let constant):
      guard case .list(let list) = constant.value else { return nil }
      return list.values.map { .constant($0) }
    default: return nil
    }
  }

  private static func operand(_ expression: Expression) throws(Failure) -> Operand {
    if let value = try Arithmetic.fold(expression) { return .constant(value) }
    switch expression {
    case .selfObject: return .keyPath([])
    case .keyPath(let keys), .path(.selfObject, let keys): return .keyPath(keys)
    default: throw unsupported(expression)
    }
  }
}
