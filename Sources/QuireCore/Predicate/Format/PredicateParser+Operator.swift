extension PredicateParser {
  var infixPrecedence: Precedence? {
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

  /// Reads an infix operator and what stands between it and its right side.
  mutating func beginOperator(_ precedence: Precedence, _ left: Item) throws(Failure) {
    switch precedence {
    case .or, .and:
      let chain = Chain(precedence, at: left.offset)
      try add(left, to: chain)
      try advance()
      try wait(.chain(chain))
    case .comparison: try beginComparison(left, Quantifier(modifier: .direct, isNone: false, offset: left.offset))
    default: try beginInfix(precedence, left)
    }
  }

  mutating func continueChain(_ chain: Chain, _ part: Item) throws(Failure) -> Item? {
    try add(part, to: chain)
    if infixPrecedence == chain.precedence {
      try advance()
      try wait(.chain(chain))
      return nil
    }
    let predicate: Predicate = chain.precedence == .or ? .or(chain.parts) : .and(chain.parts)
    return try item(.predicate(predicate), height: chain.height, at: chain.offset)
  }

  private func add(_ part: Item, to chain: Chain) throws(Failure) {
    chain.parts.append(try predicate(part))
    chain.height = max(chain.height, part.height)
  }

  // MARK: Values

  private mutating func beginInfix(_ precedence: Precedence, _ left: Item) throws(Failure) {
    _ = try expression(left)
    let token = token
    try advance()
    try wait(.infix(precedence, left, token))
  }

  func infix(_ left: Item, _ token: PredicateToken, _ right: Item) throws(Failure) -> Item {
    let leftExpression = try expression(left), rightExpression = try expression(right)
    let sign = if case .sign(let written) = token.kind { written } else { "" }
    let result: Expression
    if sign == ":=" {
      guard case .variable(let name) = leftExpression else {
        throw failure("Only a variable such as $x can be assigned to.", at: left.offset)
      }
      result = .assignment(name, rightExpression)
    } else if let operation = token.keyword.flatMap({ Expression.SetOperation(rawValue: $0.rawValue.uppercased()) }) {
      result = .set(operation, leftExpression, rightExpression)
    } else if let name = Function.infixName(of: sign) {
      result = .function(name, [leftExpression, rightExpression])
    } else {
      throw failure("An operator is expected here.", at: token.offset)
    }
    return try item(result, above: left.height, right.height, at: left.offset)
  }

  // MARK: Comparisons

  mutating func beginComparison(_ left: Item, _ quantifier: Quantifier) throws(Failure) {
    _ = try expression(left)
    guard infixPrecedence == .comparison else { throw unexpected("A comparison is expected here") }
    let (operation, custom) = try parseOperator()
    let options = try parseOptions()
    try wait(.comparison(left, Sign(operation: operation, custom: custom, options: options), quantifier))
  }

  func comparison(_ left: Item, _ sign: Sign, _ quantifier: Quantifier, _ right: Item) throws(Failure) -> Item {
    let leftExpression = try expression(left), rightExpression = try expression(right)
    if sign.operation == .between { try checkBounds(rightExpression, at: right.offset) }
    var result: Item
    if sign.operation == .custom, quantifier.modifier == .direct, sign.options.isEmpty,
      FunctionRegistry.function(named: sign.custom) != nil
    {
      let parts = [leftExpression, rightExpression]
      let called = try checkedCall(sign.custom, parts, above: max(left.height, right.height), at: left.offset)
      let comparison = Comparison(left: try expression(called), operator: .equal, right: .constant(.integer(1)))
      result = try item(.predicate(.comparison(comparison)), height: called.height, at: left.offset)
    } else {
      let comparison = Comparison(
        left: leftExpression, operator: sign.operation, right: rightExpression, modifier: quantifier.modifier,
        options: sign.options, customOperator: sign.custom)
      result = try item(.predicate(.comparison(comparison)), height: max(left.height, right.height), at: left.offset)
    }
    result.offset = quantifier.offset
    if !quantifier.isNone { return result }
    return try item(.predicate(.not(try predicate(result))), height: result.height, at: quantifier.offset)
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
