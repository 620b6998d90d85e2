/// Reads dates as people and programs write them: ISO 8601 with the day in full, in UTC where no zone is given.
///
/// `2025-03-01`, `2025-03-01T10:30`, `2025-03-01 10:30:00.25Z`, `2025-03-01T10:30:00+01:00`. Digits behind the
/// microseconds do not count.
struct WrittenDate {
  private var rest: ArraySlice<UInt8>

  /// Completes a sentence about the text.
  static func reason(_ text: Text) -> String {
    "\(Value.text(text).written) is no date in ISO 8601, such as 2026-11-21T10:30:00Z"
  }

  /// nil where the text is no date. A number is one where it says so many seconds since 2001 that no year of four
  /// digits is meant; dates out there print like this.
  static func secondsSince2001(_ text: Text) -> Double? {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0D ~= byte }
    var bytes = Array(text.bytes.buffer)[...].drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    if bytes.count <= longest, let found = WrittenDate(rest: bytes).read() { return found }
    guard let number = distant(bytes), !writtenYears.contains(number) else { return nil }
    return number
  }

  private static let longest = 64
  private static let writtenYears = -63_113_904_000.0..<252_423_993_600.0
  private static let endOf9999 = 253_402_300_800.0

  private static func distant(_ bytes: ArraySlice<UInt8>) -> Double? {
    let text = String(decoding: bytes, as: UTF8.self)
    switch text {
    case "inf": return .infinity
    case "-inf": return -.infinity
    default:
      // Other words and hexadecimal numbers are no seconds.
      guard bytes.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(text) else { return nil }
      return number.isFinite ? number : nil
    }
  }

  private mutating func take(_ byte: Character) -> Bool {
    guard rest.first == byte.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func digits(_ count: Int, in range: ClosedRange<Int>) -> Int? {
    guard rest.count >= count else { return nil }
    var number = 0
    for byte in rest.prefix(count) {
      guard 0x30...0x39 ~= byte else { return nil }
      number = number * 10 + Int(byte - 0x30)
    }
    rest.removeFirst(count)
    return range.contains(number) ? number : nil
  }

  private func read() -> Double? {
    var reader = self
    guard let day = reader.day() else { return nil }
    var seconds = day * 86_400, microseconds = 0
    if !reader.rest.isEmpty {
      guard reader.take("T") || reader.take("t") || reader.take(" "), let time = reader.time(), let zone = reader.zone()
      else { return nil }
      (seconds, microseconds) = (seconds + time.seconds - zone, time.microseconds)
    }
    guard reader.rest.isEmpty else { return nil }
    return Epoch.since2001(WrittenDate.double(seconds * 1_000_000 + microseconds))
  }

  /// The days since 1970.
  private mutating func day() -> Int? {
    guard let year = digits(4, in: 1...9999), take("-"), let month = digits(2, in: 1...12), take("-"),
      let day = digits(2, in: 1...31)
    else { return nil }
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if day > lengths[month - 1] { return nil }
    let before = year - 1
    return before * 365 + before / 4 - before / 100 + before / 400 + lengths.prefix(month - 1).reduce(0, +) + day
      - 719_163
  }

  private mutating func time() -> (seconds: Int, microseconds: Int)? {
    guard let hour = digits(2, in: 0...23) else { return nil }
    guard take(":") else { return (hour * 3600, 0) }
    guard let minute = digits(2, in: 0...59) else { return nil }
    guard take(":") else { return (hour * 3600 + minute * 60, 0) }
    guard let second = digits(2, in: 0...59) else { return nil }
    var microseconds = 0
    if take(".") || take(",") {
      let fraction = rest.prefix { 0x30...0x39 ~= $0 }
      if fraction.isEmpty { return nil }
      for place in 0..<6 {
        let digit = place < fraction.count ? Int(fraction[fraction.startIndex + place] - 0x30) : 0
        microseconds = microseconds * 10 + digit
      }
      rest.removeFirst(fraction.count)
    }
    return (hour * 3600 + minute * 60 + second, microseconds)
  }

  /// The seconds by which local time is ahead.
  private mutating func zone() -> Int? {
    if rest.isEmpty || take("Z") || take("z") { return 0 }
    let isBehind = take("-")
    guard isBehind || take("+"), let hours = digits(2, in: 0...23) else { return nil }
    var seconds = hours * 3600
    if !rest.isEmpty {
      let hasColon = take(":")
      guard let minutes = digits(2, in: 0...59) else { return nil }
      seconds += minutes * 60
      if hasColon, take(":") {
        guard let more = digits(2, in: 0...59) else { return nil }
        seconds += more
      }
    }
    return isBehind ? -seconds : seconds
  }

  /// The nearest double to so many millionths of a second, and of the year 9999 the last in it.
  private static func double(_ microseconds: Int) -> Double {
    let magnitude = microseconds.magnitude, fraction = "\(magnitude % 1_000_000)"
    let zeros = String(repeating: "0", count: 6 - fraction.utf8.count)
    let seconds = Double("\(microseconds < 0 ? "-" : "")\(magnitude / 1_000_000).\(zeros)\(fraction)") ?? 0
    let isWritten = microseconds < Int(endOf9999) * 1_000_000
    return isWritten && seconds >= endOf9999 ? endOf9999.nextDown : seconds
  }
}
