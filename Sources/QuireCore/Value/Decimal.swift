/// A decimal number of up to 38 significant digits: `mantissa` times ten to the `exponent`, normalised so that the
/// mantissa has no trailing zero. The file holds decimals as doubles (a fact of Core Data's format), which carry 15
/// digits. Attributes therefore reject decimals with more, and round doubles to as many.
final class Decimal: Sendable {
  let isNegative: Bool
  let mantissa: UInt128
  let exponent: Int

  private static let largestMantissa = UInt128(99_999_999_999_999_999_999_999_999_999_999_999_999)
  private static let exponents = -128...127

  init?(isNegative: Bool, mantissa: UInt128, exponent: Int) {
    var mantissa = mantissa, exponent = exponent
    while mantissa != 0, mantissa % 10 == 0 { mantissa /= 10; exponent += 1 }
    if mantissa == 0 { exponent = 0 }
    guard mantissa <= Decimal.largestMantissa, Decimal.exponents.contains(exponent) else { return nil }
    self.isNegative = isNegative && mantissa != 0
    self.mantissa = mantissa
    self.exponent = exponent
  }

  /// Why a text is not a decimal.
  enum Refusal: Error {
    case malformed, tooManyDigits, outOfRange

    /// Completes a sentence about the text.
    func reason(_ text: Text) -> String {
      switch self {
      case .malformed: "is not a decimal number: '\(text)'. Write it like -12.50 or 1e3."
      case .tooManyDigits: "has more than the 38 significant digits that a decimal can have: '\(text)'. Round it."
      case .outOfRange:
        "is out of the range of decimals, whose last significant digit stands for a power of ten from "
          + "\(Decimal.exponents.lowerBound) to \(Decimal.exponents.upperBound): '\(text)'."
      }
    }
  }

  /// Reads `-12.50e3`. nil for anything else, for more than 38 significant digits and for exponents beyond ±127.
  convenience init?(_ text: some Sequence<UInt8>) {
    guard case .success(let (isNegative, mantissa, exponent)) = Decimal.scan(text) else { return nil }
    self.init(isNegative: isNegative, mantissa: mantissa, exponent: exponent)
  }

  /// The same, with the reason where it is none.
  static func reading(_ text: some Sequence<UInt8>) -> Result<Decimal, Refusal> {
    scan(text).flatMap { (isNegative, mantissa, exponent) in
      Decimal(isNegative: isNegative, mantissa: mantissa, exponent: exponent).map { .success($0) }
        ?? .failure(.outOfRange)
    }
  }

  private typealias Parts = (isNegative: Bool, mantissa: UInt128, exponent: Int)

  private static func scan(_ text: some Sequence<UInt8>) -> Result<Parts, Refusal> {
    var isNegative = false, mantissa: UInt128 = 0, digits = 0, fraction = 0
    // Zeros count when there is another digit behind them.
    var significant = 0, zeros = 0
    var exponent = 0, exponentIsNegative = false, exponentDigits = 0
    var inFraction = false, inExponent = false, first = true, exponentFirst = false
    for byte in text {
      switch byte {
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        guard first || exponentFirst else { return .failure(.malformed) }
        if inExponent { exponentIsNegative = byte == UInt8(ascii: "-") } else { isNegative = byte == UInt8(ascii: "-") }
        exponentFirst = false
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = Int(byte - UInt8(ascii: "0"))
        if inExponent {
          exponentDigits += 1
          exponent = min(exponent * 10 + digit, 100_000)
          exponentFirst = false
        } else {
          digits += 1
          if inFraction { fraction += 1 }
          if digit == 0 {
            if significant > 0 { zeros += 1 }
            break
          }
          significant += zeros + 1
          if significant <= 38 {
            for _ in 0..<zeros { mantissa *= 10 }
            mantissa = mantissa * 10 + UInt128(digit)
          }
          zeros = 0
        }
      case UInt8(ascii: "."):
        guard !inFraction, !inExponent else { return .failure(.malformed) }
        inFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        guard !inExponent, digits > 0 else { return .failure(.malformed) }
        inExponent = true
        exponentFirst = true
      default: return .failure(.malformed)
      }
      first = false
    }
    guard digits > 0, !inExponent || exponentDigits > 0 else { return .failure(.malformed) }
    if significant > 38 { return .failure(.tooManyDigits) }
    return .success((isNegative, mantissa, (exponentIsNegative ? -exponent : exponent) - fraction + zeros))
  }

  /// The decimal with the digits that `double` prints with; nil for NaN, infinities and out-of-range exponents.
  convenience init?(_ double: Double) {
    guard double.isFinite else { return nil }
    if let (mantissa, places) = Decimal.fewDigits(double.magnitude) {
      self.init(isNegative: double < 0, mantissa: UInt128(mantissa), exponent: -places)
      return
    }
    self.init("\(double)".utf8)
  }

  /// The digits of a double that has a few behind the point, as most prices do, without printing it.
  ///
  /// Both operands of the division are exact. Its result is rounded once, so it is the double nearest to these digits.
  /// There is no other decimal of up to 15 digits for that double.
  private static func fewDigits(_ double: Double) -> (mantissa: Int64, places: Int)? {
    for places in powers.indices {
      let scaled = (double * powers[places]).rounded()
      if scaled >= firstTooLong { return nil }
      if scaled / powers[places] == double { return (Int64(scaled), places) }
    }
    return nil
  }

  private static let powers: [Double] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
  private static let firstTooLong = 1e15

  /// So many digits every double carries.
  static let storedDigits = 15
  private static let firstUnstored = UInt128(1_000_000_000_000_000)

  /// How many digits there are, from the first to the last that is not zero.
  var digitCount: Int { "\(mantissa)".utf8.count }
  var fitsFile: Bool { mantissa < Decimal.firstUnstored }

  /// The nearest decimal that a file holds with all its digits, halves away from zero.
  var rounded: Decimal {
    var (mantissa, exponent) = (mantissa, exponent)
    var digit: UInt128 = 0
    while mantissa >= Decimal.firstUnstored {
      digit = mantissa % 10
      mantissa /= 10
      exponent += 1
    }
    if digit >= 5 { mantissa += 1 }
    return Decimal(isNegative: isNegative, mantissa: mantissa, exponent: exponent) ?? self
  }

  convenience init(_ integer: Int64) {
    self.init(isNegative: integer < 0, mantissa: UInt128(integer.magnitude), exponent: 0)!
  }

  /// The nearest double.
  var double: Double { Double(description)! }

  /// The value that comes back from the file.
  var stored: Decimal {
    fitsFile ? self : Decimal(double) ?? self
  }

  /// A whole number of a file, in which SQLite keeps whole doubles as integers. Such a double has the digits that it
  /// prints with; an integer of another program that is no double has its own.
  static func stored(_ integer: Int64) -> Decimal {
    let double = Double(integer)
    if double.magnitude < 9_007_199_254_740_992 || Int64(exactly: double) != integer { return Decimal(integer) }
    return Decimal(double) ?? Decimal(integer)
  }

  static func order(_ left: Decimal, _ right: Decimal) -> Int {
    if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
    let order = magnitudeOrder(left, right)
    return left.isNegative ? -order : order
  }

  private static func magnitudeOrder(_ left: Decimal, _ right: Decimal) -> Int {
    if left.mantissa == 0 || right.mantissa == 0 {
      return left.mantissa == right.mantissa ? 0 : left.mantissa == 0 ? -1 : 1
    }
    let leftDigits = "\(left.mantissa)".utf8, rightDigits = "\(right.mantissa)".utf8
    let leftPoint = leftDigits.count + left.exponent, rightPoint = rightDigits.count + right.exponent
    if leftPoint != rightPoint { return leftPoint < rightPoint ? -1 : 1 }
    // Same place of the first digit and no trailing zeros: the digits compare as text.
    if leftDigits.elementsEqual(rightDigits) { return 0 }
    return leftDigits.lexicographicallyPrecedes(rightDigits) ? -1 : 1
  }
}

extension Decimal: Hashable {
  static func == (left: Decimal, right: Decimal) -> Bool {
    left.isNegative == right.isNegative && left.mantissa == right.mantissa && left.exponent == right.exponent
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(isNegative)
    hasher.combine(mantissa)
    hasher.combine(exponent)
  }
}

extension Decimal: CustomStringConvertible {
  var description: String {
    let digits = "\(mantissa)", sign = isNegative ? "-" : ""
    if exponent >= 0, digits.utf8.count + exponent <= 39 {
      return sign + digits + String(repeating: "0", count: exponent)
    }
    if exponent < 0, -exponent < 39 {
      let padded = String(repeating: "0", count: max(0, -exponent + 1 - digits.utf8.count)) + digits
      return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
    }
    return "\(sign)\(digits)e\(exponent)"
  }
}
