/// The query of a request that ran before, and may run again.
private final class KeptQuery {
  let stamp: UInt64
  let query: FetchQuery

  init(_ stamp: UInt64, _ query: FetchQuery) {
    self.stamp = stamp
    self.query = query
  }
}

extension Context {
  /// The request's query, resolved and compiled once while the same request is asked again and again.
  func query(for request: FetchRequest) throws(Failure) -> FetchQuery {
    if let kept = lastQuery as? KeptQuery, kept.stamp == request.stamp {
      var query = kept.query
      query.monitor = FetchMonitor(of: request.entityName, request.cancellation, request.progress, in: self)
      return query
    }
    var query = try FetchQuery(request, in: self)
    guard request.resultType == .ids, query.predicate?.compilesAlike ?? true else { return query }
    query.compiled = try FetchSQL(window(query.plan(), request), schema: store.schema)
    var kept = query
    kept.monitor = nil
    lastQuery = KeptQuery(request.stamp, kept)
    return query
  }
}

extension Predicate {
  /// Whether its SQL depends on nothing but the model: not on the moment, on functions that a program may register
  /// anew, on objects that may be saved meanwhile, or on what a text index holds.
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
