/// The functions and infix operators that the format knows by name.
enum Function {
  /// Binary operators, tightest first, each with the function that its node carries.
  static let infix: [(sign: String, name: String)] = [
    ("**", "raise:toPower:"), ("*", "multiply:by:"), ("/", "divide:by:"), ("%%", "modulus:by:"),
    ("+", "add:to:"), ("-", "from:subtract:"), ("<<", "leftshift:by:"), (">>", "rightshift:by:"),
    ("&", "bitwiseAnd:with:"), ("^", "bitwiseXor:with:"), ("|", "bitwiseOr:with:"),
  ]
  static let negate = "negate:"
  static let complement = "onesComplement:"
  static let cast = "castObject:toType:"

  static func infixName(of sign: String) -> String? { infix.first { $0.sign == sign }?.name }
  static func infixSign(of name: String) -> String? { infix.first { $0.name == name }?.sign }

  /// The functions of one argument that may be written without their colon: `sum(x)` is `sum:(x)`.
  private static let unary: Set<String> = [
    "sum", "count", "min", "max", "average", "avg", "median", "mode", "stddev", "sqrt", "log", "ln", "exp", "floor",
    "ceiling", "abs", "trunc", "randomn", "uppercase", "lowercase", "length", "noindex", "canonical",
    "onesComplement", "negate",
  ]

  static func canonicalName(_ written: String) -> String {
    unary.contains(written) ? written + ":" : written
  }

  /// The functions with colons that are neither operators nor of one argument.
  private static let others: Set<String> = [cast, "objectFrom:withIndex:", "distanceToLocation:fromLocation:"]

  /// Whether the name has a meaning in the format, evaluated or not.
  static func isKnown(_ canonicalName: String) -> Bool {
    if infixSign(of: canonicalName) != nil || others.contains(canonicalName) { return true }
    return canonicalName.utf8.last == UInt8(ascii: ":") && unary.contains(String(canonicalName.dropLast()))
  }

  /// The number of arguments a name fixes, or nil when any number goes.
  static func argumentCount(_ name: String) -> Int? {
    if infixSign(of: name) != nil || name == cast { return 2 }
    return name == negate || name == complement ? 1 : nil
  }
}
