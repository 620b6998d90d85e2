import CQuire

/// An expression with its canonical text, which callers borrow.
final class ParsedExpression: Sendable {
  let expression: Expression
  private let texts = BorrowedTexts()

  init(_ expression: Expression) { self.expression = expression }

  var text: Text { texts.keep(expression.text) }
}

/// The canonical texts of a tree. More than one only when objects that it names were saved between two requests.
final class BorrowedTexts: Sendable {
  private let texts = Guarded<[Text]>([])

  func keep(_ spelling: String) -> Text {
    texts.withLock { texts in
      let text = Text(spelling)
      if let last = texts.last, last == text { return last }
      texts.append(text)
      return text
    }
  }
}

@_cdecl("quire_expression_parse") @implementation
public func quire_expression_parse(
  _ format: CText, _ format_size: Int, _ arguments: UnsafePointer<quire_value>?, _ argument_count: Int,
  _ out_expression: Out<quire_expression>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_expression, "out_expression", out_error) { () throws(Failure) in
    if format == nil { throw Failure(.invalidArgument, "'format' is NULL; an expression is needed.") }
    let format = try text(format, format_size, "format")
    let arguments = try formatArguments(arguments, argument_count)
    return ParsedExpression(try Expression.parse(format, with: arguments))
  }
}

@_cdecl("quire_expression_retain") @implementation
public func quire_expression_retain(
  _ expression: UnsafePointer<quire_expression>?
) -> UnsafeMutablePointer<quire_expression>? { retain(expression) }

@_cdecl("quire_expression_release") @implementation
public func quire_expression_release(_ expression: UnsafeMutablePointer<quire_expression>?) { release(expression) }

@_cdecl("quire_expression_text") @implementation
public func quire_expression_text(_ expression: UnsafePointer<quire_expression>?) -> quire_string {
  peek(expression)?.text.lent ?? noText
}

@_cdecl("quire_expression_equal") @implementation
public func quire_expression_equal(
  _ expression: UnsafePointer<quire_expression>?, _ other: UnsafePointer<quire_expression>?
) -> Bool {
  guard let expression = peek(expression), let other = peek(other) else { return false }
  return expression.expression == other.expression
}

@_cdecl("quire_expression_substitute") @implementation
public func quire_expression_substitute(
  _ expression: UnsafePointer<quire_expression>?, _ variables: UnsafePointer<quire_entry>?, _ variable_count: Int,
  _ out_expression: Out<quire_expression>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_expression, "out_expression", out_error) { () throws(Failure) in
    let expression = try resolve(expression, "expression").expression
    let values = try substitutions(variables, variable_count)
    return ParsedExpression(try expression.substituting(expressions: values))
  }
}

@_cdecl("quire_expression_evaluate") @implementation
public func quire_expression_evaluate(
  _ expression: UnsafePointer<quire_expression>?, _ subject: UnsafePointer<quire_value>?,
  _ variables: UnsafePointer<quire_entry>?, _ variable_count: Int, _ out_evaluation: Out<quire_evaluation>,
  _ out_error: ErrorOut
) -> quire_status {
  out_evaluation?.pointee = nil
  return status(out_error) { () throws(Failure) in
    let out = try required(out_evaluation, "out_evaluation")
    let expression = try resolve(expression, "expression").expression
    let input = try EvaluationInput(subject, variables, variable_count)
    try input.confined { () throws(Failure) in
      let item = try ExpressionEvaluator(expression).value(of: input.subject, variables: input.variables)
      out.pointee = .passing(try Evaluation(item, in: input.context))
    }
  }
}

@_cdecl("quire_evaluation_value") @implementation
public func quire_evaluation_value(_ evaluation: UnsafePointer<quire_evaluation>?) -> UnsafePointer<quire_value>? {
  peek(evaluation).map { UnsafePointer($0.value) }
}

@_cdecl("quire_evaluation_retain") @implementation
public func quire_evaluation_retain(
  _ evaluation: UnsafePointer<quire_evaluation>?
) -> UnsafeMutablePointer<quire_evaluation>? { retain(evaluation) }

@_cdecl("quire_evaluation_release") @implementation
public func quire_evaluation_release(_ evaluation: UnsafeMutablePointer<quire_evaluation>?) { release(evaluation) }
