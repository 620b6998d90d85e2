/// A condition on an object: a tree of plain data, the same for memory and for SQL.
///
/// Parentheses that group a chain within a chain of the same kind are kept, so the printed text is the written one.
/// `Predicate.all` and `Predicate.any` leave out compounds of no or one part.
indirect enum Predicate: Sendable, Equatable {
  /// TRUEPREDICATE and FALSEPREDICATE.
  case constant(Bool)
  case comparison(Comparison)
  case not(Predicate)
  case and([Predicate])
  case or([Predicate])

  /// Holds when every part does; no part at all makes it true.
  static func all(_ parts: [Predicate]) -> Predicate {
    parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
  }

  /// Holds when some part does; no part at all makes it false.
  static func any(_ parts: [Predicate]) -> Predicate {
    parts.isEmpty ? .constant(false) : parts.count == 1 ? parts[0] : .or(parts)
  }

  /// Reads a format; its placeholders take `arguments` from left to right.
  static func parse(_ format: Text, arguments: [Value] = []) throws(Failure) -> Predicate {
    try parse(format, with: arguments.map { .value($0) })
  }
}
