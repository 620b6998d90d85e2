/// Number, sum and average of some values. What is taken away again leaves nothing behind.
struct AggregateTally {
  private(set) var count = 0
  private var integers: Int128 = 0
  private var reals = ExactSum.binary
  private var realCount = 0
  private var decimals = ExactSum.decimal
  private var decimalCount = 0
  private var infinities = 0
  private var negativeInfinities = 0
  private var nans = 0
  /// Values that have no sum, of these the ones that have no order, and of these the ones that are not even one value.
  private var strangers = 0
  private var unordered = 0
  private var lists = 0

  /// nil does not count.
  mutating func add(_ value: Value, isTaken: Bool, isSummed: Bool) {
    let step = isTaken ? -1 : 1
    switch value {
    case .nil: return
    case .list: lists += step
    case .object: unordered += step
    default: break
    }
    count += step
    if !isSummed { return }
    switch value.summand {
    case .integer(let integer): integers += isTaken ? -Int128(integer) : Int128(integer)
    case .double(let double):
      if double.isFinite {
        realCount += step
        reals.add(double, isTaken: isTaken)
      } else if double.isNaN {
        nans += step
      } else if double > 0 {
        infinities += step
      } else {
        negativeInfinities += step
      }
    case .decimal(let decimal):
      decimalCount += step
      decimals.add(decimal, isTaken: isTaken)
    default: strangers += step
    }
    if count == 0 { self = AggregateTally() }
  }

  /// The problem of the values; nil without one.
  func problem(_ kind: AggregatePlan.Kind) -> String? {
    if lists > 0 { return "lists" }
    switch kind {
    case .count: return nil
    case .min, .max: return unordered > 0 ? "objects, which have no order" : nil
    case .sum, .average: return strangers > 0 ? "what is no number" : nil
    }
  }

  /// 0 of nothing. An integer as long as there are only integers and 64 bits hold it. A decimal as long as there are no
  /// doubles and 38 digits hold it.
  var sum: Value {
    if nans > 0 || infinities > 0 && negativeInfinities > 0 { return .double(.nan) }
    if infinities > 0 { return .double(.infinity) }
    if negativeInfinities > 0 { return .double(-.infinity) }
    if realCount == 0, decimalCount == 0, let integer = Int64(exactly: integers) { return .integer(integer) }
    if realCount == 0, decimalCount > 0 {
      var sum = decimals
      sum.add(integers.magnitude, exponent: 0, isNegative: integers < 0)
      return sum.decimal
    }
    var sum = reals
    sum.add(integers)
    return .double(decimalCount == 0 ? sum.double : sum.double + (decimals.decimal.number?.double ?? 0))
  }

  /// nil of nothing.
  var average: Value { count == 0 ? .nil : .double((sum.number?.double ?? .nan) / Double(count)) }
}

extension Value {
  /// A number as it is summed up.
  fileprivate var summand: Value {
    switch self {
    case .boolean(let boolean): .integer(boolean ? 1 : 0)
    case .float(let float): .double(Double(float))
    default: self
    }
  }
}
