/// A number as predicates see it: booleans are 1 and 0, a decimal is the double that the file holds.
enum Number: Sendable {
  case integer(Int64)
  case real(Double)
  case float(Float)

  /// nil when either is NaN. A 32-bit side makes it a comparison of 32-bit values; otherwise integers and
  /// doubles compare exactly, as SQLite does.
  static func order(_ left: Number, _ right: Number) -> Int? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.integer(let left), .real(let right)): return order(left, right)
    case (.real(let left), .integer(let right)): return order(right, left).map { -$0 }
    case (.real(let left), .real(let right)): return order(reals: left, right)
    case (.float, _), (_, .float): return order(reals: Double(left.single), Double(right.single))
    }
  }

  /// The nearest 32-bit value.
  var single: Float {
    switch self {
    case .integer(let integer): Float(integer)
    case .real(let double): Float(double)
    case .float(let float): float
    }
  }

  var double: Double {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let double): double
    case .float(let float): Double(float)
    }
  }

  private static func order(reals left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
  }

  private static func order(_ integer: Int64, _ double: Double) -> Int? {
    if double.isNaN { return nil }
    if double >= 9_223_372_036_854_775_808 { return -1 }
    if double < -9_223_372_036_854_775_808 { return 1 }
    let whole = Int64(double.rounded(.towardZero))
    if integer != whole { return integer < whole ? -1 : 1 }
    let fraction = double - double.rounded(.towardZero)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }
}
