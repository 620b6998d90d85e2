/// A function of SQL that a compiled piece calls.
enum SQLFunction {
  case text, fold, single, order
  case test, testAnew, compute, computeAnew, part, partAnew
  case count, minimum, maximum, sum, average, pack

  var name: String {
    switch self {
    case .text: PredicateFunctions.text
    case .fold: PredicateFunctions.fold
    case .single: PredicateFunctions.round
    case .order: PredicateFunctions.order
    case .test: ProgramFunctions.test
    case .testAnew: ProgramFunctions.test + ProgramFunctions.volatileSuffix
    case .compute: ProgramFunctions.compute
    case .computeAnew: ProgramFunctions.compute + ProgramFunctions.volatileSuffix
    case .part: ProgramFunctions.part
    case .partAnew: ProgramFunctions.part + ProgramFunctions.volatileSuffix
    case .count: "count"
    case .minimum: "min"
    case .maximum: "max"
    case .sum: AggregateFunctions.sum
    case .average: AggregateFunctions.average
    case .pack: ProgramFunctions.pack
    }
  }

  /// Makes one value of many rows.
  var isAggregate: Bool {
    switch self {
    case .count, .minimum, .maximum, .sum, .average, .pack: true
    default: false
    }
  }

  /// Gives the same each time.
  var isPure: Bool {
    switch self {
    case .testAnew, .computeAnew, .partAnew: false
    default: true
    }
  }

  /// Answers true or false, and never NULL.
  var isExact: Bool {
    switch self {
    case .text, .test, .testAnew: true
    default: false
    }
  }
}
