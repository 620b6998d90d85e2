import CQuire

/// A predicate with its canonical text, which callers borrow, and the evaluator that was last made of it.
final class ParsedPredicate: Sendable {
  let predicate: Predicate
  private let texts = BorrowedTexts()
  private let idle = Guarded<Idle>(Idle())

  /// No call is using the evaluator in here.
  private struct Idle: @unchecked Sendable { var evaluator: PredicateEvaluator? }

  init(_ predicate: Predicate) { self.predicate = predicate }

  var text: Text { texts.keep(predicate.text) }

  /// Lends an evaluator to `body`, alone: to calls at the same time one each.
  func evaluate(_ body: (PredicateEvaluator) throws(Failure) -> Bool) throws(Failure) -> Bool {
    let taken = idle.withLock { idle in
      let taken = idle
      idle.evaluator = nil
      return taken
    }
    let evaluator: PredicateEvaluator
    if let ready = taken.evaluator { evaluator = ready } else { evaluator = try PredicateEvaluator(predicate) }
    let lent = Idle(evaluator: evaluator)
    defer { idle.withLock { $0 = lent } }
    return try body(evaluator)
  }
}

@_cdecl("quire_predicate_parse") @implementation
public func quire_predicate_parse(
  _ format: CText, _ format_size: Int, _ arguments: UnsafePointer<quire_value>?, _ argument_count: Int,
  _ out_predicate: Out<quire_predicate>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_predicate, "out_predicate", out_error) { () throws(Failure) in
    if format == nil { throw Failure(.invalidArgument, "'format' is NULL; a predicate is needed.") }
    let format = try text(format, format_size, "format")
    let arguments = try formatArguments(arguments, argument_count)
    return ParsedPredicate(try Predicate.parse(format, with: arguments))
  }
}

@_cdecl("quire_predicate_retain") @implementation
public func quire_predicate_retain(
  _ predicate: UnsafePointer<quire_predicate>?
) -> UnsafeMutablePointer<quire_predicate>? { retain(predicate) }

@_cdecl("quire_predicate_release") @implementation
public func quire_predicate_release(_ predicate: UnsafeMutablePointer<quire_predicate>?) { release(predicate) }

@_cdecl("quire_predicate_text") @implementation
public func quire_predicate_text(_ predicate: UnsafePointer<quire_predicate>?) -> quire_string {
  peek(predicate)?.text.lent ?? noText
}

@_cdecl("quire_predicate_matches") @implementation
public func quire_predicate_matches(
  _ predicate: UnsafePointer<quire_predicate>?, _ object: UnsafeMutablePointer<quire_object>?,
  _ out_matches: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  out_matches?.pointee = false
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out_matches, "out_matches")
    let predicate = try resolve(predicate, "predicate")
    try object.context.store.checkOpen()
    out.pointee = try predicate.evaluate { (evaluator) throws(Failure) in
      try object.fulfils(predicate.predicate, evaluator)
    }
  }
}

@_cdecl("quire_predicate_equal") @implementation
public func quire_predicate_equal(
  _ predicate: UnsafePointer<quire_predicate>?, _ other: UnsafePointer<quire_predicate>?
) -> Bool {
  guard let predicate = peek(predicate), let other = peek(other) else { return false }
  return predicate.predicate == other.predicate
}

@_cdecl("quire_predicate_substitute") @implementation
public func quire_predicate_substitute(
  _ predicate: UnsafePointer<quire_predicate>?, _ variables: UnsafePointer<quire_entry>?, _ variable_count: Int,
  _ out_predicate: Out<quire_predicate>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_predicate, "out_predicate", out_error) { () throws(Failure) in
    let predicate = try resolve(predicate, "predicate").predicate
    let values = try substitutions(variables, variable_count)
    return ParsedPredicate(try predicate.substituting(expressions: values))
  }
}

@_cdecl("quire_predicate_evaluate") @implementation
public func quire_predicate_evaluate(
  _ predicate: UnsafePointer<quire_predicate>?, _ subject: UnsafePointer<quire_value>?,
  _ variables: UnsafePointer<quire_entry>?, _ variable_count: Int, _ out_matches: UnsafeMutablePointer<Bool>?,
  _ out_error: ErrorOut
) -> quire_status {
  out_matches?.pointee = false
  return status(out_error) { () throws(Failure) in
    let out = try required(out_matches, "out_matches")
    let predicate = try resolve(predicate, "predicate")
    let input = try EvaluationInput(subject, variables, variable_count)
    try input.confined { () throws(Failure) in
      out.pointee = try predicate.evaluate { (evaluator) throws(Failure) in
        if case .subject(let subject) = input.subject, let object = subject as? ManagedObject {
          return try object.fulfils(predicate.predicate, evaluator, variables: input.variables)
        }
        try predicate.predicate.checkTypes(of: input.subject)
        return try evaluator.matches(input.subject, variables: input.variables)
      }
    }
  }
}
