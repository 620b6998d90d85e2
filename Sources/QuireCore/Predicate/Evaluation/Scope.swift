/// Where an expression is evaluated: the object under test, and the values of variables.
struct Scope {
  let subject: Item
  var variables: [String: Item]
  /// The values that a statement found for the parts of an expression that it looked up itself: see
  /// `Expression.argument`.
  var arguments: [Item] = []
}
