/// Expressions whose values come with each row of a query, resolved against an entity. For the thread of one context.
final class QueryValues {
  let expressions: [Expression]
  /// Where they look beyond the rows themselves.
  private(set) var dependencies: [Dependency] = []
  private var evaluators: [ExpressionEvaluator] = []

  init(_ expressions: [Expression], in entity: Entity, of store: Store) throws(Failure) {
    self.expressions = expressions
    for expression in expressions {
      dependencies += try PredicateReach(expression, in: entity, of: store).dependencies
      evaluators.append(try ExpressionEvaluator(expression))
    }
  }

  /// Their values for an object as it is now; an empty list where there is not one value.
  func values(of object: ManagedObject) throws(Failure) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(evaluators.count)
    for evaluator in evaluators { values.append(try evaluator.value(of: .subject(object)).scalar ?? .list([])) }
    return values
  }
}
