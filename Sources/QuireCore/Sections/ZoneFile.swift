/// Reads TZif files, the compiled form of the time zone database (RFC 9636), of all versions.
struct ZoneFile {
  /// The first bytes of each file.
  static let mark = Array("TZif".utf8)

  /// A part of a file that breaks the format.
  struct Damage: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// Reads a file that begins with the mark. No content of it makes more work than its size.
  static func table(in bytes: [UInt8]) throws(Damage) -> ZoneTable {
    var file = ZoneFile(rest: bytes[...])
    var header = try file.header()
    if !header.hasFooter { return try file.block(header, timeSize: 4).table(rule: nil) }
    // The block for readers of the first version is followed by the one with times of 64 bits.
    try file.skip(header.size(timeSize: 4))
    header = try file.header()
    let block = try file.block(header, timeSize: 8)
    return try block.table(rule: file.footer())
  }

  private var rest: ArraySlice<UInt8>

  // MARK: Parts

  private struct Header {
    let hasFooter: Bool
    /// In the order of the file.
    let utcCount: Int, standardCount: Int, leapCount: Int, timeCount: Int, typeCount: Int, characterCount: Int

    func size(timeSize: Int) -> Int {
      timeCount * (timeSize + 1) + typeCount * 6 + characterCount + leapCount * (timeSize + 4) + standardCount
        + utcCount
    }
  }

  private struct Block {
    var times: ContiguousArray<Int64> = []
    /// For each time the type from then on.
    var types: ContiguousArray<UInt8> = []
    /// Seconds east of UTC, one for each local time type.
    var offsets: ContiguousArray<Int32> = []
    /// From when on the times count so many seconds more than the time of clocks.
    var leaps: ContiguousArray<(time: Int64, seconds: Int64)> = []

    func table(rule: ZoneRule?) throws(Damage) -> ZoneTable {
      guard let first = offsets.first else { throw Damage("it has no type of local time") }
      guard offsets.allSatisfy({ -25 * 3600 < $0 && $0 < 26 * 3600 }) else {
        throw Damage("an offset from UTC is not between -25 and 26 hours")
      }
      guard types.allSatisfy({ $0 < offsets.count }) else { throw Damage("a change names a type that is not there") }
      guard zip(times, times.dropFirst()).allSatisfy(<), zip(leaps, leaps.dropFirst()).allSatisfy({ $0.time < $1.time })
      else { throw Damage("its times do not ascend") }
      var changes: ContiguousArray<Int64> = []
      changes.reserveCapacity(times.count)
      var leap = 0
      for time in times {
        while leap < leaps.count, leaps[leap].time <= time { leap += 1 }
        // Far beyond all dates, and with no sum that overflows.
        let time = min(max(time, -1 << 59), 1 << 59)
        changes.append(leap == 0 ? time : time - leaps[leap - 1].seconds)
      }
      if !zip(changes, changes.dropFirst()).allSatisfy(<=) { throw Damage("its leap seconds contradict its times") }
      // Before the first change the first type holds.
      let shown = [first] + types.map { offsets[Int($0)] }
      return ZoneTable(changes: changes, offsets: ContiguousArray(shown), rule: rule)
    }
  }

  private mutating func header() throws(Damage) -> Header {
    guard rest.starts(with: ZoneFile.mark) else { throw Damage("it lacks the mark of a part") }
    try skip(ZoneFile.mark.count)
    let version = try number(size: 1)
    try skip(15)
    func count() throws(Damage) -> Int { Int(try number(size: 4) & 0xFFFF_FFFF) }
    return Header(
      hasFooter: version >= UInt8(ascii: "2"), utcCount: try count(), standardCount: try count(),
      leapCount: try count(), timeCount: try count(), typeCount: try count(), characterCount: try count())
  }

  private mutating func block(_ header: Header, timeSize: Int) throws(Damage) -> Block {
    // All counts are within the file from here on.
    if header.size(timeSize: timeSize) > rest.count { throw ZoneFile.isShort }
    var block = Block()
    for _ in 0..<header.timeCount { block.times.append(try number(size: timeSize)) }
    for _ in 0..<header.timeCount { block.types.append(UInt8(truncatingIfNeeded: try number(size: 1))) }
    for _ in 0..<header.typeCount {
      block.offsets.append(Int32(truncatingIfNeeded: try number(size: 4)))
      // Whether that is summer time, and the place of its name.
      try skip(2)
    }
    try skip(header.characterCount)
    for _ in 0..<header.leapCount {
      let time = try number(size: timeSize)
      block.leaps.append((time, try number(size: 4)))
    }
    try skip(header.standardCount + header.utcCount)
    return block
  }

  /// The rule between two line ends; nil for none.
  private mutating func footer() throws(Damage) -> ZoneRule? {
    let line = rest.dropFirst().prefix { $0 != UInt8(ascii: "\n") }
    guard rest.first == UInt8(ascii: "\n"), line.endIndex < rest.endIndex else { throw ZoneFile.isShort }
    if line.isEmpty { return nil }
    guard let rule = ZoneRule(line) else { throw Damage("its last line is not a rule for the time after its table") }
    return rule
  }

  // MARK: Bytes

  private static let isShort = Damage("it ends too early")

  private mutating func skip(_ count: Int) throws(Damage) {
    if count > rest.count { throw ZoneFile.isShort }
    rest = rest.dropFirst(count)
  }

  /// A number with a sign, of one byte to eight, the greatest byte first. One byte has no sign.
  private mutating func number(size: Int) throws(Damage) -> Int64 {
    if size > rest.count { throw ZoneFile.isShort }
    let bits = rest.prefix(size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(size)
    return size == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
  }
}
