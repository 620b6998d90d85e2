/// The replacement of a specifier in a format: a value, or a tree that is there already.
enum FormatArgument: Sendable {
  case value(Value)
  case expression(Expression)
  case predicate(Predicate)
}

extension Predicate {
  /// Reads a format whose arguments may be trees, of which the result is then built.
  static func parse(_ format: Text, with arguments: [FormatArgument]) throws(Failure) -> Predicate {
    var parser = try PredicateParser(format, arguments: arguments)
    return try parser.parsePredicate()
  }
}

extension Expression {
  static func parse(_ format: Text, with arguments: [FormatArgument]) throws(Failure) -> Expression {
    var parser = try PredicateParser(format, arguments: arguments)
    return try parser.parseExpression()
  }
}

extension Placeholder {
  /// What an argument becomes, or the sentence that says why it cannot.
  func operand(for argument: FormatArgument) -> Result<PredicateParser.Operand, Problem> {
    switch argument {
    case .value(let value): expression(for: value).map { .expression($0) }
    case .expression(let expression):
      switch (kind, expression) {
      case (.value, _), (.keyPath, .keyPath): .success(.expression(expression))
      default:
        .failure(Problem("\(spelling) takes \(expectation), and its argument is the expression \(expression.text)."))
      }
    case .predicate(let predicate):
      kind == .value
        ? .success(.predicate(predicate))
        : .failure(Problem("\(spelling) takes \(expectation), and its argument is a predicate."))
    }
  }
}
