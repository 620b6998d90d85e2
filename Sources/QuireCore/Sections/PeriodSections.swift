import CICU

/// The days, weeks, months or years of a time zone. For one thread at a time.
final class PeriodSections {
  /// In seconds since 2001; the end is no part of it.
  struct Period {
    let start: Double
    let end: Double
    let name: Text
    let year: Text
  }

  private let calendar: UnsafeMutablePointer<UCalendar?>
  private let unit: SectionGrouping.Unit
  /// Those that were asked for last, by the day of the date in UTC, which two or three can have a part in.
  private var known: [Int: [Period]] = [:]
  private static let mostKnown = 1 << 16

  /// Within the years 1 to 9999 wherever the clock is: all but their first and last day in UTC.
  private static let certainDates = -63_113_817_600.0...252_423_820_800.0

  init(_ unit: SectionGrouping.Unit, timeZone: String, locale: String) throws(Failure) {
    _ = try TextOrder(.localized, locale: locale)
    self.unit = unit
    let zone = Array(timeZone.utf16)
    if !quire_icu_has_time_zone(zone, Int32(clamping: zone.count)) {
      throw Failure(
        .invalidArgument,
        "'\(timeZone)' is not a time zone that is known here. Give its IANA name, such as 'Europe/Berlin'.")
    }
    var status = U_ZERO_ERROR
    let opened = quire_icu_calendar_open(zone, Int32(clamping: zone.count), locale, &status)
    guard let opened, status.rawValue <= U_ZERO_ERROR.rawValue else {
      throw Failure(
        .unsupported,
        "There is no calendar for '\(timeZone)' and the locale '\(locale)': ICU says "
          + "\(String(cString: quire_icu_error_name(status))).")
    }
    calendar = opened
  }

  deinit { quire_icu_calendar_close(calendar) }

  /// The period that a date is in; dates beyond the years 1 to 9999 count as of the first or last of these.
  func period(of date: Double) throws(Failure) -> Period {
    let date = try calendarDate(date)
    let day = Int((date / 86_400).rounded(.down))
    if let period = known[day]?.first(where: { $0.start <= date && date < $0.end }) { return period }
    let period = try readPeriod(around: date)
    if known.count >= PeriodSections.mostKnown { known = [:] }
    known[day, default: []].append(period)
    return period
  }

  /// A date of the years 1 to 9999 by the clocks of the time zone: the same, or one of their first or last day.
  private func calendarDate(_ date: Double) throws(Failure) -> Double {
    let certain = PeriodSections.certainDates, day = 86_400.0
    if certain.contains(date) { return date }
    // No clock is more than a day apart from UTC.
    var date = min(max(date, certain.lowerBound - 2 * day), certain.upperBound + 3 * day)
    while true {
      let year = try read(.day, around: date).year
      if (1...9999).contains(year) { return date }
      date += year < 1 ? day : -day
    }
  }

  private func read(_ unit: SectionGrouping.Unit, around date: Double) throws(Failure) -> quire_icu_period {
    var status = U_ZERO_ERROR
    // Clocks change at whole seconds; adding to a fraction could round it up into the next day.
    let moment = (date.rounded(.down) + Value.secondsFrom1970To2001) * 1000
    let found = quire_icu_period_around(calendar, unit.rawValue, moment, &status)
    guard status.rawValue <= U_ZERO_ERROR.rawValue else {
      throw Failure(
        .unsupported,
        "A date has no place in the calendar: ICU says \(String(cString: quire_icu_error_name(status))).")
    }
    return found
  }

  private func readPeriod(around date: Double) throws(Failure) -> Period {
    let found = try read(unit, around: date)
    func padded(_ number: Int32, _ width: Int) -> String {
      let digits = "\(number)"
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    let year = padded(found.year, 4)
    let name =
      switch unit {
      case .year: year
      case .month: "\(year)-\(padded(found.month, 2))"
      case .day, .week: "\(year)-\(padded(found.month, 2))-\(padded(found.day, 2))"
      }
    return Period(
      start: found.start / 1000 - Value.secondsFrom1970To2001, end: found.end / 1000 - Value.secondsFrom1970To2001,
      name: Text(name), year: Text(year))
  }
}
