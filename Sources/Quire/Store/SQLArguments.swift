/// The arguments of one statement. Each has a parameter of its own with a number, so that a piece of SQL may stand
/// anywhere, more than once, or be left out again.
final class SQLArguments {
  enum Argument {
    case value(Value)
    case program(SQLProgram)
  }

  private(set) var all: [Argument] = []

  /// The parameter to write where the argument is meant.
  func parameter(_ value: Value) -> String { add(.value(value)) }
  func parameter(_ program: SQLProgram) -> String { add(.program(program)) }

  private func add(_ argument: Argument) -> String {
    all.append(argument)
    return "?\(all.count)"
  }

  func bind(to statement: Statement) throws(Failure) {
    // Parameters behind the last one that was used do not exist.
    for (place, argument) in all.prefix(statement.parameterCount).enumerated() {
      switch argument {
      case .value(let value): try statement.bind(value, at: place + 1)
      case .program(let program): try statement.bind(program, at: place + 1)
      }
    }
  }
}
