import Glibc
import Testing

@testable import QuireCore

@Suite("Time zones")
struct ZoneTests {
  private func refusal(_ body: () throws -> Void) -> String {
    do { try body() } catch let failure as Failure { return failure.message.string } catch {}
    return ""
  }

  private func offsets(_ table: ZoneTable, _ moments: [Int64]) -> [Int64] {
    moments.map { table.span(around: $0).offset }
  }

  private func moment(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) -> Int64 {
    Int64(CalendarDay.number(year: year, month: month, day: day) * 86_400 + hour * 3600)
  }

  // MARK: The calendar

  @Test("Days and their numbers agree with those of the C library")
  func calendar() throws {
    var dice = Dice(seed: 3)
    let edges = [-719_162, -719_163, -1, 0, 59, 60, 11_016, 2_932_896, -719_529, -25_509, -730_000]
    for number in edges + (0..<4000).map({ _ in dice.roll(4_000_000) - 1_000_000 }) {
      let day = CalendarDay(number: number)
      #expect(CalendarDay.number(year: day.year, month: day.month, day: day.day) == number)
      var seconds = time_t(number * 86_400), parts = tm()
      gmtime_r(&seconds, &parts)
      try #require(
        (day.year, day.month, day.day) == (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)))
      try #require(CalendarDay.weekday(ofNumber: number) == Int(parts.tm_wday))
    }
  }

  // MARK: Rules

  @Test("A rule has the offset of each half of the year, to the second")
  func rules() throws {
    let berlin = try #require(ZoneRule("CET-1CEST,M3.5.0,M10.5.0/3".utf8))
    #expect(berlin.span(around: moment(2050, 1, 1)).offset == 3600)
    let spring = moment(2050, 3, 27, 1), autumn = moment(2050, 10, 30, 1)
    #expect(berlin.span(around: spring) == OffsetSpan(start: spring, end: autumn, offset: 7200))
    #expect(berlin.span(around: spring - 1).end == spring && berlin.span(around: autumn).start == autumn)
    let sydney = try #require(ZoneRule("AEST-10AEDT,M10.1.0,M4.1.0/3".utf8))
    #expect(sydney.span(around: moment(2050, 1, 1)).offset == 39_600)
    #expect(sydney.span(around: moment(2050, 7, 1)).offset == 36_000)
    // Summer time is what the law of Ireland calls winter time.
    let dublin = try #require(ZoneRule("IST-1GMT0,M10.5.0,M3.5.0/1".utf8))
    #expect(dublin.span(around: moment(2050, 1, 1)).offset == 0)
    #expect(dublin.span(around: moment(2050, 7, 1)).offset == 3600)
    // The Saturday before the last Sunday, by a negative hour; and the day after, by one beyond 24.
    let nuuk = try #require(ZoneRule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0".utf8))
    #expect(nuuk.span(around: moment(2050, 3, 27, 1)).start == moment(2050, 3, 27, 1))
    let late = try #require(ZoneRule("<+03>-3<+04>,M3.4.4/50,M10.4.4/50".utf8))
    #expect(late.span(around: moment(2050, 5, 1)).start == moment(2050, 3, 25, 23))
    let always = try #require(ZoneRule("XXX3EDT4,0/0,J365/23".utf8))
    for month in 1...12 { #expect(always.span(around: moment(2051, month, 1)).offset == -4 * 3600) }
    #expect(always.span(around: moment(2051, 1, 1, 3)).offset == -4 * 3600)
  }

  @Test("Days of a rule count with and without February 29")
  func daysOfRules() throws {
    for (day, leap, plain) in [("J59", 28 + 31, 28 + 31), ("J60", 31 + 29 + 1, 31 + 28 + 1), ("59", 60, 60)] {
      let rule = try #require(ZoneRule("ABC0DEF,\(day)/0,J300/0".utf8))
      for (year, number) in [(2052, leap), (2053, plain)] {
        let span = rule.span(around: moment(year, 6, 1))
        #expect(span.start == moment(year, 1, 1) + Int64(number - 1) * 86_400, "\(day) \(year)")
      }
    }
  }

  @Test(
    "Text that is no rule is none",
    arguments: [
      "", "A1", "AB1", "ABC", "<A1", "<>1", "ABC25", "ABC1DEF", "ABC1DEF,M1.1.1", "ABC1DEF,M0.1.1,M2.1.1",
      "ABC1DEF,M1.6.1,M2.1.1", "ABC1DEF,M1.0.1,M2.1.1", "ABC1DEF,M1.1.7,M2.1.1", "ABC1DEF,M13.1.1,M2.1.1",
      "ABC1DEF,J0,J5", "ABC1DEF,J366,J5", "ABC1DEF,366,5", "ABC1DEF,J1/168,J5", "ABC1:60", "ABC1:1:60", "ABC1,J1,J5",
      "ABC1DEF,J1,J5,", "ABC1DEF,J1,J5 ", "ABC9999", "ABC-", "ABC1DEF,J,J5", "ABC1DEF,M1.1,M2.1.1", "Ä\u{300}B1",
    ])
  func wrongRules(text: String) { #expect(ZoneRule(text.utf8) == nil) }

  // MARK: Files

  @Test("The offset before the first change is the first, and after the last that of the rule")
  func tables() throws {
    var sketch = ZoneFileSketch(offsets: [-100, 3600, 7200], changes: [(10, 1), (20, 2), (moment(2000, 1, 1), 1)])
    sketch.footer = "CET-1CEST,M3.5.0,M10.5.0/3"
    sketch.oldOffsets = [5]
    for version in ["2", "3", "4", "9"] {
      sketch.version = version
      let table = try sketch.table()
      #expect(offsets(table, [.min / 2, 9, 10, 19, 20]) == [-100, -100, 3600, 3600, 7200])
      #expect(offsets(table, [moment(1999, 12, 31), moment(2000, 1, 1), moment(2000, 7, 1)]) == [7200, 3600, 7200])
      #expect(offsets(table, [moment(2099, 7, 1), moment(2101, 7, 1), moment(9999, 12, 1)]) == [7200, 7200, 3600])
      #expect(table.span(around: 10) == OffsetSpan(start: 10, end: 20, offset: 3600))
    }
    sketch.footer = ""
    #expect(offsets(try sketch.table(), [moment(2000, 7, 1), moment(9999, 1, 1)]) == [3600, 3600])
    sketch.version = "1"
    sketch.oldOffsets = [5, 6]
    sketch.oldChanges = [(-10, 1)]
    #expect(offsets(try sketch.table(), [-11, -10, 1 << 40]) == [5, 6, 6])
  }

  @Test("Spans touch, and each moment is in its own, in the table and by the rule")
  func spans() throws {
    var dice = Dice(seed: 8)
    for footer in ["", "XXX3EDT4,0/0,J365/23", "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3<+04>,J365/167,0/-167", "UTC0"] {
      for changes: [(Int64, UInt8)] in [[], [(0, 1)], [(-1 << 59, 1)], [(-1 << 59, 0), (1 << 33, 1), (1 << 59, 0)]] {
        let table = try ZoneFileSketch(offsets: [3600, 0], changes: changes, footer: footer).table()
        for _ in 0..<200 {
          let moment = Int64(dice.roll(300_000_000_000)) - 62_000_000_000
          let span = table.span(around: moment)
          try #require(span.contains(moment), "\(footer) \(changes) \(moment)")
          if span.start != .min {
            try #require(table.span(around: span.start - 1).end == span.start, "\(footer) \(changes) \(moment)")
          }
          if span.end != .max {
            try #require(table.span(around: span.end).start == span.end, "\(footer) \(changes) \(moment)")
          }
        }
      }
    }
  }

  @Test("Leap seconds of a file are no part of the times that its changes have")
  func leapSeconds() throws {
    let first = moment(1972, 7, 1), second = moment(1973, 1, 1) + 1, change = moment(1980, 1, 1)
    let sketch = ZoneFileSketch(
      offsets: [0, 3600], changes: [(100, 1), (change + 2, 0)], leaps: [(first, 1), (second, 2)])
    let table = try sketch.table()
    #expect(offsets(table, [99, 100, change - 1, change]) == [0, 3600, 3600, 0])
  }

  @Test("A damaged file is told, whatever is damaged")
  func damage() throws {
    func reason(_ bytes: [UInt8]) -> String {
      do throws(ZoneFile.Damage) { _ = try ZoneFile.table(in: bytes) } catch { return error.reason }
      return ""
    }
    let whole = ZoneFileSketch(offsets: [0, 3600], changes: [(0, 1), (10, 0)], footer: "UTC0")
    #expect(reason(whole.bytes) == "")
    for count in 0..<whole.bytes.count { #expect(reason(Array(whole.bytes.prefix(count))) != "", "\(count)") }
    func changed(_ change: (inout ZoneFileSketch) -> Void) -> String {
      var sketch = whole
      change(&sketch)
      return reason(sketch.bytes)
    }
    #expect(changed { $0.changes = [(0, 2)] }.contains("type that is not there"))
    #expect(changed { $0.changes = [(10, 1), (10, 0)] }.contains("do not ascend"))
    #expect(changed { $0.leaps = [(10, 1), (9, 2)] }.contains("do not ascend"))
    #expect(changed { $0.leaps = [(10, Int64(Int32.max))] }.contains("leap seconds"))
    #expect(changed { $0.offsets = [0, 26 * 3600] }.contains("between"))
    #expect(changed { $0.offsets = [0, Int64(Int32.min)] }.contains("between"))
    #expect(changed { ($0.offsets, $0.changes) = ([], []) }.contains("no type"))
    #expect(changed { $0.footer = "nothing" }.contains("not a rule"))
    #expect(changed { $0.footer = nil }.contains("too early"))
    // The counts of the second header.
    let header = whole.bytes.count - "\nUTC0\n".utf8.count - 44 - (2 * 9 + 2 * 6 + 4)
    for place in 20..<44 {
      var bytes = whole.bytes
      bytes[header + place] = 0xFF
      #expect(reason(bytes) != "", "\(place)")
    }
    var dice = Dice(seed: 5)
    for _ in 0..<5000 {
      var bytes = whole.bytes
      for _ in 0...dice.roll(3) { bytes[dice.roll(bytes.count)] = UInt8(dice.roll(256)) }
      if let table = try? ZoneFile.table(in: bytes) {
        for moment in [-1 << 40, 0, 1 << 33, 1 << 40] as [Int64] {
          let span = table.span(around: moment)
          try #require(span.contains(moment) && span.offset.magnitude < 26 * 3600)
        }
      }
    }
  }

  @Test("A file of the most changes makes no more work than its size")
  func manyChanges() throws {
    let changes = (0..<29_000).map { (time: Int64($0), type: UInt8($0 % 2)) }
    let folder = try TemporaryFolder()
    let bytes = ZoneFileSketch(offsets: [-90_000 + 1, 93_599], changes: changes).bytes
    #expect(bytes.count <= 1 << 18)
    #expect(FileSystem.write(Bytes(bytes), toNew: folder.file("Wild")) == 0)
    let periods = try PeriodSections(.day, timeZone: "Wild", folder: folder.path, locale: "")
    for second in stride(from: -200_000.0, to: 200_000, by: 991) {
      _ = try periods.period(of: second - Value.secondsFrom1970To2001)
    }
  }

  // MARK: Sources

  @Test("Names that lead out of the folder, and files that are none of zones, are not zones")
  func names() throws {
    func message(_ name: String, _ folder: String? = nil) -> String {
      refusal { _ = try PeriodSections(.day, timeZone: name, folder: folder, locale: "") }
    }
    let folder = try TemporaryFolder()
    for name in ["Good", "a b"] {
      #expect(FileSystem.write(Bytes(ZoneFileSketch(offsets: [60]).bytes), toNew: folder.file(name)) == 0)
      #expect(message(name, folder.path) == "")
      #expect(message(name).contains("is not a time zone"))
    }
    #expect(mkdir(folder.file("In"), 0o700) == 0)
    for name in [
      "", ".", "..", "/", "In", "In/../Good", "./Good", "/etc/localtime", "Good/", "//Good", "Good\0", "Good/x",
      "../\(folder.path.split(separator: "/").last ?? "")/Good", folder.file("Good"),
      String(repeating: "x", count: 5000),
    ] {
      #expect(message(name, folder.path).contains("is not a time zone"), "\(name.prefix(100))")
    }
    #expect(FileSystem.write(Bytes(Array("no zone".utf8)), toNew: folder.file("Text")) == 0)
    #expect(message("Text", folder.path).contains("is not a TZif file"))
    #expect(FileSystem.write(Bytes(ZoneFile.mark), toNew: folder.file("Short")) == 0)
    #expect(message("Short", folder.path).contains("it ends too early"))
    #expect(symlink("Loop", folder.file("Loop")) == 0)
    #expect(message("Loop", folder.path).contains("cannot be read"))
    let large = Bytes(ZoneFile.mark + [UInt8](repeating: 0, count: 1 << 18))
    #expect(FileSystem.write(large, toNew: folder.file("Large")) == 0)
    #expect(message("Large", folder.path).contains("bytes"))
    #expect(symlink("Good", folder.file("Link")) == 0)
    #expect(message("Link", folder.path) == "")
  }

  @Test("A list reads a zone anew when its file has changed")
  func update() throws {
    let folder = try TemporaryFolder()
    func name() throws -> String {
      let periods = try PeriodSections(.day, timeZone: "Here", folder: folder.path, locale: "")
      return try periods.period(of: -Value.secondsFrom1970To2001).name.string
    }
    for (offset, day) in [(-3600, "1969-12-31"), (3600, "1970-01-01"), (-7200, "1969-12-31")] as [(Int64, String)] {
      unlink(folder.file("Here"))
      #expect(FileSystem.write(Bytes(ZoneFileSketch(offsets: [offset]).bytes), toNew: folder.file("Here")) == 0)
      #expect(try name() == day)
    }
  }

  @Test("ICU has the offsets of zones without a file")
  func withoutFiles() throws {
    for (zone, offset) in [("GMT+3", 10_800), ("GMT-03:30", -12_600)] as [(String, Int64)] {
      let span = try ZoneSource.clock(of: zone, folder: nil).span(around: 0)
      #expect(span.offset == offset && span.contains(0))
    }
  }
}
