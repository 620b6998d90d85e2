import Glibc

/// Arithmetic on values: integers divide toward zero, and one floating operand makes the result floating. Integer
/// overflow results in the floating value, division by zero and nil in nil.
enum Arithmetic {
  /// The value of an expression made of constants and operators alone; nil when it holds anything else.
  static func fold(_ expression: Expression) throws(Failure) -> Value? {
    switch expression {
    case .constant(let constant): return constant.value
    case .function(let name, let parts):
      guard isOperator(name) else { return nil }
      var values: [Value] = []
      for part in parts {
        guard let value = try fold(part) else { return nil }
        values.append(value)
      }
      return try apply(name, values, in: expression)
    case .list(let parts):
      var values: [Value] = []
      for part in parts {
        guard let value = try fold(part) else { return nil }
        values.append(value)
      }
      return .list(values)
    default: return nil
    }
  }

  static func isOperator(_ name: String) -> Bool {
    Function.infixSign(of: name) != nil || name == Function.negate || name == Function.complement
  }

  /// The result of an operator; a failure names `expression`.
  static func apply(_ name: String, _ values: [Value], in expression: Expression) throws(Failure) -> Value {
    var numbers: [Number] = []
    for value in values where !value.isNil { numbers.append(try number(value, in: expression)) }
    guard numbers.count == values.count, let first = numbers.first else { return .nil }
    if name == Function.negate { return negate(first) }
    if name == Function.complement {
      return .integer(~(try bits(first, in: expression)))
    }
    guard numbers.count == 2 else { return .nil }
    switch name {
    case "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:":
      let left = try bits(first, in: expression), right = try bits(numbers[1], in: expression)
      switch name {
      case "bitwiseAnd:with:": return .integer(left & right)
      case "bitwiseOr:with:": return .integer(left | right)
      case "bitwiseXor:with:": return .integer(left ^ right)
      case "leftshift:by:": return .integer(left << right)
      default: return .integer(left >> right)
      }
    default: break
    }
    if case .integer(let left) = first, case .integer(let right) = numbers[1] {
      return integers(name, left, right)
    }
    return reals(name, first.double, numbers[1].double)
  }

  /// An integer or a 64-bit real, which are what is calculated with.
  static func number(_ value: Value, in expression: Expression) throws(Failure) -> Number {
    guard let number = value.number else {
      throw Failure(
        .invalidPredicate,
        "\(expression.text) calculates with \(value.kindName); only numbers can be calculated with.")
    }
    if case .float(let float) = number { return .real(Double(float)) }
    return number
  }

  static func sum(_ left: Number, _ right: Number) -> Number {
    if case .integer(let left) = left, case .integer(let right) = right {
      let sum = left.addingReportingOverflow(right)
      if !sum.overflow { return .integer(sum.partialValue) }
    }
    return .real(left.double + right.double)
  }

  private static func negate(_ number: Number) -> Value {
    if case .integer(let integer) = number, integer != .min { return .integer(-integer) }
    return .double(-number.double)
  }

  private static func bits(_ number: Number, in expression: Expression) throws(Failure) -> Int64 {
    switch number {
    case .integer(let integer): return integer
    case .real(let double):
      if let integer = Int64(exactly: double) { return integer }
    case .float: break
    }
    throw Failure(.invalidPredicate, "\(expression.text) takes the bits of a number that is no integer.")
  }

  private static func integers(_ name: String, _ left: Int64, _ right: Int64) -> Value {
    let result: (partialValue: Int64, overflow: Bool)
    switch name {
    case "add:to:": result = left.addingReportingOverflow(right)
    case "from:subtract:": result = left.subtractingReportingOverflow(right)
    case "multiply:by:": result = left.multipliedReportingOverflow(by: right)
    case "divide:by:":
      if right == 0 { return .nil }
      result = left.dividedReportingOverflow(by: right)
    case "modulus:by:":
      if right == 0 { return .nil }
      return .integer(right == -1 ? 0 : left % right)
    default: return power(left, right)
    }
    return result.overflow ? reals(name, Double(left), Double(right)) : .integer(result.partialValue)
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> Value {
    if exponent < 0 { return reals("raise:toPower:", Double(base), Double(exponent)) }
    var result: Int64 = 1, square = base, remaining = exponent
    while remaining > 0 {
      if remaining & 1 == 1 {
        let (product, overflow) = result.multipliedReportingOverflow(by: square)
        if overflow { return .double(pow(Double(base), Double(exponent))) }
        result = product
      }
      remaining >>= 1
      if remaining > 0 {
        let (next, overflow) = square.multipliedReportingOverflow(by: square)
        if overflow { return .double(pow(Double(base), Double(exponent))) }
        square = next
      }
    }
    return .integer(result)
  }

  private static func reals(_ name: String, _ left: Double, _ right: Double) -> Value {
    switch name {
    case "add:to:": .double(left + right)
    case "from:subtract:": .double(left - right)
    case "multiply:by:": .double(left * right)
    case "divide:by:": right == 0 ? .nil : .double(left / right)
    case "modulus:by:": right == 0 ? .nil : .double(fmod(left, right))
    default: .double(pow(left, right))
    }
  }
}
