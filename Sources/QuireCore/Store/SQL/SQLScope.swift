/// What the names in a part of a predicate stand for.
struct SQLScope {
  enum Variable {
    /// The elements of a collection, one after the other.
    indirect case element(SQLCollection)
    case term(SQLTerm)
    /// Given a value by the program that evaluates the part.
    case program
  }

  let subject: SQLRow
  var variables: [String: Variable] = [:]
  /// Keys that stand for something else than a property: the columns of a result, where its groups are chosen.
  var names: [String: SQLTerm] = [:]
  /// Where functions such as sum:(price) are asked of a group of rows.
  var aggregation: SQLAggregation?
}
