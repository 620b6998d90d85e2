extension ComparisonPlan {
  /// Refuses what SQL does not carry out yet, in words that name the part.
  static func checkSupported(_ comparison: Comparison) throws(Failure) {
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
      if try Arithmetic.fold(expression) == nil { throw unsupported(expression) }
    default: throw unsupported(expression)
    }
  }

  static func unsupported(_ part: String, _ comparison: Comparison) -> Failure {
    Failure(
      .unsupported,
      "\(part.prefix(1).uppercased())\(part.dropFirst()), used in "
        + "\(Predicate.comparison(comparison).text), is not supported yet.")
  }

  static func unsupported(_ expression: Expression) -> Failure {
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
  /// SQLite reads about ninety open parentheses at most.
  private static let greatestCompoundDepth = 40
  private static let mostConstants = 30_000

  /// Throws for everything that SQL does not carry out; whoever fetches calls it before it starts.
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
