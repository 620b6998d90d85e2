/// A comparison reduced to what memory and SQL both carry out. Both start from plans, so both refuse the same.
struct ComparisonPlan {
  enum Operand {
    case constant(Value)
    /// Keys from the object; none for the object itself.
    case keyPath([String])
  }

  enum Relation {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The relation with its sides exchanged.
    var mirrored: Relation {
      switch self {
      case .equal, .notEqual: self
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      }
    }

    var isOrdering: Bool { self != .equal && self != .notEqual }

    /// What the relation says of an order; false when there is none.
    func holds(_ order: Int?) -> Bool {
      guard let order else { return false }
      return switch self {
      case .equal: order == 0
      case .notEqual: order != 0
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      case .greaterOrEqual: order >= 0
      }
    }

    var textOperation: TextMatcher.Operation {
      switch self {
      case .equal: .equal
      case .notEqual: .notEqual
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      }
    }
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
    switch comparison.operator {
    case .lessThan: test = .relation(.less, left, try ComparisonPlan.operand(comparison.right))
    case .lessThanOrEqual: test = .relation(.lessOrEqual, left, try ComparisonPlan.operand(comparison.right))
    case .greaterThan: test = .relation(.greater, left, try ComparisonPlan.operand(comparison.right))
    case .greaterThanOrEqual:
      test = .relation(.greaterOrEqual, left, try ComparisonPlan.operand(comparison.right))
    case .equal: test = .relation(.equal, left, try ComparisonPlan.operand(comparison.right))
    case .notEqual: test = .relation(.notEqual, left, try ComparisonPlan.operand(comparison.right))
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
    case .matches: test = .text(.matches, left, pattern: try ComparisonPlan.operand(comparison.right))
    case .like: test = .text(.like, left, pattern: try ComparisonPlan.operand(comparison.right))
    case .beginsWith: test = .text(.beginsWith, left, pattern: try ComparisonPlan.operand(comparison.right))
    case .endsWith: test = .text(.endsWith, left, pattern: try ComparisonPlan.operand(comparison.right))
    case .custom: throw ComparisonPlan.unsupported("the operator \(comparison.customOperator)", comparison)
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
    if let value = try ConstantArithmetic.fold(expression) { return .constant(value) }
    switch expression {
    case .selfObject: return .keyPath([])
    case .keyPath(let keys), .path(.selfObject, let keys): return .keyPath(keys)
    default: throw unsupported(expression)
    }
  }
}

extension ComparisonPlan {
  /// Refuses what is not carried out yet, in words that name the part.
  private static func checkSupported(_ comparison: Comparison) throws(Failure) {
    if comparison.modifier != .direct {
      throw unsupported("\(comparison.modifier == .any ? "ANY" : "ALL") and the other quantifiers", comparison)
    }
    if comparison.operator == .custom {
      throw unsupported("the operator \(comparison.customOperator)", comparison)
    }
    if comparison.options.contains(.localeSensitive) { throw unsupported("the option [l]", comparison) }
    if comparison.options.contains(.word) { throw unsupported("the option [w]", comparison) }
    for side in [comparison.left, comparison.right] {
      if case .list(let parts) = side {
        for part in parts { try checkSupported(part) }
      } else {
        try checkSupported(side)
      }
    }
    if case .list = comparison.left { throw unsupported("a list with keys on the left side", comparison) }
    if case .list = comparison.right, comparison.operator != .between, comparison.operator != .isIn {
      throw unsupported("a list with keys beside anything but IN and BETWEEN", comparison)
    }
  }

  private static func checkSupported(_ expression: Expression) throws(Failure) {
    switch expression {
    case .constant, .selfObject: return
    case .keyPath(let keys), .path(.selfObject, let keys):
      if let key = keys.first(where: { $0.hasPrefix("@") }) {
        throw Failure(.unsupported, "The collection operator \(key) in \(expression.text) is not supported yet.")
      }
    case .function:
      if try ConstantArithmetic.fold(expression) == nil { throw unsupported(expression) }
    default: throw unsupported(expression)
    }
  }

  private static func unsupported(_ part: String, _ comparison: Comparison) -> Failure {
    Failure(
      .unsupported, "\(part.prefix(1).uppercased())\(part.dropFirst()), used in "
        + "\(Predicate.comparison(comparison).text), is not supported yet.")
  }

  private static func unsupported(_ expression: Expression) -> Failure {
    let kind: String
    switch expression {
    case .anyKey: kind = "ANYKEY"
    case .variable: kind = "A variable that nothing was substituted for"
    case .variableKey: kind = "A key from a variable"
    case .path: kind = "A key of a calculated value"
    case .function(let name, _):
      kind = Function.infixSign(of: name) == nil ? "The function \(name)" : "Arithmetic with keys"
    case .call: kind = "FUNCTION"
    case .list: kind = "A list inside a list with keys"
    case .index: kind = "An index"
    case .subquery: kind = "SUBQUERY"
    case .conditional: kind = "TERNARY"
    case .set(let operation, _, _): kind = operation.rawValue
    case .fetch: kind = "FETCH"
    case .assignment: kind = "An assignment"
    case .constant, .selfObject, .keyPath: kind = "This"
    }
    return Failure(.unsupported, "\(kind), used in \(expression.text), is not supported yet.")
  }
}

extension Predicate {
  /// SQLite reads about ninety open parentheses at most, and memory refuses what SQL does.
  private static let greatestCompoundDepth = 40
  private static let mostConstants = 30_000

  /// Throws for everything that neither memory nor SQL carries out; both call it before they start.
  func checkSupported() throws(Failure) {
    var constants = 0
    try checkSupported(depth: 0, &constants)
  }

  private func checkSupported(depth: Int, _ constants: inout Int) throws(Failure) {
    guard depth <= Predicate.greatestCompoundDepth else {
      throw Failure(
        .unsupported,
        "The predicate nests AND, OR and NOT more than \(Predicate.greatestCompoundDepth) deep; nest them less.")
    }
    switch self {
    case .constant: return
    case .comparison(let comparison):
      _ = try ComparisonPlan(comparison)
      constants += comparison.constantCount
      guard constants <= Predicate.mostConstants else {
        throw Failure(
          .unsupported,
          "The predicate compares with more than \(Predicate.mostConstants) constants; put them in a list for IN.")
      }
    case .not(let part): try part.checkSupported(depth: depth + 1, &constants)
    case .and(let parts), .or(let parts):
      for part in parts { try part.checkSupported(depth: depth + 1, &constants) }
    }
  }
}

extension Comparison {
  /// Constants outside of lists, which SQL passes one by one.
  fileprivate var constantCount: Int {
    if case .list(let parts) = right { return parts.count + 1 }
    return 2
  }
}
