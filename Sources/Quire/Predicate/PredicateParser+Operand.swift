extension PredicateParser {
  /// NOT, a quantifier, a sign, or an operand with its keys and indexes.
  mutating func parsePrefix() throws(Failure) -> Item {
    let offset = token.offset
    if token.isSign("!") || token.keyword == .not {
      try advance()
      let part = try parseItem(.comparison)
      return try item(.predicate(.not(try predicate(part))), height: part.height, at: offset)
    }
    if token.isSign("-") || token.isSign("~") || token.isSign("+") { return try parseSign(at: offset) }
    switch token.keyword {
    case .any, .someWord: return try parseQuantified(.any, at: offset)
    case .all: return try parseQuantified(.all, at: offset)
    case .noneWord:
      let part = try parseQuantified(.any, at: offset)
      return try item(.predicate(.not(try predicate(part))), height: part.height, at: offset)
    case .truepredicate:
      try advance()
      return try item(.predicate(.constant(true)), height: 0, at: offset)
    case .falsepredicate:
      try advance()
      return try item(.predicate(.constant(false)), height: 0, at: offset)
    default: return try parsePostfix(try parseAtom())
    }
  }

  private mutating func parseQuantified(_ modifier: Comparison.Modifier, at offset: Int) throws(Failure) -> Item {
    try advance()
    let left = try parseItem(.set)
    var result = try parseComparison(left, modifier: modifier)
    result.offset = offset
    return result
  }

  private mutating func parseSign(at offset: Int) throws(Failure) -> Item {
    let isNegation = token.isSign("-"), isPlus = token.isSign("+")
    try advance()
    if isNegation, case .integer(1 << 63) = token.kind {
      try advance()
      return try parsePostfix(try item(.constant(.integer(.min)), above: 0, at: offset))
    }
    let part = try parseItem(.unary)
    let operand = try expression(part)
    if isPlus { return part }
    return try call(isNegation ? Function.negate : Function.complement, [operand], above: part.height, at: offset)
  }

  /// A call with the right number of arguments. What prints as a constant is one, however it was written.
  private func call(
    _ name: String, _ parts: [Expression], above height: Int, at offset: Int
  ) throws(Failure) -> Item {
    if let value = parts.first?.constantValue {
      var constant: Value?
      if name == Function.negate {
        constant = negated(value)
      } else if name == Function.cast, case .text(let type)? = parts[1].constantValue {
        constant = CastLiteral.value(of: value, type: type.string)
      }
      if let constant { return try item(.constant(constant), above: 0, at: offset) }
    }
    return try item(.function(name, parts), above: height, at: offset)
  }

  /// What a minus sign before a literal makes of it.
  private func negated(_ value: Value) -> Value? {
    switch value {
    case .integer(let integer) where integer != .min: .integer(-integer)
    case .boolean(let boolean): .integer(boolean ? -1 : 0)
    case .double(let double): .double(-double)
    default: nil
    }
  }

  // MARK: Keys and indexes

  private mutating func parsePostfix(_ first: Item) throws(Failure) -> Item {
    var result = first
    while true {
      if token.isSign(".") {
        let base = try expression(result)
        try advance()
        result = try parseKey(of: base, result)
      } else if token.isSign("[") {
        result = try parseIndex(of: try expression(result), result)
      } else {
        return result
      }
    }
  }

  private mutating func parseKey(of base: Expression, _ item: Item) throws(Failure) -> Item {
    let keys: [String]
    switch token.kind {
    case .word(let word), .escapedKey(let word), .collectionOperator(let word): keys = [word]
    case .placeholder(let placeholder) where placeholder.kind == .keyPath:
      guard case .expression(.keyPath(let path)) = try argument(for: placeholder) else {
        throw unexpected("A key path is expected after the dot")
      }
      keys = path
    case .variable(let name):
      try advance()
      return try self.item(.variableKey(base, name), above: item.height, at: item.offset)
    default: throw unexpected("A key is expected after the dot")
    }
    try advance()
    let extended = base.appending(keys)
    if let problem = extended.keyProblem { throw failure(problem, at: item.offset) }
    switch base {
    case .keyPath, .path: return Item(operand: .expression(extended), height: item.height, offset: item.offset)
    default: return try self.item(extended, above: item.height, at: item.offset)
    }
  }

  private mutating func parseIndex(of base: Expression, _ item: Item) throws(Failure) -> Item {
    try advance()
    let index: Expression.Index
    var height = item.height
    if lexer.following == UInt8(ascii: "]"), let keyword = token.keyword, keyword.isIndex {
      index = keyword == .first ? .first : keyword == .last ? .last : .size
      try advance()
    } else {
      let part = try parseItem(.set)
      index = .expression(try expression(part))
      height = max(height, part.height)
    }
    try expect("]", "An index ends with ]")
    let isGrouped = item.isGrouped && base.hasSeveralKeys
    return try self.item(.index(base, index, isGrouped: isGrouped), above: height, at: item.offset)
  }

  // MARK: Atoms

  private mutating func parseAtom() throws(Failure) -> Item {
    let token = token
    let offset = token.offset
    switch token.kind {
    case .text(let text):
      try advance()
      return try item(.constant(.text(text)), above: 0, at: offset)
    case .integer(let magnitude):
      try advance()
      let value = Int64(exactly: magnitude).map(Value.integer) ?? .double(Double(magnitude))
      return try item(.constant(value), above: 0, at: offset)
    case .real(let double):
      try advance()
      return try item(.constant(.double(double)), above: 0, at: offset)
    case .placeholder(let placeholder):
      let operand = try argument(for: placeholder)
      try advance()
      return try item(operand, height: operand.height - 1, at: offset)
    case .variable(let name):
      try advance()
      return try item(.variable(name), above: 0, at: offset)
    case .collectionOperator(let key), .escapedKey(let key):
      try advance()
      return try item(.keyPath([key]), above: 0, at: offset)
    case .selector(let name):
      try advance()
      return try parseFunction(name, at: offset)
    case .sign("("): return try parseGroup(at: offset)
    case .sign("{"): return try parseList(at: offset)
    case .word(let word): return try parseWord(word, at: offset)
    case .end, .sign: throw unexpected("A value or a key is expected here")
    }
  }

  private mutating func parseWord(_ word: String, at offset: Int) throws(Failure) -> Item {
    let isCall = lexer.following == UInt8(ascii: "(")
    let keyword = Keyword(word: word)
    if let keyword, keyword.isReserved || (isCall && !keyword.isIndex) {
      if keyword == .anykey || keyword.constant != nil || keyword == .selfWord {
        try advance()
        let expression: Expression =
          keyword == .anykey
          ? .anyKey : keyword == .selfWord ? .selfObject : .constant(keyword.constant ?? .nil)
        return try item(expression, above: 0, at: offset)
      }
      guard isCall, !keyword.isReserved else {
        throw failure(
          "\(word.uppercased()) cannot stand here; to use the word as a key, write #\(word).", at: offset)
      }
      try advance()
      return try parseSpecialForm(keyword, at: offset)
    }
    try advance()
    if isCall { return try parseFunction(Function.canonicalName(word), at: offset) }
    return try item(.keyPath([word]), above: 0, at: offset)
  }

  private mutating func parseGroup(at offset: Int) throws(Failure) -> Item {
    try advance()
    if token.isSign(")") { throw failure("The parentheses are empty.", at: offset) }
    var inner = try parseItem(.or)
    try expect(")", "A closing parenthesis is expected here")
    inner.isGrouped = true
    inner.offset = offset
    return inner
  }

  /// Expressions up to the closing sign, which is consumed.
  private mutating func parseParts(
    until closing: String, _ sentence: String
  ) throws(Failure) -> ([Expression], height: Int) {
    var parts: [Expression] = []
    var height = 0
    if try accept(closing) { return (parts, height) }
    repeat {
      let part = try parseItem(.set)
      parts.append(try expression(part))
      height = max(height, part.height)
    } while try accept(",")
    try expect(closing, sentence)
    return (parts, height)
  }

  private mutating func parseList(at offset: Int) throws(Failure) -> Item {
    try advance()
    let (parts, height) = try parseParts(until: "}", "A list goes on with a comma or ends with }")
    return try item(.aggregate(parts), above: height, at: offset)
  }

  private mutating func parseFunction(_ name: String, at offset: Int) throws(Failure) -> Item {
    try expect("(", "The arguments of \(name) are expected")
    let (parts, height) = try parseParts(until: ")", "The arguments of \(name) go on with a comma or end with )")
    return try checkedCall(name, parts, above: height, at: offset)
  }

  /// A call of which nothing is known yet but that it is written so.
  func checkedCall(
    _ name: String, _ parts: [Expression], above height: Int, at offset: Int
  ) throws(Failure) -> Item {
    if let expected = Function.argumentCount(name), parts.count != expected {
      throw failure("\(name) takes \(expected) arguments, and here are \(parts.count).", at: offset)
    }
    if let problem = FunctionRegistry.function(named: name)?.problem(with: parts) {
      throw failure(problem.message.string, at: offset)
    }
    return try call(name, parts, above: height, at: offset)
  }

  // MARK: Special forms

  private mutating func parseSpecialForm(_ keyword: Keyword, at offset: Int) throws(Failure) -> Item {
    try advance()
    switch keyword {
    case .subquery: return try parseSubquery(at: offset)
    case .ternary: return try parseTernary(at: offset)
    case .cast: return try parseCast(at: offset)
    case .fetch:
      let (parts, height) = try parseParts(until: ")", "The arguments of FETCH end with )")
      guard (1...3).contains(parts.count) else {
        throw failure("FETCH takes a request, a context and whether to count.", at: offset)
      }
      return try item(.fetch(parts), above: height, at: offset)
    default:
      return try parseCall(at: offset)
    }
  }

  private mutating func parseSubquery(at offset: Int) throws(Failure) -> Item {
    let collection = try parseItem(.set)
    try expect(",", "SUBQUERY needs a comma after its collection")
    guard case .variable(let variable) = token.kind else {
      throw unexpected("SUBQUERY needs a variable such as $x after its collection")
    }
    try advance()
    try expect(",", "SUBQUERY needs a comma after its variable")
    let condition = try parseItem(.or)
    try expect(")", "SUBQUERY ends with ) after its predicate")
    let result = Expression.subquery(
      try expression(collection), variable: variable, try predicate(condition))
    return try item(result, above: collection.height, condition.height, at: offset)
  }

  private mutating func parseTernary(at offset: Int) throws(Failure) -> Item {
    let condition = try parseItem(.or)
    try expect(",", "TERNARY needs a comma after its predicate")
    let first = try parseItem(.set)
    try expect(",", "TERNARY needs a comma between its two values")
    let second = try parseItem(.set)
    try expect(")", "TERNARY ends with ) after its second value")
    let result = Expression.conditional(
      try predicate(condition), try expression(first), try expression(second))
    return try item(result, above: condition.height, first.height, second.height, at: offset)
  }

  private mutating func parseCast(at offset: Int) throws(Failure) -> Item {
    let (parts, height) = try parseParts(until: ")", "CAST ends with ) after the name of a type")
    guard parts.count == 2, case .text? = parts[1].constantValue else {
      throw failure("CAST takes a value and the name of a type in quotes, such as \"NSDate\".", at: offset)
    }
    return try call(Function.cast, parts, above: height, at: offset)
  }
}

extension Keyword {
  var isIndex: Bool { self == .first || self == .last || self == .size }

  var constant: Value? {
    switch self {
    case .null, .nilWord: .nil
    case .yes, .trueWord: .boolean(true)
    case .no, .falseWord: .boolean(false)
    default: nil
    }
  }
}

extension Expression {
  var hasSeveralKeys: Bool {
    switch self {
    case .keyPath(let keys): keys.count > 1
    case .path, .variableKey: true
    default: false
    }
  }
}
