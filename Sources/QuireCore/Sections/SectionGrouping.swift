/// The common value of the rows of one section.
enum SectionGrouping: Sendable {
  /// Their value.
  case value
  /// The first letter of a text. The first locale orders texts, and the letters are those of all of them.
  case letter(locales: [String])
  /// When a date is. Where weeks begin depends on the locale.
  case period(Unit, timeZone: String, locale: String)
  /// The range of a number, each as wide as the others and one of them beginning at the origin.
  case step(width: Double, origin: Double)
  /// The range of a number between two of these bounds, which ascend.
  case bounds([Double])

  /// The numbers are those of the shim.
  enum Unit: Int32, Sendable { case day, week, month, year }

  /// The values that can be gathered so; nil for any.
  var comparisonClass: Value.ComparisonClass? {
    switch self {
    case .value: nil
    case .letter: .text
    case .period: .date
    case .step, .bounds: .number
    }
  }
}
