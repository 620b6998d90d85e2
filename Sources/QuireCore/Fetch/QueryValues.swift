/// Expressions whose values come with each row of a query, resolved against an entity. For the thread of one context.
final class QueryValues {
  let expressions: [Expression]
  /// Where they look beyond the rows themselves.
  private(set) var dependencies: [Dependency] = []
  private var evaluators: [ExpressionEvaluator] = []

  init(_ expressions: [Expression], in entity: Entity, of store: any Engine) throws(Failure) {
    var bound: [Expression] = []
    for expression in expressions {
      let expression = try BoundExpression(expression, to: entity, of: store.uuid)
      bound.append(expression.expression)
      dependencies += expression.reach.dependencies
      evaluators.append(try ExpressionEvaluator(expression.expression))
    }
    self.expressions = bound
  }

  /// Their values for an object as it is now; an empty list where there is not one value.
  func values(of object: ManagedObject) throws(Failure) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(evaluators.count)
    for evaluator in evaluators { values.append(try evaluator.value(of: .subject(object)).scalar ?? .list([])) }
    return values
  }
}
