import CQuire

/// A predicate with its canonical text, which callers borrow, and what was last made of it.
final class ParsedPredicate: Sendable {
  let predicate: Predicate
  private let texts = BorrowedTexts()
  private let idle = Guarded<Idle>(Idle())

  /// No call uses what is in here.
  private struct Idle: @unchecked Sendable {
    var evaluator: PredicateEvaluator?
    /// For objects of the entities and stores that were asked about.
    var bound = EvaluatorTable()
  }

  init(_ predicate: Predicate) { self.predicate = predicate }

  var text: Text { texts.keep(predicate.text) }

  /// Whether a subject without an entity fulfils it.
  func matches(_ subject: Item, variables: [String: Item]) throws(Failure) -> Bool {
    var taken = take()
    defer { put(taken) }
    let evaluator: PredicateEvaluator
    if let ready = taken.evaluator { evaluator = ready } else { evaluator = try PredicateEvaluator(predicate) }
    taken.evaluator = evaluator
    try predicate.checkTypes(of: subject)
    return try evaluator.matches(subject, variables: variables)
  }

  /// Whether an object fulfils it. It is bound once for the objects of an entity in a store.
  func matches(_ object: ManagedObject, variables: [String: Item] = [:]) throws(Failure) -> Bool {
    var taken = take()
    defer { put(taken) }
    let evaluator = try taken.bound.evaluator(for: object.entity, of: object.context.store.uuid) {
      () throws(Failure) in try object.binding(predicate)
    }
    return try evaluator.matches(object, variables: variables)
  }

  /// Takes what is ready, for one call alone: of calls at the same time, each makes its own.
  private func take() -> Idle {
    idle.withLock { idle in
      let taken = idle
      idle = Idle()
      return taken
    }
  }

  private func put(_ ready: Idle) { idle.withLock { $0 = ready } }
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
    try object.context.beginReading()
    out.pointee = try predicate.matches(object)
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
      if case .subject(let subject) = input.subject, let object = subject as? ManagedObject {
        out.pointee = try predicate.matches(object, variables: input.variables)
      } else {
        out.pointee = try predicate.matches(input.subject, variables: input.variables)
      }
    }
  }
}
