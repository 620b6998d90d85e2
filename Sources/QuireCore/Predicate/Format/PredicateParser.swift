/// Reads a format by operator precedence. One routine reads predicates and expressions alike, because a
/// parenthesis may open either and trying both would cost exponential time.
///
/// A half-read part waits in `pending`, not in calls within calls: a format takes no more stack than a word does.
struct PredicateParser {
  enum Operand {
    case predicate(Predicate)
    case expression(Expression)

    var height: Int {
      switch self {
      case .predicate(let predicate): predicate.height
      case .expression(let expression): expression.height
      }
    }
  }

  /// Something read, how deep its tree is, and where it began.
  struct Item {
    var operand: Operand
    var height: Int
    var offset: Int
    /// A chain in parentheses is not continued by what follows them.
    var isGrouped = false
  }

  /// Loosest first.
  enum Precedence: Int, Comparable {
    case or, and, comparison, set, bitwiseOr, bitwiseXor, bitwiseAnd, shift, sum, product, power, unary
    static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    var tighter: Precedence { Precedence(rawValue: rawValue + 1) ?? .unary }
  }

  /// Limits that keep compiling, evaluating, printing, comparing and releasing a tree within the stack of any thread,
  /// if it has 128 KiB. The second leaves room for the parentheses that printing adds.
  static let greatestHeight = 128
  static let greatestDepth = 320

  var lexer: PredicateLexer
  var token: PredicateToken
  private let arguments: [FormatArgument]
  private var nextArgument = 0
  /// The innermost last.
  var pending: [Pending] = []

  init(_ format: Text, arguments: [FormatArgument]) throws(Failure) {
    lexer = PredicateLexer(format)
    self.arguments = arguments
    token = try lexer.next()
  }

  mutating func parsePredicate() throws(Failure) -> Predicate {
    if token.kind == .end { throw failure("The format is empty; write TRUEPREDICATE for all objects.", at: 0) }
    let item = try readWhole()
    try finish()
    return try predicate(item, at: token.offset)
  }

  mutating func parseExpression() throws(Failure) -> Expression {
    let item = try readWhole()
    try finish()
    return try expression(item)
  }

  private mutating func finish() throws(Failure) {
    guard token.kind == .end else { throw unexpected("An operator is expected here") }
    let left = arguments.count - nextArgument
    guard left <= lexer.quotedPlaceholders else {
      throw failure(
        "The format has placeholders for \(count(nextArgument)) and was given \(arguments.count).",
        at: lexer.bytes.count)
    }
  }

  // MARK: Parts

  func failure(_ sentence: String, at offset: Int) -> Failure { lexer.failure(sentence, at: offset) }

  mutating func advance() throws(Failure) { token = try lexer.next() }

  mutating func accept(_ sign: String) throws(Failure) -> Bool {
    guard token.isSign(sign) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ sign: String, _ sentence: String) throws(Failure) {
    guard try accept(sign) else { throw unexpected(sentence) }
  }

  func unexpected(_ sentence: String) -> Failure {
    let found: String
    switch token.kind {
    case .end: found = "the format ends"
    case .sign(let sign): found = "there is \(sign)"
    case .word(let word): found = "there is the word \(word)"
    case .placeholder(let placeholder): found = "there is \(placeholder.spelling)"
    default: found = "there is something else"
    }
    return failure("\(sentence), but \(found).\(hint)", at: token.offset)
  }

  /// What words that are not here mean in other languages, and how it is said in this one.
  private var hint: String {
    if token.keyword == .not { return " Put NOT before the whole comparison: NOT (x IN y)." }
    if case .word(let word) = token.kind, word.lowercased() == "is" {
      return " The test for no value is == nil, and for any value != nil."
    }
    if case .quantifier(let quantifier)? = pending.last, quantifier.isNone {
      return " NONE asks about the elements of a collection. The test for no value is == nil."
    }
    return ""
  }

  func predicate(_ item: Item, at offset: Int? = nil) throws(Failure) -> Predicate {
    guard case .predicate(let predicate) = item.operand else {
      throw failure(
        "A predicate is needed, and this is an expression alone; compare it with something, for example == YES.\(hint)",
        at: offset ?? item.offset)
    }
    return predicate
  }

  func expression(_ item: Item) throws(Failure) -> Expression {
    guard case .expression(let expression) = item.operand else {
      throw failure("A value is needed here, and this is a predicate.", at: item.offset)
    }
    return expression
  }

  func item(_ expression: Expression, above heights: Int..., at offset: Int) throws(Failure) -> Item {
    try item(.expression(expression), height: heights.max() ?? 0, at: offset)
  }

  func item(_ operand: Operand, height below: Int, at offset: Int) throws(Failure) -> Item {
    guard below < PredicateParser.greatestHeight else {
      throw failure("The format is nested or chained more than \(PredicateParser.greatestHeight) deep.", at: offset)
    }
    return Item(operand: operand, height: below + 1, offset: offset)
  }

  mutating func argument(for placeholder: Placeholder) throws(Failure) -> Operand {
    guard nextArgument < arguments.count else {
      throw failure(
        "There is no argument for \(placeholder.spelling): the format was given \(count(arguments.count)).",
        at: placeholder.offset)
    }
    nextArgument += 1
    switch placeholder.operand(for: arguments[nextArgument - 1]) {
    case .success(let operand): return operand
    case .failure(let problem): throw failure(problem.sentence, at: placeholder.offset)
    }
  }

  private func count(_ number: Int) -> String { number == 1 ? "1 argument" : "\(number) arguments" }

  // MARK: Reading

  /// An operand with all operators around it.
  private mutating func readWhole() throws(Failure) -> Item {
    try wait(.whole)
    var operand: Item?
    while let waiting = pending.last {
      guard let read = operand else {
        operand = try readPrefix()
        continue
      }
      if let precedence = infixPrecedence, precedence >= waiting.loosest {
        try beginOperator(precedence, read)
        operand = nil
      } else {
        pending.removeLast()
        if case .whole = waiting { return read }
        operand = try finish(waiting, with: read)
      }
    }
    throw unexpected("A value or a key is expected here")
  }

  /// Goes on with what comes next, which `waiting` needs.
  mutating func wait(_ waiting: Pending) throws(Failure) {
    guard pending.count < PredicateParser.greatestDepth else {
      throw failure("The format is nested too deeply.", at: token.offset)
    }
    pending.append(waiting)
  }
}
