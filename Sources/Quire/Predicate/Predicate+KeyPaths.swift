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
      for side in [comparison.left, comparison.right] {
        if case .keyPath(let path) = side, !found.contains(path) { found.append(path) }
      }
    case .not(let part): part.collect(into: &found)
    case .and(let parts), .or(let parts): for part in parts { part.collect(into: &found) }
    }
  }
}
