/// A specifier such as `%@`, `%K` or `%lld` in a format, and what it takes.
struct Placeholder: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    case value, keyPath, integer, unsigned, real, character, text
  }

  /// How wide the argument is that a C caller passes.
  enum Width: Sendable, Equatable {
    case plain, char, short, long, longLong, longDouble
  }

  let kind: Kind
  let width: Width
  let spelling: String
  /// Byte offset of the percent sign.
  let offset: Int

  /// Reads the specifier at `offset`, where a percent sign stands; nil when it is none.
  static func read(_ bytes: [UInt8], at offset: Int) -> (Placeholder, end: Int)? {
    var index = offset + 1
    var width = Width.plain
    func peek(_ sign: Unicode.Scalar) -> Bool { index < bytes.count && bytes[index] == UInt8(ascii: sign) }
    if peek("l") {
      index += 1
      width = .long
      if peek("l") { index += 1; width = .longLong }
    } else if peek("h") {
      index += 1
      width = .short
      if peek("h") { index += 1; width = .char }
    } else if peek("q") || peek("j") {
      index += 1
      width = .longLong
    } else if peek("z") || peek("t") {
      index += 1
      width = .long
    } else if peek("L") {
      index += 1
      width = .longDouble
    }
    guard index < bytes.count else { return nil }
    let kind: Kind
    switch Character(Unicode.Scalar(bytes[index])) {
    case "@" where width == .plain: kind = .value
    case "K" where width == .plain: kind = .keyPath
    case "d", "i", "D": kind = .integer
    case "u", "U", "x", "X", "o", "O": kind = .unsigned
    case "f", "F", "g", "G", "e", "E", "a", "A": kind = .real
    case "c" where width == .plain, "C" where width == .plain: kind = .character
    case "s" where width == .plain: kind = .text
    default: return nil
    }
    let spelling = String(decoding: bytes[offset...index], as: UTF8.self)
    return (Placeholder(kind: kind, width: width, spelling: spelling, offset: offset), index + 1)
  }

  /// What an argument becomes, or the sentence that says why it cannot.
  func expression(for argument: Value) -> Result<Expression, Problem> {
    switch (kind, argument) {
    case (.value, _): return .success(.constant(argument))
    case (.keyPath, .text(let text)):
      let keys = text.string.split(separator: ".", omittingEmptySubsequences: false).map { Key(String($0)) }
      if keys.contains("") { return .failure(Problem("\"\(text)\" is not a key path: a key in it is empty.")) }
      if let problem = Expression.keyPath(keys).keyProblem { return .failure(Problem(problem)) }
      return .success(.keyPath(keys))
    case (.integer, .integer), (.integer, .boolean), (.unsigned, .integer), (.unsigned, .boolean),
      (.character, .integer), (.real, .double), (.real, .float):
      return .success(.constant(argument))
    case (.real, .integer(let integer)): return .success(.constant(.double(Double(integer))))
    case (.text, .text), (.character, .text): return .success(.constant(argument))
    default:
      return .failure(Problem("\(spelling) takes \(expectation), and its argument is \(argument.kindName)."))
    }
  }

  struct Problem: Error { let sentence: String; init(_ sentence: String) { self.sentence = sentence } }

  var expectation: String {
    switch kind {
    case .value: "any value"
    case .keyPath: "a key path as text"
    case .integer, .unsigned: "an integer"
    case .real: "a floating number"
    case .character: "a character"
    case .text: "text"
    }
  }

  /// The specifiers of a format in the order of their arguments, for a caller that must fetch C arguments.
  ///
  /// Stops silently at what is no format; parsing says what is wrong with it.
  static func list(in format: Text) -> [Placeholder] {
    var lexer = PredicateLexer(format)
    var found: [Placeholder] = []
    while let token = try? lexer.next(), token.kind != .end {
      if case .placeholder(let placeholder) = token.kind { found.append(placeholder) }
    }
    return found
  }
}
