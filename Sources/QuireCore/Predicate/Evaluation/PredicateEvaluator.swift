/// A predicate made ready for many objects: constants folded, patterns compiled. For one thread at a time.
final class PredicateEvaluator {
  private let root: PredicateNode

  /// Throws what can be known before any object is: malformed patterns, parts of the language that nothing evaluates.
  init(_ predicate: Predicate) throws(Failure) { root = try PredicateNode(predicate) }

  /// `variables` are the values of those that the predicate leaves open.
  func matches(_ subject: any PropertySource, variables: [String: Item] = [:]) throws(Failure) -> Bool {
    try matches(.subject(subject), variables: variables)
  }

  func matches(_ item: Item, variables: [String: Item] = [:]) throws(Failure) -> Bool {
    var scope = Scope(subject: item, variables: variables)
    return try root.holds(&scope)
  }
}

extension Predicate {
  /// Tests one object; for many, keep a `PredicateEvaluator`.
  func matches(_ subject: any PropertySource) throws(Failure) -> Bool {
    try PredicateEvaluator(self).matches(subject)
  }
}
