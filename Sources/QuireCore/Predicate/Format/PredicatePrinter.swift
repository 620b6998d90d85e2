extension Predicate {
  /// The canonical format, which parses back to the same tree.
  var text: String { PredicatePrinter.text(self) }
}

extension Expression {
  var text: String { PredicatePrinter.text(self) }
}

/// Writes trees as formats.
enum PredicatePrinter {
  static func text(_ predicate: Predicate) -> String {
    switch predicate {
    case .constant(let holds): return holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): return text(comparison)
    case .not(let part): return "NOT " + grouped(part)
    case .and(let parts): return chain(parts, "AND", empty: "TRUEPREDICATE")
    case .or(let parts): return chain(parts, "OR", empty: "FALSEPREDICATE")
    }
  }

  private static func chain(_ parts: [Predicate], _ word: String, empty: String) -> String {
    parts.isEmpty ? empty : parts.map(grouped).joined(separator: " \(word) ")
  }

  private static func grouped(_ predicate: Predicate) -> String {
    switch predicate {
    case .and(let parts), .or(let parts):
      parts.isEmpty ? text(predicate) : "(\(text(predicate)))"
    default: text(predicate)
    }
  }

  private static func text(_ comparison: Comparison) -> String {
    let modifier = comparison.modifier == .any ? "ANY " : comparison.modifier == .all ? "ALL " : ""
    return "\(modifier)\(text(comparison.left)) \(sign(comparison))\(options(comparison.options)) "
      + text(comparison.right)
  }

  private static func sign(_ comparison: Comparison) -> String {
    switch comparison.operator {
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    case .equal: "=="
    case .notEqual: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .isIn: "IN"
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    case .custom: comparison.customOperator
    }
  }

  private static func options(_ options: Comparison.Options) -> String {
    if options.isEmpty { return "" }
    let letters: [(Comparison.Options, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
      (.word, "w"),
    ]
    return "[" + letters.filter { options.contains($0.0) }.map(\.1).joined() + "]"
  }

  // MARK: Expressions

  static func text(_ expression: Expression) -> String {
    switch expression {
    case .constant(let constant): return text(constant.value)
    case .selfObject: return "SELF"
    case .anyKey: return "ANYKEY"
    case .variable(let name): return "$" + name
    case .keyPath(let keys): return keys.enumerated().map { key($1.name, isFirst: $0 == 0) }.joined(separator: ".")
    case .path(let base, let keys):
      return ([self.base(base)] + keys.map { key($0.name, isFirst: false) }).joined(separator: ".")
    case .variableKey(let base, let name): return "\(self.base(base)).$\(name)"
    case .function(let name, let parts): return function(name, parts)
    case .list(let parts): return "{" + list(parts) + "}"
    case .index(let base, let index, let isGrouped):
      let text = isGrouped ? "(\(text(base)))" : self.base(base)
      return "\(text)[\(self.index(index))]"
    case .subquery(let collection, let variable, let condition):
      return "SUBQUERY(\(text(collection)), $\(variable), \(text(condition)))"
    case .conditional(let condition, let first, let second):
      return "TERNARY(\(text(condition)), \(text(first)), \(text(second)))"
    case .set(let operation, let left, let right):
      return "\(operand(left)) \(operation.rawValue) \(operand(right))"
    case .fetch(let parts): return "FETCH(" + list(parts) + ")"
    case .assignment(let name, let value): return "$\(name) := \(operand(value))"
    case .argument(_, let text): return text
    }
  }

  private static func list(_ parts: [Expression]) -> String { parts.map(text).joined(separator: ", ") }

  private static func function(_ name: String, _ parts: [Expression]) -> String {
    if parts.count == 2, let sign = Function.infixSign(of: name) {
      return "\(operand(parts[0])) \(sign) \(operand(parts[1]))"
    }
    if parts.count == 1, name == Function.negate { return "-" + operand(parts[0]) }
    if parts.count == 1, name == Function.complement { return "~" + operand(parts[0]) }
    if parts.count == 2, name == Function.cast, case .text? = parts[1].constantValue {
      return "CAST(" + list(parts) + ")"
    }
    return "\(name)(" + list(parts) + ")"
  }

  /// With parentheses where an operator around it would take the expression apart.
  private static func operand(_ expression: Expression) -> String {
    switch expression {
    case .set, .assignment: return "(\(text(expression)))"
    case .function(let name, let parts)
    where parts.count == 2 && Function.infixSign(of: name) != nil:
      return "(\(text(expression)))"
    case .function(let name, let parts)
    where parts.count == 1 && (name == Function.negate || name == Function.complement):
      return "(\(text(expression)))"
    default: return text(expression)
    }
  }

  /// Keys and indexes bind tighter than the sign of a number.
  private static func base(_ expression: Expression) -> String {
    let text = operand(expression)
    return text.hasPrefix("-") ? "(\(text))" : text
  }

  private static func index(_ index: Expression.Index) -> String {
    switch index {
    case .first: return "FIRST"
    case .last: return "LAST"
    case .size: return "SIZE"
    case .expression(.keyPath(let keys)):
      let isWord = keys.count == 1 && Keyword(word: keys[0].name)?.isIndex == true
      return isWord ? "#" + keys[0].name : text(.keyPath(keys))
    case .expression(let expression): return text(expression)
    }
  }

  /// As it is where the parser reads it as a key, else behind a number sign, and in quotes if it is no word.
  private static func key(_ key: String, isFirst: Bool) -> String {
    let bytes = Text(key)
    if key.utf8.first == UInt8(ascii: "@"), let name = word(String(key.dropFirst())) { return "@" + name }
    guard let word = word(key) else { return "#" + quoted(bytes) }
    return isFirst && Keyword(word: word)?.isReserved == true ? "#" + word : word
  }

  private static func word(_ key: String) -> String? {
    var lexer = PredicateLexer(Text(key))
    guard let token = try? lexer.next(), case .word(key) = token.kind, lexer.position == lexer.bytes.count,
      !key.contains("-")
    else { return nil }
    return key
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .nil: return "nil"
    case .integer(let integer): return "\(integer)"
    case .boolean(let boolean): return boolean ? "1" : "0"
    case .text(let text): return quoted(text)
    case .list(let list): return "{" + list.values.map(text).joined(separator: ", ") + "}"
    default:
      if let cast = CastLiteral.text(of: value) { return cast }
      return "\(value.number?.double ?? 0)"
    }
  }

  static func quoted(_ text: Text) -> String {
    var result = "\""
    for scalar in text.string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
