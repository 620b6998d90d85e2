/// An expression made ready for many objects. For one thread at a time.
final class ExpressionEvaluator {
  private let root: ExpressionNode

  init(_ expression: Expression) throws(Failure) { root = try ExpressionNode(expression) }

  func value(of item: Item, variables: [String: Item] = [:]) throws(Failure) -> Item {
    var scope = Scope(subject: item, variables: variables)
    return try root.item(&scope)
  }
}
