/// A call of a function or an operator, with its arguments compiled.
struct FunctionNode {
  private enum Body {
    case arithmetic
    case entry(FunctionTable.Entry)
  }

  private let arguments: [ExpressionNode]
  private let body: Body
  private let name: String
  /// What a failure names.
  private let expression: Expression

  init(_ name: String, _ parts: [Expression], in expression: Expression) throws(Failure) {
    self.name = name
    self.expression = expression
    body = try FunctionNode.body(name, parts.count, in: expression)
    var arguments: [ExpressionNode] = []
    for part in parts { arguments.append(try ExpressionNode(part)) }
    self.arguments = arguments
  }

  /// Kept apart from what goes on to the arguments, which has to leave room for itself many times over.
  @inline(never)
  private static func body(_ name: String, _ given: Int, in expression: Expression) throws(Failure) -> Body {
    if Arithmetic.isOperator(name) { return .arithmetic }
    guard let entry = FunctionTable.entry(name) else {
      throw Failure(
        .unsupported,
        "The function \(name), used in \(expression.text), is neither one of the predicate language nor registered.")
    }
    if let count = entry.argumentCount, count != given {
      throw Failure(
        .invalidPredicate,
        "\(name) takes \(count) argument\(count == 1 ? "" : "s"), and \(expression.text) gives it \(given).")
    }
    return .entry(entry)
  }

  /// The result, when it is the same whatever the object.
  var constant: Item? {
    guard case .entry(let entry) = body, entry.isPure, arguments.allSatisfy(\.isConstant) else { return nil }
    var scope = Scope(subject: .nil, variables: [:])
    // A failure is thrown when it is met, and perhaps never.
    return try? item(&scope)
  }

  func item(_ scope: inout Scope) throws(Failure) -> Item {
    var items: [Item] = []
    items.reserveCapacity(arguments.count)
    for argument in arguments { items.append(try argument.item(&scope)) }
    switch body {
    case .entry(let entry): return try entry.body(items, expression)
    case .arithmetic:
      var values: [Value] = []
      values.reserveCapacity(items.count)
      for item in items {
        guard let value = item.scalar else {
          throw Failure(.invalidPredicate, "\(expression.text) calculates with \(item.kindName).")
        }
        values.append(value)
      }
      return .value(try Arithmetic.apply(name, values, in: expression))
    }
  }
}
