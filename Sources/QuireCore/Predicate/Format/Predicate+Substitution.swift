extension Predicate {
  /// The predicate with a value for each of its variables. One that is missing is an error.
  func substituting(_ values: [String: Value]) throws(Failure) -> Predicate {
    try substituting(expressions: values.mapValues { .constant($0) })
  }

  /// The same with expressions, whose keys are those of the object under test. `paths` may know what keys behind a
  /// variable come to.
  func substituting(
    expressions: [String: Expression],
    paths: @escaping (String, [Key]) throws(Failure) -> Expression? = { (_, _) throws(Failure) in nil }
  ) throws(Failure) -> Predicate {
    let result = try Substitution(expressions: expressions, paths: paths).apply(self)
    try Substitution.checkHeight(result.height)
    return result
  }
}

extension Expression {
  func substituting(expressions: [String: Expression]) throws(Failure) -> Expression {
    let result = try Substitution(expressions: expressions).apply(self)
    try Substitution.checkHeight(result.height)
    return result
  }
}

extension Predicate {
  /// Both of them; a chain takes on one more. That the result is no higher than what the parser makes is checked.
  func joined(with other: Predicate) throws(Failure) -> Predicate {
    var parts = [self]
    if case .and(let chain) = self { parts = chain }
    // A chain is as high as its highest part, and one more.
    if PredicateParser.greatestHeight <= max(parts.count == 1 ? parts[0].height : 0, other.height) {
      throw Failure(
        .invalidPredicate,
        "Joined by AND, the predicates are nested more than \(PredicateParser.greatestHeight) deep.")
    }
    parts.append(other)
    return .and(parts)
  }
}

private struct Substitution {
  let expressions: [String: Expression]
  var paths: (String, [Key]) throws(Failure) -> Expression? = { (_, _) throws(Failure) in nil }
  /// The variables of the SUBQUERYs around a part, which stay, with the names that they have in the result.
  var bound: [String: String] = [:]

  /// Trees stay as low as the parser makes them, so that they can be read again and walked within any stack.
  static func checkHeight(_ height: Int) throws(Failure) {
    guard height <= PredicateParser.greatestHeight else {
      throw Failure(
        .invalidPredicate,
        "With its variables substituted the predicate is nested more than \(PredicateParser.greatestHeight) deep.")
    }
  }

  func apply(_ predicate: Predicate) throws(Failure) -> Predicate {
    switch predicate {
    case .constant: return predicate
    case .not(let part): return .not(try apply(part))
    case .and(let parts): return .and(try apply(parts))
    case .or(let parts): return .or(try apply(parts))
    case .comparison(var comparison):
      comparison.left = try apply(comparison.left)
      comparison.right = try apply(comparison.right)
      return .comparison(comparison)
    }
  }

  func apply(_ expression: Expression) throws(Failure) -> Expression {
    switch expression {
    case .constant, .selfObject, .anyKey, .keyPath, .argument: return expression
    case .variable(let name):
      if let kept = bound[name] { return .variable(kept) }
      return try value(of: name)
    case .path(.variable(let name), let keys) where bound[name] == nil:
      if let known = try paths(name, keys) { return known }
      return try appended(value(of: name), keys)
    case .path(let base, let keys): return try appended(apply(base), keys)
    case .variableKey(let base, let name):
      let base = try apply(base)
      if let kept = bound[name] { return .variableKey(base, kept) }
      let key = try value(of: name)
      guard case .text(let text)? = key.constantValue else {
        throw Failure(.invalidPredicate, "The variable $\(name) stands for a key and must be text, not \(key.text).")
      }
      return try appended(base, [Key(text.string)])
    case .function(let name, let parts): return .function(name, try apply(parts))
    case .list(let parts): return .aggregate(try apply(parts))
    case .index(let base, .expression(let index), let isGrouped):
      return .index(try apply(base), .expression(try apply(index)), isGrouped: isGrouped)
    case .index(let base, let index, let isGrouped): return .index(try apply(base), index, isGrouped: isGrouped)
    case .subquery(let collection, let variable, let condition):
      var inner = self
      let kept = name(keeping: variable, apartFromWhatComesInto: condition)
      inner.bound[variable] = kept
      return .subquery(try apply(collection), variable: kept, try inner.apply(condition))
    case .conditional(let condition, let first, let second):
      return .conditional(try apply(condition), try apply(first), try apply(second))
    case .set(let operation, let left, let right): return .set(operation, try apply(left), try apply(right))
    case .fetch(let parts): return .fetch(try apply(parts))
    case .assignment(let name, let value): return .assignment(name, try apply(value))
    }
  }

  private func appended(_ base: Expression, _ keys: [Key]) throws(Failure) -> Expression {
    let path = base.appending(keys)
    if let problem = path.keyProblem { throw Failure(.invalidPredicate, problem) }
    return path
  }

  /// A name for the variable of a SUBQUERY. It is another name where a substitute in its condition has a variable of
  /// the same name, which is one from outside.
  private func name(keeping variable: String, apartFromWhatComesInto condition: Predicate) -> String {
    var incoming: Set<String> = []
    for name in condition.freeVariables where name != variable {
      if let kept = bound[name] { incoming.insert(kept) }
      incoming.formUnion(expressions[name]?.freeVariables ?? [])
    }
    if !incoming.contains(variable) { return variable }
    incoming.formUnion(condition.variables)
    var number = 1
    while incoming.contains("\(variable)\(number)") { number += 1 }
    return "\(variable)\(number)"
  }

  private func value(of name: String) throws(Failure) -> Expression {
    guard let expression = expressions[name] else {
      throw Failure(.invalidPredicate, "There is no value for the variable $\(name); each variable needs one.")
    }
    return expression
  }

  private func apply(_ parts: [Predicate]) throws(Failure) -> [Predicate] {
    var results: [Predicate] = []
    for part in parts { results.append(try apply(part)) }
    return results
  }

  private func apply(_ parts: [Expression]) throws(Failure) -> [Expression] {
    var results: [Expression] = []
    for part in parts { results.append(try apply(part)) }
    return results
  }
}

extension Expression {
  /// The failure for a path of too many keys.
  var keyProblem: String? {
    keyCount <= ResolvedKeyPath.mostKeys
      ? nil : "The key path has \(keyCount) keys; it may have at most \(ResolvedKeyPath.mostKeys)."
  }

  /// How many keys follow one another.
  private var keyCount: Int {
    switch self {
    case .keyPath(let keys): keys.count
    case .path(let base, let keys): base.keyCount + keys.count
    case .variableKey(let base, _): base.keyCount + 1
    case .index(let base, _, _): base.keyCount
    default: 0
    }
  }

  /// The tree of keys behind an expression.
  func appending(_ more: [Key]) -> Expression {
    switch self {
    case .keyPath(let keys): .keyPath(keys + more)
    case .path(let base, let keys): .path(base, keys + more)
    default: .path(self, more)
    }
  }
}
