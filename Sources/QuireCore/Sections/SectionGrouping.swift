/// The common value of the rows of one section.
enum SectionGrouping: Sendable {
  /// Their value.
  case value
  /// The first letter of a text. The first locale orders texts, and the letters are those of all of them.
  case letter(locales: [String])
  /// When a date is. Where weeks begin depends on the locale. The folder has files of zones that the system lacks.
  case period(Unit, timeZone: String, zoneFolder: String? = nil, locale: String)
  /// The range of a number, each as wide as the others and one of them beginning at the origin.
  case step(width: Double, origin: Double)
  /// The range of a number between two of these bounds, which ascend.
  case bounds([Double])

  enum Unit: Sendable { case day, week, month, year }

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
