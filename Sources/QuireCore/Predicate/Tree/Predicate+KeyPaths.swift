extension Predicate {
  /// Every key path that starts at the object under test, each once. Those of variables do not.
  var keyPaths: [[String]] {
    var found: [[String]] = []
    collect(into: &found)
    return found
  }

  private func collect(into found: inout [[String]]) {
    for side in sides { side.collect(into: &found) }
  }
}

extension Expression {
  fileprivate func collect(into found: inout [[String]]) {
    switch self {
    case .keyPath(let path), .path(.selfObject, let path):
      let names = path.names
      if !found.contains(names) { found.append(names) }
    default:
      for part in parts { part.collect(into: &found) }
    }
  }
}
