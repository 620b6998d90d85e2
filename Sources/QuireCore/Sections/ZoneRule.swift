/// The rule at the end of a TZif file for the time after its table: as in POSIX's variable TZ, with the hours from -167
/// to 167 of RFC 9636.
struct ZoneRule: Equatable, Sendable {
  /// A day of each year, and a time by the clocks that show the offset before it.
  struct YearTime: Equatable, Sendable {
    enum Day: Equatable, Sendable {
      /// 1 to 365, without February 29.
      case withoutLeapDay(Int)
      /// 0 to 365.
      case ofYear(Int)
      /// The first to fourth such day of a month, and the last one for 5. 0 is Sunday.
      case ofWeek(month: Int, week: Int, weekday: Int)
    }

    let day: Day
    let seconds: Int64

    /// In seconds since 1970 by the clock.
    func time(in year: Int) -> Int64 { Int64(number(in: year)) * ZoneRule.day + seconds }

    private func number(in year: Int) -> Int {
      let newYear = CalendarDay.number(year: year, month: 1, day: 1)
      switch day {
      case .withoutLeapDay(let day): return newYear + day - (day < 60 || !CalendarDay.isLeapYear(year) ? 1 : 0)
      case .ofYear(let day): return newYear + day
      case .ofWeek(let month, let week, let weekday):
        let first = CalendarDay.number(year: year, month: month, day: 1)
        let next = CalendarDay.number(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
        let day = first + (weekday - CalendarDay.weekday(ofNumber: first) + 7) % 7 + 7 * (week - 1)
        return day < next ? day : day - 7
      }
    }
  }

  struct Summer: Equatable, Sendable {
    let offset: Int64
    let start: YearTime
    let end: YearTime
  }

  static let day: Int64 = 86_400

  let standard: Int64
  let summer: Summer?

  /// The changes of a year in their order.
  func changes(of year: Int) -> [(moment: Int64, offset: Int64)] {
    guard let summer else { return [] }
    let start = (moment: summer.start.time(in: year) - standard, offset: summer.offset)
    let end = (moment: summer.end.time(in: year) - summer.offset, offset: standard)
    return start.moment < end.moment ? [start, end] : [end, start]
  }

  func span(around moment: Int64) -> OffsetSpan {
    let year = CalendarDay(number: Int((moment + standard).dividedDown(by: ZoneRule.day))).year
    var start = Int64.min, offset = standard
    // A time of a week before or after a day may lie in a year next to it.
    for near in year - 2...year + 2 {
      for change in changes(of: near) where change.moment >= start {
        if change.moment > moment { return OffsetSpan(start: start, end: change.moment, offset: offset) }
        (start, offset) = change
      }
    }
    return OffsetSpan(start: start, end: .max, offset: offset)
  }
}

// MARK: - Reading

extension ZoneRule {
  /// Reads a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`; nil for other text.
  init?(_ text: some Sequence<UInt8>) {
    var reader = RuleReader(text)
    guard reader.skipName(), let west = reader.offset() else { return nil }
    standard = -west
    if reader.isAtEnd {
      summer = nil
      return
    }
    guard reader.skipName() else { return nil }
    var offset = standard + 3600
    if !reader.isNext(",") {
      guard let west = reader.offset() else { return nil }
      offset = -west
    }
    guard reader.take(","), let start = reader.yearTime(), reader.take(","), let end = reader.yearTime(), reader.isAtEnd
    else { return nil }
    summer = Summer(offset: offset, start: start, end: end)
  }
}

private struct RuleReader {
  private var rest: ArraySlice<UInt8>

  init(_ text: some Sequence<UInt8>) { rest = Array(text)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  func isNext(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    if !isNext(character) { return false }
    rest.removeFirst()
    return true
  }

  /// At least three letters; in angle brackets also digits and signs.
  mutating func skipName() -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    let isQuoted = take("<")
    let name = rest.prefix { byte in
      isLetter(byte)
        || isQuoted
          && ((UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
    }
    rest = rest.dropFirst(name.count)
    return name.count >= 3 && (!isQuoted || take(">"))
  }

  private mutating func number(atMost most: Int, from least: Int = 0) -> Int? {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard (1...3).contains(digits.count) else { return nil }
    rest = rest.dropFirst(digits.count)
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return (least...most).contains(number) ? number : nil
  }

  /// Seconds, from hours with a sign, minutes and seconds.
  private mutating func seconds(hoursAtMost most: Int) -> Int64? {
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    guard var seconds = number(atMost: most).map({ $0 * 3600 }) else { return nil }
    for unit in [60, 1] where take(":") {
      guard let count = number(atMost: 59) else { return nil }
      seconds += count * unit
    }
    return Int64(isNegative ? -seconds : seconds)
  }

  /// The seconds by which clocks are behind UTC.
  mutating func offset() -> Int64? { seconds(hoursAtMost: 24) }

  mutating func yearTime() -> ZoneRule.YearTime? {
    guard let day = day() else { return nil }
    if !take("/") { return ZoneRule.YearTime(day: day, seconds: 2 * 3600) }
    return seconds(hoursAtMost: 167).map { ZoneRule.YearTime(day: day, seconds: $0) }
  }

  private mutating func day() -> ZoneRule.YearTime.Day? {
    if take("J") { return number(atMost: 365, from: 1).map { .withoutLeapDay($0) } }
    if !take("M") { return number(atMost: 365).map { .ofYear($0) } }
    guard let month = number(atMost: 12, from: 1), take("."), let week = number(atMost: 5, from: 1), take("."),
      let weekday = number(atMost: 6)
    else { return nil }
    return .ofWeek(month: month, week: week, weekday: weekday)
  }
}
