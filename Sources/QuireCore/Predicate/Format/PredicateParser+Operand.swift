extension PredicateParser {
  /// NOT, a quantifier, a sign, or an operand with its keys and indexes; nil when another operand has to be read first.
  mutating func readPrefix() throws(Failure) -> Item? {
    let offset = token.offset
    if token.isSign("!") || token.keyword == .not {
      try advance()
      try wait(.not(at: offset))
      return nil
    }
    if token.isSign("-") || token.isSign("~") || token.isSign("+") { return try readSign() }
    switch token.keyword {
    case .any, .someWord: return try readQuantifier(.any)
    case .all: return try readQuantifier(.all)
    case .noneWord: return try readQuantifier(.any, isNone: true)
    case .truepredicate:
      try advance()
      return try item(.predicate(.constant(true)), height: 0, at: offset)
    case .falsepredicate:
      try advance()
      return try item(.predicate(.constant(false)), height: 0, at: offset)
    default: return try readAtom()
    }
  }

  private mutating func readQuantifier(
    _ modifier: Comparison.Modifier, isNone: Bool = false
  ) throws(Failure) -> Item? {
    let offset = token.offset
    try advance()
    try wait(.quantifier(Quantifier(modifier: modifier, isNone: isNone, offset: offset)))
    return nil
  }

  private mutating func readSign() throws(Failure) -> Item? {
    let sign = token
    try advance()
    if sign.isSign("-"), case .integer(1 << 63) = token.kind {
      try advance()
      return try readPostfix(try item(.constant(.integer(.min)), above: 0, at: sign.offset))
    }
    try wait(.sign(sign))
    return nil
  }

  func signed(_ operand: Item, _ sign: PredicateToken) throws(Failure) -> Item {
    let expression = try expression(operand)
    if sign.isSign("+") { return operand }
    let name = sign.isSign("-") ? Function.negate : Function.complement
    return try call(name, [expression], above: operand.height, at: sign.offset)
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

  /// The literal behind a minus sign.
  private func negated(_ value: Value) -> Value? {
    switch value {
    case .integer(let integer) where integer != .min: .integer(-integer)
    case .boolean(let boolean): .integer(boolean ? -1 : 0)
    case .double(let double): .double(-double)
    default: nil
    }
  }

  // MARK: Keys and indexes

  /// Keys and indexes behind an operand; nil when an index has to be read first.
  mutating func readPostfix(_ first: Item) throws(Failure) -> Item? {
    var result = first
    while true {
      if token.isSign(".") {
        let base = try expression(result)
        try advance()
        result = try parseKey(of: base, result)
      } else if token.isSign("[") {
        _ = try expression(result)
        try advance()
        guard lexer.following == UInt8(ascii: "]"), let keyword = token.keyword, keyword.isIndex else {
          try wait(.index(of: result))
          return nil
        }
        try advance()
        let index: Expression.Index = keyword == .first ? .first : keyword == .last ? .last : .size
        result = try closed(result, index, height: result.height)
      } else {
        return result
      }
    }
  }

  private mutating func parseKey(of base: Expression, _ item: Item) throws(Failure) -> Item {
    let keys: [Key]
    switch token.kind {
    case .word(let word), .escapedKey(let word), .collectionOperator(let word): keys = [Key(word)]
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

  mutating func indexed(_ base: Item, _ index: Expression.Index, height: Int) throws(Failure) -> Item? {
    try readPostfix(closed(base, index, height: height))
  }

  private mutating func closed(_ item: Item, _ index: Expression.Index, height: Int) throws(Failure) -> Item {
    let base = try expression(item)
    try expect("]", "An index ends with ]")
    let isGrouped = item.isGrouped && base.hasSeveralKeys
    return try self.item(.index(base, index, isGrouped: isGrouped), above: height, at: item.offset)
  }

  // MARK: Atoms

  private mutating func readAtom() throws(Failure) -> Item? {
    let token = token
    let offset = token.offset
    let result: Item
    switch token.kind {
    case .text(let text):
      try advance()
      result = try item(.constant(.text(text)), above: 0, at: offset)
    case .integer(let magnitude):
      try advance()
      let value = Int64(exactly: magnitude).map(Value.integer) ?? .double(Double(magnitude))
      result = try item(.constant(value), above: 0, at: offset)
    case .real(let double):
      try advance()
      result = try item(.constant(.double(double)), above: 0, at: offset)
    case .placeholder(let placeholder):
      let operand = try argument(for: placeholder)
      try advance()
      result = try item(operand, height: operand.height - 1, at: offset)
    case .variable(let name):
      try advance()
      result = try item(.variable(name), above: 0, at: offset)
    case .collectionOperator(let key), .escapedKey(let key):
      try advance()
      result = try item(.keyPath([Key(key)]), above: 0, at: offset)
    case .selector(let name):
      try advance()
      return try readFunction(name, at: offset)
    case .sign("("): return try readGroup(at: offset)
    case .sign("{"):
      try advance()
      return try readParts(Parts(.list, at: offset))
    case .word(let word): return try readWord(word, at: offset)
    case .end, .sign: throw unexpected("A value or a key is expected here")
    }
    return try readPostfix(result)
  }

  private mutating func readWord(_ word: String, at offset: Int) throws(Failure) -> Item? {
    let isCall = lexer.following == UInt8(ascii: "(")
    let keyword = Keyword(word: word)
    if let keyword, keyword.isReserved || (isCall && !keyword.isIndex) {
      if keyword == .anykey || keyword.constant != nil || keyword == .selfWord {
        try advance()
        let expression: Expression =
          keyword == .anykey
          ? .anyKey : keyword == .selfWord ? .selfObject : .constant(keyword.constant ?? .nil)
        return try readPostfix(item(expression, above: 0, at: offset))
      }
      guard isCall, !keyword.isReserved else {
        throw failure(
          "\(word.uppercased()) cannot stand here; to use the word as a key, write #\(word).", at: offset)
      }
      try advance()
      return try readSpecialForm(keyword, at: offset)
    }
    try advance()
    if isCall { return try readFunction(Function.canonicalName(word), at: offset) }
    return try readPostfix(item(.keyPath([Key(word)]), above: 0, at: offset))
  }

  private mutating func readGroup(at offset: Int) throws(Failure) -> Item? {
    try advance()
    if token.isSign(")") { throw failure("The parentheses are empty.", at: offset) }
    try wait(.group(at: offset))
    return nil
  }

  // MARK: Parts

  /// Expressions behind the opening sign, up to the closing one.
  private mutating func readParts(_ parts: Parts) throws(Failure) -> Item? {
    if try accept(parts.closing) { return try readPostfix(made(of: parts)) }
    try waitForPart(parts)
    return nil
  }

  private mutating func waitForPart(_ parts: Parts) throws(Failure) {
    if parts.quoted.count < 2 {
      let isQuoted = if case .text = token.kind { true } else { false }
      parts.quoted.append(isQuoted)
    }
    try wait(.parts(parts))
  }

  mutating func continueParts(_ parts: Parts, _ part: Item) throws(Failure) -> Item? {
    parts.expressions.append(try expression(part))
    parts.height = max(parts.height, part.height)
    if try accept(",") {
      try waitForPart(parts)
      return nil
    }
    try expect(parts.closing, parts.ending)
    return try readPostfix(made(of: parts))
  }

  private func made(of parts: Parts) throws(Failure) -> Item {
    switch parts.kind {
    case .list: return try item(.aggregate(parts.expressions), above: parts.height, at: parts.offset)
    case .function(let name):
      return try checkedCall(name, parts.expressions, above: parts.height, at: parts.offset)
    case .call: return try registeredCall(parts)
    case .fetch:
      guard (1...3).contains(parts.expressions.count) else {
        throw failure("FETCH takes a request, a context and whether to count.", at: parts.offset)
      }
      return try item(.fetch(parts.expressions), above: parts.height, at: parts.offset)
    case .cast:
      guard parts.expressions.count == 2, case .text? = parts.expressions[1].constantValue else {
        throw failure(
          "CAST takes a value and the name of a type in quotes, such as \"NSDate\".", at: parts.offset)
      }
      return try call(Function.cast, parts.expressions, above: parts.height, at: parts.offset)
    }
  }

  private mutating func readFunction(_ name: String, at offset: Int) throws(Failure) -> Item? {
    try expect("(", "The arguments of \(name) are expected")
    return try readParts(Parts(.function(name), at: offset))
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

  private mutating func readSpecialForm(_ keyword: Keyword, at offset: Int) throws(Failure) -> Item? {
    try advance()
    switch keyword {
    case .subquery: try wait(.subqueryCollection(at: offset))
    case .ternary: try wait(.ternaryCondition(at: offset))
    case .cast: return try readParts(Parts(.cast, at: offset))
    case .fetch: return try readParts(Parts(.fetch, at: offset))
    default: return try readParts(Parts(.call, at: offset))
    }
    return nil
  }

  mutating func beginCondition(ofSubquery collection: Item, at offset: Int) throws(Failure) {
    try expect(",", "SUBQUERY needs a comma after its collection")
    guard case .variable(let variable) = token.kind else {
      throw unexpected("SUBQUERY needs a variable such as $x after its collection")
    }
    try advance()
    try expect(",", "SUBQUERY needs a comma after its variable")
    try wait(.subqueryCondition(collection, variable: variable, at: offset))
  }

  mutating func subquery(
    _ collection: Item, _ variable: String, _ condition: Item, at offset: Int
  ) throws(Failure) -> Item {
    try expect(")", "SUBQUERY ends with ) after its predicate")
    let result = Expression.subquery(
      try expression(collection), variable: variable, try predicate(condition))
    return try item(result, above: collection.height, condition.height, at: offset)
  }

  mutating func ternary(
    _ condition: Item, _ first: Item, _ second: Item, at offset: Int
  ) throws(Failure) -> Item {
    try expect(")", "TERNARY ends with ) after its second value")
    let result = Expression.conditional(
      try predicate(condition), try expression(first), try expression(second))
    return try item(result, above: condition.height, first.height, second.height, at: offset)
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
