/// The arguments of one statement. Each has a parameter of its own with a number. A piece of SQL may therefore stand
/// anywhere, more than once, or be left out again.
final class SQLArguments {
  enum Argument {
    case value(Value)
    case program(SQLProgram)
    /// The pattern of `quire_text`, compiled.
    case matcher(TextMatcher)
    case part(SQLPart)
    /// What a part is given of the rows around it.
    case outer
  }

  private(set) var all: [Argument] = []

  /// The parameter to write where the argument is meant.
  func parameter(_ value: Value) -> SQLExpr { add(.value(value)) }
  func parameter(_ program: SQLProgram) -> SQLExpr { add(.program(program)) }
  func parameter(_ matcher: TextMatcher) -> SQLExpr { add(.matcher(matcher)) }
  func parameter(_ part: SQLPart) -> SQLExpr { add(.part(part)) }
  /// Its number.
  func outerParameter() -> Int { number(.outer) }

  /// Forgets those that were added last.
  func keepFirst(_ count: Int) { all.removeLast(all.count - count) }

  private func add(_ argument: Argument) -> SQLExpr { SQLExpr(.parameter(number(argument))) }

  private func number(_ argument: Argument) -> Int {
    all.append(argument)
    return all.count
  }

  func bind(to statement: Statement) throws(Failure) {
    // A part comes behind all that it is made of.
    var parts: [Int: SQLPartInUse] = [:]
    for (place, argument) in all.enumerated() {
      guard case .part(let part) = argument else { continue }
      let inner = try statement.alongside(part.sql)
      try bind(to: inner, parts)
      parts[place] = SQLPartInUse(inner, part)
    }
    try bind(to: statement, parts)
  }

  private func bind(to statement: Statement, _ parts: [Int: SQLPartInUse]) throws(Failure) {
    // Parameters behind the last one that was used do not exist.
    for (place, argument) in all.prefix(statement.parameterCount).enumerated() {
      switch argument {
      case .value(let value): try statement.bind(value, at: place + 1)
      case .program(let program): try statement.bind(program, as: ProgramFunctions.pointerType, at: place + 1)
      case .matcher(let matcher): try statement.bind(matcher, as: PredicateFunctions.matcherType, at: place + 1)
      case .part: if let part = parts[place] { try statement.bind(part, as: ProgramFunctions.partType, at: place + 1) }
      case .outer: break
      }
    }
  }
}
