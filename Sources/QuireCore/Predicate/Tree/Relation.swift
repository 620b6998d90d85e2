/// The relations that values are compared by.
enum Relation {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  init?(_ operation: Comparison.Operator) {
    switch operation {
    case .lessThan: self = .less
    case .lessThanOrEqual: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqual: self = .greaterOrEqual
    case .equal: self = .equal
    case .notEqual: self = .notEqual
    default: return nil
    }
  }

  /// The relation with its sides exchanged.
  var mirrored: Relation {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  var isOrdering: Bool { self != .equal && self != .notEqual }

  /// Whether the relation holds for an order; false when there is none.
  func holds(_ order: Int?) -> Bool {
    guard let order else { return false }
    return switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  var textOperation: TextMatcher.Operation {
    switch self {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }
}

extension TextMatcher.Operation {
  /// The operation of an operator that is about text alone; CONTAINS may be about lists too.
  init?(_ operation: Comparison.Operator) {
    switch operation {
    case .matches: self = .matches
    case .like: self = .like
    case .beginsWith: self = .beginsWith
    case .endsWith: self = .endsWith
    default: return nil
    }
  }
}
