extension Value {
  /// The value as the name of a section: text as it is, numbers as they print, dates as ISO 8601 in UTC, nil as "".
  var sectionName: Text {
    switch self {
    case .nil, .list, .external: ""
    case .text(let text), .uri(let text): text
    case .integer(let integer): Text("\(integer)")
    case .boolean(let flag): flag ? "1" : "0"
    case .double(let double): Text("\(double)")
    case .float(let float): Text("\(float)")
    case .decimal(let decimal): Text(decimal.description)
    case .date(let seconds): Text(Value.isoDate(secondsSince2001: seconds))
    case .data(let data), .uuid(let data): Text(Value.hexadecimal(data, isUUID: kindName == "a UUID"))
    case .object(let box): Text("\(box.reference.id)")
    }
  }

  /// The value as a message writes it: as the name of a section, with text in quotes. Dates with fractions are written
  /// to the microsecond.
  var written: String {
    switch self {
    case .nil, .data, .external, .list, .object: kindName
    case .text(let text), .uri(let text): "'\(text.string.prefix(Value.mostWritten))'"
    case .boolean(let flag): flag ? "true" : "false"
    case .date(let seconds): Value.isoDate(secondsSince2001: seconds, withFraction: true)
    default: sectionName.string
    }
  }

  /// Enough to know a text by.
  private static let mostWritten = 60

  private static func hexadecimal(_ data: Bytes, isUUID: Bool) -> String {
    let digits = Array("0123456789ABCDEF")
    var text = ""
    for (index, byte) in data.buffer.enumerated() {
      if isUUID, [4, 6, 8, 10].contains(index) { text.append("-") }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }

  /// `2026-11-21T02:03:04Z`; fractions of a second are left out unless they are asked for. Beyond the year 9999 or
  /// before 0 the seconds print.
  private static func isoDate(secondsSince2001 seconds: Double, withFraction: Bool = false) -> String {
    let range = -63_113_904_000.0..<252_423_993_600.0
    guard range.contains(seconds) else { return "\(seconds)" }
    var whole = seconds.rounded(.down)
    var millionths = withFraction ? Int(((seconds - whole) * 1_000_000).rounded()) : 0
    if millionths == 1_000_000 {
      whole += 1
      millionths = 0
    }
    let total = Int(whole) + Int(secondsFrom1970To2001)
    let day = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
    let second = total - day * 86_400
    // Civil date from a day number: years are counted from March, so that the leap day comes last.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = "\(number)"
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 2))"
    let fraction = millionths == 0 ? "" : ".\(padded(millionths, 6))"
    return "\(date)T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))\(fraction)Z"
  }
}
