import CICU

/// The days, weeks, months or years of a time zone. For one thread at a time.
final class PeriodSections {
  struct Period {
    /// Its first moment, in seconds since 2001.
    let start: Double
    /// In days since 1970. It orders periods also where clocks go back from one day into the one before it.
    let firstDay: Int
    let name: Text
    let year: Text
  }

  private let clock: any ZoneClock
  private let unit: SectionGrouping.Unit
  /// Weeks begin with it: 0 for Sunday to 6 for Saturday.
  private let firstWeekday: Int
  /// The one around the date that was asked for last.
  private var span: OffsetSpan
  /// The periods of the days that were looked up last, by the number of the day.
  private var known: [Int: Period] = [:]
  private static let mostKnown = 1 << 16

  /// The numbers of the days of the years 1 to 9999.
  private static let days =
    CalendarDay.number(year: 1, month: 1, day: 1)...CalendarDay.number(year: 9999, month: 12, day: 31)
  private static let day: Int64 = 86_400
  /// No clock is more than that apart from UTC.
  private static let farthestOffset: Int64 = 26 * 3600

  init(_ unit: SectionGrouping.Unit, timeZone: String, folder: String? = nil, locale: String) throws(Failure) {
    _ = try TextOrder(.localized, locale: locale)
    self.unit = unit
    clock = try ZoneSource.clock(of: timeZone, folder: folder)
    span = try clock.span(around: 0)
    firstWeekday = unit == .week ? try PeriodSections.firstWeekday(in: locale) : 0
  }

  private static func firstWeekday(in locale: String) throws(Failure) -> Int {
    var status = U_ZERO_ERROR
    let day = quire_icu_first_weekday(locale, &status)
    guard status.rawValue <= U_ZERO_ERROR.rawValue else {
      throw Failure(
        .unsupported,
        "There is no calendar for the locale '\(locale)': ICU says \(String(cString: quire_icu_error_name(status))).")
    }
    return Int(day) - 1
  }

  /// The period that a date is in by the clocks of the zone; dates beyond the years 1 to 9999 count as of the first or
  /// last day of these.
  func period(of date: Double) throws(Failure) -> Period {
    let day = try day(of: date)
    if let period = known[day] { return period }
    let period = try makePeriod(of: day)
    if known.count >= PeriodSections.mostKnown { known = [:] }
    known[day] = period
    return period
  }

  private func day(of date: Double) throws(Failure) -> Int {
    let days = PeriodSections.days
    let first = Double(days.lowerBound - 2) * Double(PeriodSections.day)
    let last = Double(days.upperBound + 2) * Double(PeriodSections.day)
    // Clocks change at whole seconds.
    let moment = Int64(Double.minimum(Double.maximum(date.rounded(.down) + Value.secondsFrom1970To2001, first), last))
    if !span.contains(moment) { span = try clock.span(around: moment) }
    let day = Int((moment + span.offset).dividedDown(by: PeriodSections.day))
    return min(max(day, days.lowerBound), days.upperBound)
  }

  private func makePeriod(of number: Int) throws(Failure) -> Period {
    var first = number
    let day = CalendarDay(number: number)
    switch unit {
    case .day: break
    case .week: first -= (CalendarDay.weekday(ofNumber: number) - firstWeekday + 7) % 7
    case .month: first -= day.day - 1
    case .year: first = CalendarDay.number(year: day.year, month: 1, day: 1)
    }
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = "\(number)"
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    let begin = CalendarDay(number: first)
    let year = padded(begin.year, 4)
    let name =
      switch unit {
      case .year: year
      case .month: "\(year)-\(padded(begin.month, 2))"
      case .day, .week: "\(year)-\(padded(begin.month, 2))-\(padded(begin.day, 2))"
      }
    return Period(
      start: Double(try firstMoment(ofDay: first)) - Value.secondsFrom1970To2001, firstDay: first, name: Text(name),
      year: Text(year))
  }

  /// The first moment at which the clocks show a day, or a later one where they leave it out. In seconds since 1970.
  private func firstMoment(ofDay number: Int) throws(Failure) -> Int64 {
    let midnight = Int64(number) * PeriodSections.day
    var span = try clock.span(around: midnight - PeriodSections.farthestOffset)
    while max(span.start, midnight - span.offset) >= span.end { span = try clock.span(around: span.end) }
    return max(span.start, midnight - span.offset)
  }
}
