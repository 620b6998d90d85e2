/// A fetch of ids that ran before, and may run again.
final class KeptQuery {
  fileprivate let stamp: UInt64
  let query: BoundQuery
  let compiled: any CompiledFetch

  fileprivate init(_ stamp: UInt64, _ query: BoundQuery, _ compiled: any CompiledFetch) {
    self.stamp = stamp
    self.query = query
    self.compiled = compiled
  }
}

extension Context {
  /// The request's query, resolved and compiled once while the same request is repeated. nil for a request that is not
  /// worth keeping, or does not allow it.
  func keptQuery(for request: FetchRequest) throws(Failure) -> KeptQuery? {
    if request.resultType != .ids || request.cancellation != nil || request.progress != nil { return nil }
    if let kept = lastQuery as? KeptQuery, kept.stamp == request.stamp { return kept }
    let query = try BoundQuery(request, in: self)
    guard query.predicate?.predicate.compilesAlike ?? true else { return nil }
    let kept = KeptQuery(request.stamp, query, try source.moment.compiled(window(query.plan(), request)))
    lastQuery = kept
    return kept
  }
}

extension Predicate {
  /// Whether its SQL depends on the model alone. It must not depend on the moment, on functions that a program may
  /// register anew, on objects that may be saved meanwhile, or on the contents of a text index.
  fileprivate var compilesAlike: Bool {
    switch self {
    case .constant: true
    case .not(let part): part.compilesAlike
    case .and(let parts), .or(let parts): parts.allSatisfy(\.compilesAlike)
    case .comparison(let comparison):
      comparison.modifier == .direct && comparison.options.isEmpty && comparison.operator.isRelation
        && comparison.left.compilesAlike && comparison.right.compilesAlike
    }
  }
}

extension Expression {
  fileprivate var compilesAlike: Bool {
    switch self {
    case .keyPath: true
    case .constant(let constant):
      switch constant.value {
      case .object, .list: false
      default: true
      }
    default: false
    }
  }
}

extension Comparison.Operator {
  fileprivate var isRelation: Bool {
    switch self {
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: true
    default: false
    }
  }
}
