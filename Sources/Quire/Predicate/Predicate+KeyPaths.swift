extension Predicate {
  /// Every key path that starts at the object under test, each once.
  var keyPaths: [[String]] {
    var found: [[String]] = []
    collect(into: &found)
    return found
  }

  private func collect(into found: inout [[String]]) {
    switch self {
    case .constant: break
    case .comparison(let comparison):
      Predicate.collect(comparison.left, into: &found)
      Predicate.collect(comparison.right, into: &found)
    case .not(let part): part.collect(into: &found)
    case .and(let parts), .or(let parts): for part in parts { part.collect(into: &found) }
    }
  }

  private static func collect(_ expression: Expression, into found: inout [[String]]) {
    switch expression {
    case .keyPath(let path), .path(.selfObject, let path):
      if !found.contains(path) { found.append(path) }
    case .list(let parts):
      for part in parts { collect(part, into: &found) }
    default: break
    }
  }
}
