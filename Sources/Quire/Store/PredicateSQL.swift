/// A column that a key path leads to.
struct SQLColumn {
  var sql: String
  var type: ColumnType
}

/// A predicate as a WHERE clause that gives, for every saved row, the answer that memory gives.
///
/// Parameters are plain question marks; `arguments` are in their order. Comparisons that stand under AND alone are
/// bare (`=`, ranges), so that indexes serve them; under NOT they are made two-valued. The connection must have
/// the functions of `PredicateFunctions`.
struct PredicateSQL {
  let sql: String
  let arguments: [Value]

  typealias Resolver = ([String]) throws(Failure) -> SQLColumn

  /// The empty key path that `column` may be asked for is the object itself: its primary key.
  static func compile(_ predicate: Predicate, column: @escaping Resolver) throws(Failure) -> PredicateSQL {
    try predicate.checkSupported()
    try predicate.checkTypes { (keys) throws(Failure) in try column(keys).type }
    let fragment = try fragment(predicate, column)
    return PredicateSQL(sql: fragment.sql, arguments: fragment.arguments)
  }

  private static func fragment(_ predicate: Predicate, _ column: @escaping Resolver) throws(Failure) -> SQLFragment {
    switch predicate {
    case .constant(let holds): return .constant(holds)
    case .not(let part): return try fragment(part, column).negated
    case .and(let parts): return .chain(.and, try fragments(parts, column))
    case .or(let parts): return .chain(.or, try fragments(parts, column))
    case .comparison(let comparison):
      return try ComparisonSQL(ComparisonPlan(comparison), column).fragment()
    }
  }

  private static func fragments(_ parts: [Predicate], _ column: @escaping Resolver) throws(Failure) -> [SQLFragment] {
    var fragments: [SQLFragment] = []
    for part in parts { fragments.append(try fragment(part, column)) }
    return fragments
  }
}
