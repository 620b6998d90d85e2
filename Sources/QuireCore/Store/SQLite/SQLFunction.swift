/// A function that a compiled piece of SQL calls. Those whose names begin with `quire` are ours.
enum SQLFunction: String {
  /// quire_text(operation, folding, text, pattern): 1 or 0, the numbers of `TextMatcher.Operation` and `TextFolding`.
  /// The pattern is text, or a `TextMatcher` that has all three.
  case text = "quire_text"
  /// quire_fold(folding, text).
  case fold = "quire_fold"
  /// quire_single(number): the nearest 32-bit value.
  case single = "quire_single"
  /// quire_order(kind, text, locale): bytes in the order of texts, the numbers of `TextOrder.Kind`.
  case order = "quire_order"
  /// quire_element(list, place): a value of a `PackedList`.
  case element = "quire_element"

  /// quire_external(attribute, key, column): the data itself of an attribute that allows external storage, in the row
  /// with that key. The number is that of `ExternalColumn`.
  case external = "quire_external"

  /// quire_test(program, values…): 1 or 0.
  case test = "quire_test"
  /// quire_compute(program, values…): what the program makes of them.
  case compute = "quire_compute"
  /// quire_part(part, values…): what a statement of its own finds, see `SQLPart`.
  case part = "quire_part"
  // The same of programs that return another value each time.
  case testAnew = "quire_test_anew"
  case computeAnew = "quire_compute_anew"
  case partAnew = "quire_part_anew"

  /// quire_pack(value): all values of a group, in their order, as one.
  case pack = "quire_pack"
  /// quire_sum(number): 0 of nothing.
  case sum = "quire_sum"
  /// quire_average(number): NULL of nothing.
  case average = "quire_average"
  /// quire_decimal_sum(decimal): the exact sum in the form of `ItemCoding`.
  case decimalSum = "quire_decimal_sum"
  /// quire_decimal_total(decimal): the double nearest to that.
  case decimalTotal = "quire_decimal_total"
  /// quire_decimal_average(decimal): made of the exact sum; NULL of nothing.
  case decimalAverage = "quire_decimal_average"
  case count = "count"
  case minimum = "min"
  case maximum = "max"

  var name: String { rawValue }

  /// Makes one value of many rows.
  var isAggregate: Bool {
    switch self {
    case .pack, .sum, .average, .decimalSum, .decimalTotal, .decimalAverage, .count, .minimum, .maximum: true
    default: false
    }
  }

  /// Returns the same value each time.
  var isPure: Bool {
    switch self {
    case .testAnew, .computeAnew, .partAnew: false
    default: true
    }
  }

  /// Answers true or false, and never NULL.
  var isExact: Bool {
    switch self {
    case .text, .test, .testAnew: true
    default: false
    }
  }
}

extension ExternalColumn {
  /// SQL for the data itself of a column.
  func sql(_ column: String, key: String) -> String { "\(SQLFunction.external.name)(\(number), \(key), \(column))" }
}
