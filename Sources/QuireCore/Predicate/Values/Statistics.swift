/// Calculations from many values. nil among them does not count, as in SQL; a list among them counts as its elements.
struct Statistics {
  private let values: [Value]
  /// What a failure names.
  private let expression: Expression

  init(_ items: [Item], in expression: Expression) throws(Failure) {
    var values: [Value] = []
    for item in Item.list(items).innermost ?? [] {
      guard let value = item.scalar else {
        throw Failure(.invalidPredicate, "\(expression.text) calculates with \(item.kindName).")
      }
      if !value.isNil { values.append(value) }
    }
    self.values = values
    self.expression = expression
  }

  private func numbers() throws(Failure) -> [Number] {
    var numbers: [Number] = []
    numbers.reserveCapacity(values.count)
    for value in values { numbers.append(try Arithmetic.number(value, in: expression)) }
    return numbers
  }

  private func doubles() throws(Failure) -> [Double] { try numbers().map(\.double) }

  /// 0 of nothing. An integer as long as integers can hold it. That of decimals, with or without integers, is exact,
  /// and a decimal as long as 38 digits hold it.
  func sum() throws(Failure) -> Value {
    var decimals = ExactSum.decimal, hasDecimals = false
    var sum = Number.integer(0)
    for value in values {
      if case .decimal(let decimal) = value {
        decimals.add(decimal)
        hasDecimals = true
      } else {
        sum = Arithmetic.sum(sum, try Arithmetic.number(value, in: expression))
      }
    }
    switch sum {
    case .integer(let integer):
      if !hasDecimals { return .integer(integer) }
      decimals.add(Decimal(integer))
      return decimals.decimal
    case .real, .float:
      return .double(hasDecimals ? sum.double + (decimals.decimal.number?.double ?? 0) : sum.double)
    }
  }

  func average() throws(Failure) -> Value {
    if values.contains(where: \.isDecimal) {
      return .double((try sum().number?.double ?? .nan) / Double(values.count))
    }
    let numbers = try doubles()
    return numbers.isEmpty ? .nil : .double(numbers.reduce(0, +) / Double(numbers.count))
  }

  /// The least of the values with `less`, the greatest with `greater`. NaN counts only among itself.
  func extreme(_ relation: Relation) throws(Failure) -> Value {
    var best = Value.nil
    for value in values {
      guard let kind = value.comparisonClass, kind.hasOrder else {
        throw Failure(.invalidPredicate, "\(expression.text) compares \(value.kindName), which has no order.")
      }
      if best.isNil || best.isNaN {
        best = value
      } else if best.comparisonClass != kind {
        throw Failure(
          .invalidPredicate,
          "\(expression.text) compares \(best.kindName) with \(value.kindName); the two have no order.")
      } else if relation.holds(Value.order(value, best)) {
        best = value
      }
    }
    return best
  }

  func median() throws(Failure) -> Value {
    let numbers = try doubles()
    if numbers.isEmpty { return .nil }
    // NaN has no place in an order.
    if numbers.contains(where: \.isNaN) { return .double(.nan) }
    let sorted = numbers.sorted()
    let middle = sorted.count / 2
    let isEven = sorted.count.isMultiple(of: 2)
    return .double(isEven ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle])
  }

  /// The values that are there most often, in the order of their first appearance.
  func mode() throws(Failure) -> Item {
    var counts: [Double: Int] = [:]
    let numbers = try doubles()
    for number in numbers { counts[number, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    var modes: [Item] = []
    for (place, number) in numbers.enumerated() where counts[number] == most {
      counts[number] = nil
      modes.append(.value(values[place]))
    }
    return .list(modes)
  }

  /// Of the whole population: the root of the mean square of the distances from the mean.
  func standardDeviation() throws(Failure) -> Value {
    let numbers = try doubles()
    if numbers.isEmpty { return .nil }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }
}

extension Value {
  fileprivate var isDecimal: Bool { if case .decimal = self { true } else { false } }

  var isNaN: Bool {
    if case .date(let seconds) = self { return seconds.isNaN }
    return number?.double.isNaN ?? false
  }
}
