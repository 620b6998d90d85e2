extension Projection {
  /// The same with dates in place of the texts that are compared with dates. Names of columns may stand for what these
  /// have, in the condition for groups.
  func readingDates(of entity: Entity, in store: Text) throws(Failure) -> Projection {
    var result = self
    for place in columns.indices {
      if case .keyPath = columns[place].expression { continue }
      let bound = try BoundExpression(columns[place].expression, to: entity, of: store)
      result.columns[place] = Column(name: columns[place].name, expression: bound.expression)
    }
    guard let having else { return result }
    var named: [String: Expression] = [:]
    for column in result.columns {
      named[column.name] = (try? BoundExpression(column.expression, to: entity, of: store))?.expression
    }
    result.having = try having.readingDates { expression in
      switch expression {
      case .variable(let name): named[name] ?? expression
      case .keyPath(let keys) where keys.count == 1 && named[keys[0].name] != nil: named[keys[0].name] ?? expression
      // What cannot be bound, the statement says.
      default: (try? BoundExpression(expression, to: entity, of: store))?.expression ?? expression
      }
    }
    return result
  }
}

extension Predicate {
  /// `bound` returns what a side stands for.
  fileprivate func readingDates(_ bound: (Expression) -> Expression) throws(Failure) -> Predicate {
    switch self {
    case .constant: return self
    case .not(let part): return .not(try part.readingDates(bound))
    case .and(let parts): return .and(try Predicate.readingDates(parts, bound))
    case .or(let parts): return .or(try Predicate.readingDates(parts, bound))
    case .comparison(let comparison): return .comparison(try comparison.readingDates(bound))
    }
  }

  private static func readingDates(
    _ parts: [Predicate], _ bound: (Expression) -> Expression
  ) throws(Failure) -> [Predicate] {
    var result: [Predicate] = []
    for part in parts { result.append(try part.readingDates(bound)) }
    return result
  }
}

extension Comparison {
  fileprivate func readingDates(_ bound: (Expression) -> Expression) throws(Failure) -> Comparison {
    var typed = self
    typed.left = bound(left)
    typed.right = bound(right)
    let dated = try typed.readingDates()
    var result = self
    if dated.left != typed.left { result.left = dated.left }
    if dated.right != typed.right { result.right = dated.right }
    return result
  }
}
