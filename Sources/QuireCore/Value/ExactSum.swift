import Glibc

/// A sum that is never rounded, so that what is added and taken away again leaves nothing behind, in whatever order.
///
/// Its digits, the lowest first, stand for powers of the base from `first` on. The last of them has the sign.
struct ExactSum {
  private let base: Int64
  private var first = 0
  private var digits: ContiguousArray<Int64> = []

  /// Of doubles and integers; digit 0 begins at the least double that there is.
  static var binary: ExactSum { ExactSum(base: 1 << 32) }
  static var decimal: ExactSum { ExactSum(base: 1_000_000_000) }

  private static let leastExponent = -1074

  private init(base: Int64) { self.base = base }

  /// Adds a finite double, or takes it away.
  mutating func add(_ double: Double, isTaken: Bool = false) {
    let bits = double.exponentBitPattern
    let significand = double.significandBitPattern | (bits == 0 ? 0 : 1 << 52)
    add(significand, exponent: max(Int(bits), 1) - 1075, isNegative: (double < 0) != isTaken)
  }

  /// Adds a number of at most 53 bits, times two to the `exponent`.
  private mutating func add(_ significand: UInt64, exponent: Int, isNegative: Bool) {
    let place = exponent - ExactSum.leastExponent
    let shift = UInt64(place & 31), sign: Int64 = isNegative ? -1 : 1
    let low = significand << shift, high = shift == 0 ? 0 : significand >> (64 - shift)
    add(sign * Int64(low & 0xFFFF_FFFF), at: place >> 5)
    add(sign * Int64(low >> 32), at: place >> 5 + 1)
    add(sign * Int64(high), at: place >> 5 + 2)
  }

  /// For a binary sum.
  mutating func add(_ integer: Int128) {
    var rest = integer.magnitude
    for exponent in stride(from: 0, to: 128, by: 32) where rest != 0 {
      add(UInt64(truncatingIfNeeded: rest & 0xFFFF_FFFF), exponent: exponent, isNegative: integer < 0)
      rest >>= 32
    }
  }

  /// For a decimal sum: adds `mantissa` times ten to the `exponent`.
  mutating func add(_ mantissa: UInt128, exponent: Int, isNegative: Bool) {
    var place = exponent / 9, power = exponent % 9
    if power < 0 { (place, power) = (place - 1, power + 9) }
    var scale: Int64 = isNegative ? -1 : 1
    for _ in 0..<power { scale *= 10 }
    var rest = mantissa
    while rest != 0 {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: UInt128(base))
      add(Int64(digit) * scale, at: place)
      rest = quotient
      place += 1
    }
  }

  mutating func add(_ decimal: Decimal, isTaken: Bool = false) {
    add(decimal.mantissa, exponent: decimal.exponent, isNegative: decimal.isNegative != isTaken)
  }

  /// `amount` is far enough from the limits of an integer to have a digit added.
  private mutating func add(_ amount: Int64, at place: Int) {
    if amount == 0 { return }
    if digits.isEmpty { first = place }
    if place < first {
      digits.insert(contentsOf: repeatElement(0, count: first - place), at: 0)
      first = place
    }
    while digits.count <= place - first {
      let isNegative = (digits.last ?? 0) < 0
      if isNegative { digits[digits.count - 1] += base }
      digits.append(isNegative ? -1 : 0)
    }
    var index = place - first, carry = amount
    while true {
      let sum = digits[index] + carry
      let isLast = index == digits.count - 1
      if isLast, sum > -base, sum < base {
        digits[index] = sum
        return
      }
      let digit = sum % base
      digits[index] = digit < 0 ? digit + base : digit
      carry = sum / base - (digit < 0 ? 1 : 0)
      if isLast { digits.append(0) } else if carry == 0 { return }
      index += 1
    }
  }

  /// The digits without the sign.
  private func magnitude() -> (isNegative: Bool, digits: ContiguousArray<Int64>) {
    guard let last = digits.last, last < 0 else { return (false, digits) }
    var result = digits
    var carry: Int64 = 0
    for index in result.indices {
      let digit = carry - result[index]
      carry = digit < 0 ? -1 : 0
      result[index] = digit < 0 ? digit + base : digit
    }
    return (true, result)
  }

  /// The nearest double to a binary sum.
  var double: Double {
    let (isNegative, digits) = magnitude()
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    var wide: UInt128 = 0
    for place in stride(from: top, through: top - 2, by: -1) {
      wide = wide << 32 | UInt128(place < 0 ? 0 : digits[place])
    }
    // 64 bits, the last of which stands for all that is left out.
    let excess = 64 - wide.leadingZeroBitCount
    let isInexact = wide & (1 << UInt128(excess) - 1) != 0 || digits.prefix(max(top - 2, 0)).contains { $0 != 0 }
    let kept = UInt64(truncatingIfNeeded: wide >> UInt128(excess)) | (isInexact ? 1 : 0)
    let double = scalbn(Double(kept), Int32(32 * (first + top - 2) + excess + ExactSum.leastExponent))
    return isNegative ? -double : double
  }

  /// A decimal sum as a decimal, or where that has too few digits, as the nearest double.
  var decimal: Value {
    let (isNegative, digits) = magnitude()
    var text = isNegative ? "-0" : "0"
    for digit in digits.reversed() {
      let written = "\(digit)"
      text += String(repeating: "0", count: 9 - written.utf8.count) + written
    }
    text += "e\(9 * first)"
    return Decimal(text.utf8).map { .decimal($0) } ?? .double(Double(text) ?? .nan)
  }
}
