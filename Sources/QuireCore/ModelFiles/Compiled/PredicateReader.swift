/// Predicates and expressions of archives. What the language does not have keeps the name of its class or function, and
/// is refused where it is evaluated.
struct PredicateReader {
  let limit: ReadingLimit

  func predicate(_ node: ArchiveNode) throws(Failure) -> Predicate { try predicate(node, depth: 0) }

  func expression(_ node: ArchiveNode?) throws(Failure) -> Expression { try expression(node, depth: 0) }

  /// The archive may have a predicate within itself.
  private func enter(_ depth: Int) throws(Failure) {
    try limit.take()
    if depth >= PredicateParser.greatestHeight {
      throw Failure(
        .invalidModel, "A predicate of the model is nested more than \(PredicateParser.greatestHeight) deep.")
    }
  }

  private func predicate(_ node: ArchiveNode?, depth: Int) throws(Failure) -> Predicate {
    try enter(depth)
    guard let node, let name = node.className else { return .unreadable("a predicate that is missing") }
    switch name {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSComparisonPredicate": return try comparison(node, depth)
    case "NSCompoundPredicate":
      var parts: [Predicate] = []
      for part in node["NSSubpredicates"]?.elements ?? [] { parts.append(try predicate(part, depth: depth + 1)) }
      switch node["NSCompoundPredicateType"]?.integer {
      case 0: return parts.count == 1 ? .not(parts[0]) : .unreadable("NOT of \(parts.count) predicates")
      case 1: return .and(parts)
      case 2: return .or(parts)
      default: return .unreadable(name)
      }
    default: return .unreadable(name)
    }
  }

  private func comparison(_ node: ArchiveNode, _ depth: Int) throws(Failure) -> Predicate {
    guard let how = node["NSPredicateOperator"], let number = how["NSOperatorType"]?.integer,
      let relation = UInt32(exactly: number).flatMap(Comparison.Operator.init)
    else { return .unreadable("a comparison of an unknown kind") }
    let modifier = how["NSModifier"]?.integer.flatMap { UInt32(exactly: $0) } ?? 0
    // Operators of texts have them under the other key.
    let options = (how["NSOptions"] ?? how["NSFlags"])?.integer.flatMap { UInt32(exactly: $0) } ?? 0
    var comparison = Comparison(
      left: try expression(node["NSLeftExpression"], depth: depth + 1), operator: relation,
      right: try expression(node["NSRightExpression"], depth: depth + 1))
    guard let known = Comparison.Modifier(rawValue: modifier) else { return .unreadable("the modifier \(modifier)") }
    comparison.modifier = known
    comparison.options = Comparison.Options(rawValue: options & PredicateReader.knownOptions)
    if relation == .custom { comparison.customOperator = how["NSSelector"]?.text ?? how.className ?? "" }
    return .comparison(comparison)
  }

  private static let knownOptions: UInt32 = 15

  // MARK: Expressions

  private func expression(_ node: ArchiveNode?, depth: Int) throws(Failure) -> Expression {
    try enter(depth)
    guard let node else { return .constant(.nil) }
    switch node.className {
    case "NSConstantValueExpression": return .constant(try constant(node["NSConstantValue"], depth: depth))
    case "NSSelfExpression": return .selfObject
    case "NSAnyKeyExpression": return .anyKey
    case "NSVariableExpression": return .variable(node["NSVariable"]?.text ?? "")
    case "NSKeyPathSpecifierExpression": return .keyPath(try keys(node["NSKeyPath"]?.text ?? ""))
    case "NSKeyPathExpression", "NSFunctionExpression": return try call(node, depth)
    case "NSAggregateExpression":
      var parts: [Expression] = []
      for part in node["NSCollection"]?.elements ?? [] { parts.append(try expression(part, depth: depth + 1)) }
      return .aggregate(parts)
    case "NSSubqueryExpression":
      let variable = node["NSVariable"]?.text ?? node["NSVariableExpression"]?["NSVariable"]?.text
      guard let variable, let collection = node["NSCollection"] ?? node["NSExpression"] else { break }
      return .subquery(
        try expression(collection, depth: depth + 1), variable: variable,
        try predicate(node["NSPredicate"], depth: depth + 1))
    case "NSTernaryExpression":
      guard let first = node["NSTrueExpression"], let second = node["NSFalseExpression"] else { break }
      return .conditional(
        try predicate(node["NSPredicate"], depth: depth + 1), try expression(first, depth: depth + 1),
        try expression(second, depth: depth + 1))
    case "NSSetExpression":
      guard let operation = PredicateReader.setOperation(node["NSExpressionType"]?.integer) else { break }
      return .set(
        operation, try expression(node["NSLeftExpression"], depth: depth + 1),
        try expression(node["NSRightExpression"], depth: depth + 1))
    default: break
    }
    return .function(node.className ?? "expression", [])
  }

  /// The numbers are Core Data's for the kinds of expressions.
  private static func setOperation(_ kind: Int64?) -> Expression.SetOperation? {
    switch kind {
    case 5: .union
    case 6: .intersect
    case 7: .minus
    default: nil
    }
  }

  private func constant(_ node: ArchiveNode?, depth: Int) throws(Failure) -> Value {
    try enter(depth)
    guard let node else { return .nil }
    if let single = node.single { return single }
    guard let elements = node.elements else { return .text("\(node.className ?? "an object")") }
    var values: [Value] = []
    for element in elements { values.append(try constant(element, depth: depth + 1)) }
    return .list(values)
  }

  /// A key path is a call of `valueForKey:`.
  private func call(_ node: ArchiveNode, _ depth: Int) throws(Failure) -> Expression {
    let selector = node["NSSelectorName"]?.text ?? ""
    let target = node["NSOperand"], given = node["NSArguments"]?.elements ?? []
    if selector == "valueForKey:" || selector == "valueForKeyPath:" {
      let base = try expression(target, depth: depth + 1)
      guard given.count == 1 else { return .function(selector, [base]) }
      if let path = given[0]["NSKeyPath"]?.text { return base.following(try keys(path)) }
      if given[0].className == "NSVariableExpression" {
        return .variableKey(base, given[0]["NSVariable"]?.text ?? "")
      }
      return .function(selector, [base, try expression(given[0], depth: depth + 1)])
    }
    if selector == "objectFrom:withIndex:", given.count == 2 {
      let base = try expression(given[0], depth: depth + 1)
      return .index(base, try index(given[1], depth), isGrouped: false)
    }
    // Functions of the language are called on a class, which is the constant of no value; others on their first part.
    var parts: [Expression] = []
    if target?["NSConstantValueClassName"]?.text == nil { parts.append(try expression(target, depth: depth + 1)) }
    for each in given { parts.append(try expression(each, depth: depth + 1)) }
    return .function(selector, parts)
  }

  private func index(_ node: ArchiveNode, _ depth: Int) throws(Failure) -> Expression.Index {
    if node.className == "NSSymbolicExpression" {
      switch node["NSSymbol"]?.text ?? node["NSToken"]?.text {
      case "FIRST": return .first
      case "LAST": return .last
      case "SIZE": return .size
      default: break
      }
    }
    return .expression(try expression(node, depth: depth + 1))
  }

  private func keys(_ path: String) throws(Failure) -> [Key] {
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    try limit.take(names.count)
    return names.map { Key(String($0)) }
  }
}

extension Expression {
  /// The keys of what this one is.
  fileprivate func following(_ keys: [Key]) -> Expression {
    switch self {
    case .selfObject: .keyPath(keys)
    case .keyPath(let path): .keyPath(path + keys)
    case .path(let base, let path): .path(base, path + keys)
    default: .path(self, keys)
    }
  }
}

extension Predicate {
  private static let unreadableOperator = "UNREADABLE"

  /// Stands for a predicate of a file that the language does not have. It prints, and every use of it is refused.
  static func unreadable(_ text: String) -> Predicate {
    .comparison(
      Comparison(
        left: .selfObject, operator: .custom, right: .constant(.text(text)), customOperator: unreadableOperator))
  }

  /// What such a predicate stands for; nil for others.
  var unreadableText: String? {
    guard case .comparison(let comparison) = self, comparison.customOperator == Predicate.unreadableOperator,
      case .text(let text)? = comparison.right.constantValue
    else { return nil }
    return text.string
  }
}
