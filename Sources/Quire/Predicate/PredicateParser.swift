/// Reads a format by operator precedence. One routine reads predicates and expressions alike, because a
/// parenthesis may open either and trying both would cost exponential time.
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

  /// Limits that keep reading, printing, comparing and releasing a tree within any thread's stack. The second
  /// leaves room for the parentheses that printing adds.
  static let greatestHeight = 128
  static let greatestDepth = 320

  var lexer: PredicateLexer
  var token: PredicateToken
  private let arguments: [FormatArgument]
  private var nextArgument = 0
  private var depth = 0

  init(_ format: Text, arguments: [FormatArgument]) throws(Failure) {
    lexer = PredicateLexer(format)
    self.arguments = arguments
    token = try lexer.next()
  }

  mutating func parsePredicate() throws(Failure) -> Predicate {
    if token.kind == .end { throw failure("The format is empty; write TRUEPREDICATE for all objects.", at: 0) }
    let item = try parseItem(.or)
    try finish()
    return try predicate(item, at: token.offset)
  }

  mutating func parseExpression() throws(Failure) -> Expression {
    let item = try parseItem(.or)
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
    var hint = ""
    if token.keyword == .not { hint = " Put NOT before the whole comparison: NOT (x IN y)." }
    return failure("\(sentence), but \(found).\(hint)", at: token.offset)
  }

  func predicate(_ item: Item, at offset: Int? = nil) throws(Failure) -> Predicate {
    guard case .predicate(let predicate) = item.operand else {
      throw failure(
        "A predicate is needed, and this is an expression alone; compare it with something, for example == YES.",
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

  // MARK: Operators

  mutating func parseItem(_ loosest: Precedence) throws(Failure) -> Item {
    depth += 1
    defer { depth -= 1 }
    guard depth <= PredicateParser.greatestDepth else {
      throw failure("The format is nested too deeply.", at: token.offset)
    }
    var left = try parsePrefix()
    while let precedence = infixPrecedence, precedence >= loosest {
      switch precedence {
      case .or, .and: left = try parseChain(precedence, left)
      case .comparison:
        left = try parseComparison(left, modifier: .direct)
      default: left = try parseInfix(precedence, left)
      }
    }
    return left
  }

  private var infixPrecedence: Precedence? {
    switch token.kind {
    case .selector: return .comparison
    case .word:
      guard let keyword = token.keyword else { return nil }
      switch keyword {
      case .or: return .or
      case .and: return .and
      case .union, .intersect, .minus: return .set
      default: return keyword.comparison == nil ? nil : .comparison
      }
    case .sign(let sign):
      switch sign {
      case "||": return .or
      case "&&": return .and
      case "=", "==", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>": return .comparison
      case ":=": return .set
      case "|": return .bitwiseOr
      case "^": return .bitwiseXor
      case "&": return .bitwiseAnd
      case "<<", ">>": return .shift
      case "+", "-": return .sum
      case "*", "/", "%%": return .product
      case "**": return .power
      default: return nil
      }
    default: return nil
    }
  }

  private mutating func parseChain(_ precedence: Precedence, _ first: Item) throws(Failure) -> Item {
    var parts = [try predicate(first)]
    var height = first.height
    while infixPrecedence == precedence {
      try advance()
      let part = try parseItem(precedence.tighter)
      parts.append(try predicate(part))
      height = max(height, part.height)
    }
    return try item(.predicate(precedence == .or ? .or(parts) : .and(parts)), height: height, at: first.offset)
  }

  private mutating func parseInfix(_ precedence: Precedence, _ left: Item) throws(Failure) -> Item {
    let leftExpression = try expression(left)
    let offset = token.offset
    let sign: String
    if case .sign(let written) = token.kind { sign = written } else { sign = "" }
    let keyword = token.keyword
    try advance()
    // The power operator and the assignment group from the right, as in other languages that have them.
    let isRightGrouping = precedence == .power || sign == ":="
    let right = try parseItem(isRightGrouping ? precedence : precedence.tighter)
    let rightExpression = try expression(right)
    let result: Expression
    if sign == ":=" {
      guard case .variable(let name) = leftExpression else {
        throw failure("Only a variable such as $x can be assigned to.", at: left.offset)
      }
      result = .assignment(name, rightExpression)
    } else if let keyword, let operation = Expression.SetOperation(rawValue: keyword.rawValue.uppercased()) {
      result = .set(operation, leftExpression, rightExpression)
    } else if let name = Function.infixName(of: sign) {
      result = .function(name, [leftExpression, rightExpression])
    } else {
      throw failure("An operator is expected here.", at: offset)
    }
    return try item(result, above: left.height, right.height, at: left.offset)
  }

  mutating func parseComparison(_ left: Item, modifier: Comparison.Modifier) throws(Failure) -> Item {
    let leftExpression = try expression(left)
    guard infixPrecedence == .comparison else { throw unexpected("A comparison is expected here") }
    let (operation, custom) = try parseOperator()
    let options = try parseOptions()
    let right = try parseItem(.set)
    let rightExpression = try expression(right)
    if operation == .between { try checkBounds(rightExpression, at: right.offset) }
    if operation == .custom, modifier == .direct, options.isEmpty, FunctionRegistry.function(named: custom) != nil {
      let parts = [leftExpression, rightExpression]
      let called = try checkedCall(custom, parts, above: max(left.height, right.height), at: left.offset)
      let comparison = Comparison(
        left: try expression(called), operator: .equal, right: .constant(.integer(1)))
      return try item(.predicate(.comparison(comparison)), height: called.height, at: left.offset)
    }
    let comparison = Comparison(
      left: leftExpression, operator: operation, right: rightExpression, modifier: modifier, options: options,
      customOperator: custom)
    return try item(
      .predicate(.comparison(comparison)), height: max(left.height, right.height), at: left.offset)
  }

  private func checkBounds(_ bounds: Expression, at offset: Int) throws(Failure) {
    let count: Int
    switch bounds {
    case .list(let parts): count = parts.count
    case .constant(let constant):
      if case .list(let list) = constant.value { count = list.values.count } else { count = -1 }
    default: return
    }
    guard count == 2 else {
      throw failure("BETWEEN needs a list of exactly two bounds, such as {1, 10}.", at: offset)
    }
  }

  private mutating func parseOperator() throws(Failure) -> (Comparison.Operator, custom: String) {
    let token = token
    try advance()
    switch token.kind {
    case .selector(let selector): return (.custom, selector)
    case .word(let word):
      guard let keyword = Keyword(word: word), let operation = keyword.comparison else { break }
      return (operation, operation == .custom ? keyword.rawValue.uppercased() : "")
    case .sign("="), .sign("=="): return (.equal, "")
    case .sign("!="), .sign("<>"): return (.notEqual, "")
    case .sign("<"): return (.lessThan, "")
    case .sign("<="), .sign("=<"): return (.lessThanOrEqual, "")
    case .sign(">"): return (.greaterThan, "")
    case .sign(">="), .sign("=>"): return (.greaterThanOrEqual, "")
    default: break
    }
    throw failure("A comparison is expected here.", at: token.offset)
  }

  private mutating func parseOptions() throws(Failure) -> Comparison.Options {
    guard try accept("[") else { return [] }
    guard case .word(let letters) = token.kind else { throw unexpected("Options such as [cd] are expected") }
    var options: Comparison.Options = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      case "w": options.insert(.word)
      default:
        throw failure("The options of a comparison are c, d, n, l and w; \(letter) is none.", at: token.offset)
      }
    }
    try advance()
    try expect("]", "The options of a comparison end with ]")
    return options
  }
}
