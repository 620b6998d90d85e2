/// Two expressions and what is asked of them.
struct Comparison: Sendable, Equatable {
  /// The numbers are Core Data's.
  enum Operator: UInt32, Sendable {
    case lessThan = 0
    case lessThanOrEqual = 1
    case greaterThan = 2
    case greaterThanOrEqual = 3
    case equal = 4
    case notEqual = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case isIn = 10
    /// A selector, or UTI-CONFORMS-TO and UTI-EQUALS: `customOperator` names it.
    case custom = 11
    case contains = 99
    case between = 100
  }

  /// The numbers are Core Data's. SOME is `any`, and NONE the negation of a comparison with `any`.
  enum Modifier: UInt32, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// The numbers are Core Data's, but for `word`, which it does not publish.
  struct Options: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    static let caseInsensitive = Options(rawValue: 1)
    static let diacriticInsensitive = Options(rawValue: 2)
    /// The texts are in one form already: overrides the two above.
    static let normalized = Options(rawValue: 4)
    static let localeSensitive = Options(rawValue: 8)
    static let word = Options(rawValue: 16)

    var folding: TextFolding {
      let folding = contains(.normalized) ? [] : TextFolding(rawValue: rawValue & 3)
      return contains(.localeSensitive) ? folding.union(.byLocale) : folding
    }
  }

  var left: Expression
  var `operator`: Operator
  var right: Expression
  var modifier: Modifier = .direct
  var options: Options = []
  /// Empty unless the operator is `custom`.
  var customOperator = ""
}
