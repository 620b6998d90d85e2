extension PredicateParser {
  /// FUNCTION, after its parenthesis: another spelling of a call. The name comes first or, as in Core Data, after the
  /// target: `FUNCTION("name", a, b)` and `FUNCTION(a, "name", b)` are `name(a, b)`.
  func registeredCall(_ called: Parts) throws(Failure) -> Item {
    var parts = called.expressions
    let height = called.height, offset = called.offset
    let candidates = zip(parts, called.quoted).map { CalledName($0, isQuoted: $1) }
    guard let place = CalledName.place(among: candidates), let called = candidates[place] else {
      throw failure(
        "FUNCTION takes the name of a registered function in quotes, first or after the target of the call, and the "
          + "arguments.",
        at: offset)
    }
    parts.remove(at: place)
    if !FunctionTable.isCallable(called.name) {
      if place == 0 { throw failure("There is no registered function named '\(called.written)'.", at: offset) }
      // What other programs have written is read, and refused when it is evaluated.
      do throws(Failure) { try FunctionRegistry.check(name: called.written) } catch {
        throw failure(error.message.string, at: offset)
      }
    }
    return try checkedCall(called.name, parts, above: height, at: offset)
  }
}

/// A text among the first two parts of FUNCTION.
private struct CalledName {
  let written: String
  /// Whether it stands in the format. What an argument gives for `%@` is a value before it is a name: data must not
  /// choose the function.
  let isQuoted: Bool

  init?(_ expression: Expression, isQuoted: Bool) {
    guard case .text(let text)? = expression.constantValue else { return nil }
    written = text.string
    self.isQuoted = isQuoted
  }

  var name: String { Function.canonicalName(written) }

  /// Which of two texts is the name: the one in quotes; of two in quotes the first, if there is such a function.
  static func place(among candidates: [CalledName?]) -> Int? {
    guard let first = candidates.first ?? nil else { return (candidates.last ?? nil) == nil ? nil : 1 }
    guard candidates.count == 2, let second = candidates[1] else { return 0 }
    if first.isQuoted != second.isQuoted { return first.isQuoted ? 0 : 1 }
    return FunctionTable.isCallable(first.name) ? 0 : 1
  }
}
