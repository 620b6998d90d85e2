/// Ranges of numbers that are as wide as each other, one of them beginning at the origin.
///
/// Their bounds are decimals: those of a width of 0.1 are 0.1, 0.2 and 0.3, and not what additions of doubles make of
/// them. A number belongs to the last range whose bound, as a number of its type, is not greater.
struct NumberSteps: Sendable {
  private let width: Double
  private let origin: Double
  /// Width and origin as multiples of one power of ten; nil where integers do not hold them.
  private let decimals: (width: Int128, origin: Int128, exponent: Int)?

  /// From here on there is a bound next to every double.
  private static let mostSteps = 36_028_797_018_963_968.0
  private static let firstBeyondDoubles = UInt128(1) << 53
  private static let powers: [Double] = (0...22).map { Double("1e\($0)")! }

  /// nil where there are no such ranges.
  init?(width: Double, origin: Double) {
    guard width > 0, width.isFinite, origin.isFinite, (origin / width).magnitude < NumberSteps.mostSteps else {
      return nil
    }
    self.width = width
    self.origin = origin
    decimals = NumberSteps.decimals(width, origin)
  }

  private static func decimals(_ width: Double, _ origin: Double) -> (width: Int128, origin: Int128, exponent: Int)? {
    guard let width = Decimal(width), let origin = Decimal(origin) else { return nil }
    let exponent = origin.mantissa == 0 ? width.exponent : min(width.exponent, origin.exponent)
    guard let first = scaled(width, exponent), let second = scaled(origin, exponent) else { return nil }
    return (first, second, exponent)
  }

  private static func scaled(_ decimal: Decimal, _ exponent: Int) -> Int128? {
    if decimal.mantissa == 0 { return 0 }
    var result = Int128(decimal.mantissa)
    for _ in exponent..<decimal.exponent {
      let (product, overflow) = result.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      result = product
    }
    return decimal.isNegative ? -result : result
  }

  func lowerBound(of number: Number) -> Double {
    let double = number.double
    if double.isInfinite { return double }
    let estimate = ((double - origin) / width).rounded(.down)
    guard estimate.magnitude < NumberSteps.mostSteps else { return double }
    // The quotient of doubles may have been rounded over a bound.
    var step = Int128(estimate)
    while let order = Number.order(number, .real(bound(step))), order < 0 { step -= 1 }
    while let order = Number.order(number, .real(bound(step + 1))), order >= 0 { step += 1 }
    return bound(step)
  }

  /// The double nearest to a bound.
  private func bound(_ step: Int128) -> Double {
    guard let decimals else { return origin + Double(step) * width }
    let (product, isTooLarge) = step.multipliedReportingOverflow(by: decimals.width)
    let (sum, overflow) = product.addingReportingOverflow(decimals.origin)
    if isTooLarge || overflow { return origin + Double(step) * width }
    // Both are exact, and the result is rounded once.
    if sum.magnitude < NumberSteps.firstBeyondDoubles, NumberSteps.powers.indices.contains(abs(decimals.exponent)) {
      let power = NumberSteps.powers[abs(decimals.exponent)]
      return decimals.exponent < 0 ? Double(sum) / power : Double(sum) * power
    }
    return Double("\(sum)e\(decimals.exponent)") ?? origin + Double(step) * width
  }
}
