extension Predicate {
  /// The sides of its comparisons, from left to right.
  var sides: [Expression] {
    switch self {
    case .constant: []
    case .comparison(let comparison): [comparison.left, comparison.right]
    case .not(let part): part.sides
    case .and(let parts), .or(let parts): parts.flatMap(\.sides)
    }
  }

  /// How deep the tree is, counted as the parser counts.
  var height: Int {
    switch self {
    case .constant: 1
    case .comparison(let comparison): max(comparison.left.height, comparison.right.height) + 1
    case .not(let part): part.height + 1
    case .and(let parts), .or(let parts): parts.reduce(0) { max($0, $1.height) } + 1
    }
  }
}

extension Expression {
  /// The expressions that it is made of, with the sides of its condition, if it has one.
  var parts: [Expression] {
    switch self {
    case .constant, .selfObject, .anyKey, .variable, .keyPath, .argument: []
    case .path(let base, _), .variableKey(let base, _), .assignment(_, let base): [base]
    case .function("objectFrom:withIndex:", let parts) where parts.count == 2:
      Expression.index(parts[0], Index(argument: parts[1]), isGrouped: true).parts
    case .function(_, let parts), .list(let parts), .fetch(let parts): parts
    case .index(let base, .expression(let index), _): [base, index]
    case .index(let base, _, _): [base]
    case .subquery(let collection, _, let condition): [collection] + condition.sides
    case .conditional(let condition, let first, let second): condition.sides + [first, second]
    case .set(_, let left, let right): [left, right]
    }
  }

  var height: Int {
    switch self {
    case .constant(let constant): constant.value.height
    // Not by the parts, in which the sides of the condition would be looked at once more.
    case .subquery(let collection, _, let condition): max(collection.height, condition.height) + 1
    case .conditional(let condition, let first, let second): max(condition.height, first.height, second.height) + 1
    default: parts.reduce(0) { max($0, $1.height) } + 1
    }
  }
}

extension Expression {
  /// Whether it has the same value each time that it is evaluated for the same object.
  var isPure: Bool {
    switch self {
    case .assignment: return false
    case .function(let name, _) where !FunctionTable.isPure(name): return false
    default: return parts.allSatisfy(\.isPure)
    }
  }
}

extension Expression {
  /// Whether it calls a function of the program.
  var callsProgram: Bool {
    if case .function(let name, _) = self, FunctionRegistry.function(named: name) != nil { return true }
    return parts.contains(where: \.callsProgram)
  }
}

extension Value {
  /// How deep it is where it is written out: lists are written with their parts.
  fileprivate var height: Int {
    guard case .list(let list) = self else { return 1 }
    return (list.values.map(\.height).max() ?? 0) + 1
  }
}
