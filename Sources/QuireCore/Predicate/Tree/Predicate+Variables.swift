extension Predicate {
  /// The variables that need a value in a substitution, each once, in the order in which they are written.
  var freeVariables: [String] {
    var found: [String] = []
    for side in sides { side.collectVariables(besides: [], into: &found) }
    return found
  }

  /// The names of all variables, those of SUBQUERYs among them.
  var variables: Set<String> {
    var found: Set<String> = []
    for side in sides { side.collectNames(into: &found) }
    return found
  }
}

extension Expression {
  var freeVariables: [String] {
    var found: [String] = []
    collectVariables(besides: [], into: &found)
    return found
  }

  fileprivate func collectNames(into found: inout Set<String>) {
    switch self {
    case .variable(let name), .variableKey(_, let name), .subquery(_, variable: let name, _), .assignment(let name, _):
      found.insert(name)
    default: break
    }
    for part in parts { part.collectNames(into: &found) }
  }

  fileprivate func collectVariables(besides bound: Set<String>, into found: inout [String]) {
    func note(_ name: String) {
      if !bound.contains(name), !found.contains(name) { found.append(name) }
    }
    switch self {
    case .variable(let name): note(name)
    case .variableKey(let base, let name):
      base.collectVariables(besides: bound, into: &found)
      note(name)
    case .subquery(let collection, let variable, let condition):
      collection.collectVariables(besides: bound, into: &found)
      for side in condition.sides { side.collectVariables(besides: bound.union([variable]), into: &found) }
    default:
      for part in parts { part.collectVariables(besides: bound, into: &found) }
    }
  }
}
