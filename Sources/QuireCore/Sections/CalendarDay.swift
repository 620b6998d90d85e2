/// A day of the Gregorian calendar, which has the months of today for all times.
struct CalendarDay {
  let year: Int
  let month: Int
  let day: Int

  private static let daysOf400Years = 146_097
  /// From March 1 of the year 0 to January 1, 1970. Years that begin in March have their leap day at the end.
  private static let daysBefore1970 = 719_468

  /// Makes the day that is so many days after January 1, 1970.
  init(number: Int) {
    let days = number + CalendarDay.daysBefore1970
    let cycle = days.dividedDown(by: CalendarDay.daysOf400Years)
    let dayOfCycle = days - cycle * CalendarDay.daysOf400Years
    // The average of a year's length leads to the year or to the one before it.
    var yearOfCycle = dayOfCycle * 400 / CalendarDay.daysOf400Years
    while CalendarDay.days(before: yearOfCycle + 1) <= dayOfCycle { yearOfCycle += 1 }
    let dayOfYear = dayOfCycle - CalendarDay.days(before: yearOfCycle)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
  }

  /// The days from January 1, 1970, to a day.
  static func number(year: Int, month: Int, day: Int) -> Int {
    let monthFromMarch = (month + 9) % 12
    return days(before: month <= 2 ? year - 1 : year) + (153 * monthFromMarch + 2) / 5 + day - 1 - daysBefore1970
  }

  /// The days in the years from 0 to the one before `year`, which all begin in March.
  private static func days(before year: Int) -> Int {
    365 * year + year.dividedDown(by: 4) - year.dividedDown(by: 100) + year.dividedDown(by: 400)
  }

  static func isLeapYear(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// 0 for Sunday to 6 for Saturday.
  static func weekday(ofNumber number: Int) -> Int { number + 4 - (number + 4).dividedDown(by: 7) * 7 }
}

extension BinaryInteger {
  /// The quotient, rounded down.
  func dividedDown(by divisor: Self) -> Self {
    let quotient = self / divisor
    return quotient * divisor > self ? quotient - 1 : quotient
  }
}
