/// A predicate made ready to be evaluated.
indirect enum PredicateNode {
  case constant(Bool)
  case not(PredicateNode)
  case and([PredicateNode])
  case or([PredicateNode])
  case test(ComparisonTest)

  init(_ predicate: Predicate) throws(Failure) {
    switch predicate {
    case .constant(let holds): self = .constant(holds)
    case .comparison(let comparison): self = .test(try ComparisonTest(comparison))
    case .not(let part): self = .not(try PredicateNode(part))
    case .and(let parts): self = .and(try PredicateNode.nodes(Predicate.gathered(and: parts)))
    case .or(let parts): self = .or(try PredicateNode.nodes(Predicate.gathered(or: parts)))
    }
  }

  private static func nodes(_ parts: [Predicate]) throws(Failure) -> [PredicateNode] {
    var nodes: [PredicateNode] = []
    for part in parts { nodes.append(try PredicateNode(part)) }
    return nodes
  }

  func holds(_ scope: inout Scope) throws(Failure) -> Bool {
    switch self {
    case .constant(let holds): return holds
    case .not(let part): return try !part.holds(&scope)
    case .and(let parts):
      for part in parts where try !part.holds(&scope) { return false }
      return true
    case .or(let parts):
      for part in parts where try part.holds(&scope) { return true }
      return false
    case .test(let test): return try test.holds(&scope)
    }
  }
}
