/// A predicate made ready for many objects: constants folded, patterns compiled. For one thread at a time.
final class PredicateEvaluator {
  private indirect enum Node {
    case constant(Bool)
    case not(Node)
    case and([Node])
    case or([Node])
    case test(ComparisonTest)
  }

  private let root: Node

  /// Throws `unsupported` for the parts that neither memory nor SQL carries out.
  init(_ predicate: Predicate) throws(Failure) {
    try predicate.checkSupported()
    root = try PredicateEvaluator.compile(predicate)
  }

  func matches(_ subject: some PropertySource) throws(Failure) -> Bool {
    try PredicateEvaluator.matches(root, subject)
  }

  private static func compile(_ predicate: Predicate) throws(Failure) -> Node {
    switch predicate {
    case .constant(let holds): return .constant(holds)
    case .comparison(let comparison): return .test(try ComparisonTest(ComparisonPlan(comparison)))
    case .not(let part): return .not(try compile(part))
    case .and(let parts): return .and(try compile(parts))
    case .or(let parts): return .or(try compile(parts))
    }
  }

  private static func compile(_ parts: [Predicate]) throws(Failure) -> [Node] {
    var nodes: [Node] = []
    for part in parts { nodes.append(try compile(part)) }
    return nodes
  }

  private static func matches(_ node: Node, _ subject: some PropertySource) throws(Failure) -> Bool {
    switch node {
    case .constant(let holds): return holds
    case .not(let part): return try !matches(part, subject)
    case .and(let parts):
      for part in parts where try !matches(part, subject) { return false }
      return true
    case .or(let parts):
      for part in parts where try matches(part, subject) { return true }
      return false
    case .test(let test): return try test.matches(subject)
    }
  }
}

extension Predicate {
  /// Tests one object; for many, keep a `PredicateEvaluator`.
  func matches(_ subject: some PropertySource) throws(Failure) -> Bool {
    try PredicateEvaluator(self).matches(subject)
  }
}
