/// The words of the format, in any case; `#` before one makes it a key.
enum Keyword: String, CaseIterable {
  case and, or, not, `in`, all, any, like, matches, contains, beginswith, endswith, between
  case null, yes, no, anykey, truepredicate, falsepredicate, union, intersect, minus
  case subquery, fetch, cast, function, ternary, first, last, size
  case someWord = "some"
  case noneWord = "none"
  case nilWord = "nil"
  case trueWord = "true"
  case falseWord = "false"
  case selfWord = "self"
  case conformsTo = "uti-conforms-to"
  case typeEquals = "uti-equals"

  private static let byWord: [String: Keyword] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

  init?(word: String) {
    guard word.utf8.count <= 15, let keyword = Keyword.byWord[word.lowercased()] else { return nil }
    self = keyword
  }

  /// Whether the word cannot be a key where an operand is expected. Those that need a parenthesis or an index
  /// to be what they are may be keys elsewhere.
  var isReserved: Bool {
    switch self {
    case .subquery, .fetch, .cast, .function, .ternary, .first, .last, .size: false
    default: true
    }
  }

  var comparison: Comparison.Operator? {
    switch self {
    case .in: .isIn
    case .like: .like
    case .matches: .matches
    case .contains: .contains
    case .beginswith: .beginsWith
    case .endswith: .endsWith
    case .between: .between
    case .conformsTo, .typeEquals: .custom
    default: nil
    }
  }
}
