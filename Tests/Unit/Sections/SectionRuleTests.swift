import Testing

@testable import QuireCore

@Suite("Section rules")
struct SectionRuleTests {
  private func names(
    _ values: [Value], _ grouping: SectionGrouping, isDescending: Bool = false, textOrder: TextOrder = .binary,
    fixed: [Value] = []
  ) throws -> [String] {
    let maker = try SectionMaker(
      grouping, isDescending: isDescending, textOrder: textOrder, fixed: fixed, source: "value")
    return try values.map { try maker.section(of: $0).name.string }
  }

  private func refusal(_ body: () throws -> Void) -> String {
    do { try body() } catch let failure as Failure { return failure.message.string } catch {}
    return ""
  }

  @Test(
    "A text has the letter that an index of its language has",
    arguments: [
      ("en", ["apple", "Apple", "\u{e4}pple", "zoo", "\u{c5}ngstr\u{f6}m", "\u{f6}l"], "AAAZAO"),
      (
        "sv", ["apple", "\u{e4}pple", "zoo", "\u{c5}ngstr\u{f6}m", "A\u{30a}", "\u{f6}l"], "A\u{c4}Z\u{c5}\u{c5}\u{d6}"
      ),
      ("de", ["\u{c4}sop", "A\u{308}sop", "\u{df}", "7", "!", "\u{416}"], "AAS##\u{2026}"),
      ("hu", ["cukor", "\u{e1}gy", "\u{f6}r\u{f6}m", "\u{151}r"], "CA\u{d6}\u{d6}"),
      ("ru", ["\u{451}\u{436}", "\u{430}", "\u{44f}", "apple"], "\u{415}\u{410}\u{42f}\u{2026}"),
      ("ja", ["\u{30ab}\u{30ca}", "\u{3055}", "\u{3093}", "\u{65e5}"], "\u{304b}\u{3055}\u{308f}\u{2026}"),
      ("zh", ["\u{4e2d}\u{6587}", "\u{5317}\u{4eac}", "apple", "igloo"], "ZBAI"),
      ("ko", ["\u{ac00}", "\u{d558}"], "\u{3131}\u{314e}"),
      ("", ["a", "Z", "\u{3b1}"], "AZ\u{2026}"),
    ])
  func letters(locale: String, texts: [String], wanted: String) throws {
    let found = try names(texts.map { .text($0) }, .letter(locales: [locale]))
    #expect(found == wanted.map(String.init))
  }

  @Test("Letters of several characters are letters where the language has them")
  func digraphs() throws {
    #expect(try names([.text("chata"), .text("cena"), .text("hora")], .letter(locales: ["cs"])) == ["CH", "C", "H"])
    #expect(try names([.text("chata"), .text("cena")], .letter(locales: ["en"])) == ["C", "C"])
    #expect(try names([.text("dzsungel"), .text("csiga")], .letter(locales: ["hu"])) == ["DZS", "CS"])
  }

  @Test("Letters of two languages are in one index, with what is between their scripts apart")
  func severalLocales() throws {
    let texts: [Value] = [.text("apple"), .text("\u{416}"), .text("\u{3b1}"), .text("\u{5d0}"), .text("1")]
    #expect(
      try names(texts, .letter(locales: ["en", "ru"])) == ["A", "\u{416}", "\u{2026}", "\u{2026}", "#"])
    let maker = try SectionMaker(
      .letter(locales: ["en", "ru"]), isDescending: false, textOrder: .binary, fixed: [], source: "value")
    let sections = try texts.map { try maker.section(of: $0).order }
    // Digits, Latin, Greek between, Cyrillic, and behind that Hebrew.
    #expect(
      sections[4] < sections[0] && sections[0] < sections[2] && sections[2] < sections[1] && sections[1] < sections[3])
  }

  @Test(
    "The sections of letters come in the order that the language has for texts", arguments: ["sv", "cs", "hu", "zh"])
  func lettersInOrder(locale: String) throws {
    let maker = try SectionMaker(
      .letter(locales: [locale]), isDescending: false, textOrder: .binary, fixed: [], source: "value")
    let texts =
      locale == "zh"
      ? ["1", "ant", "\u{5317}", "igloo", "zoo"]
      : ["1", "ant", "\u{e1}nt", "cat", "chat", "csak", "hat", "zoo", "\u{e5}n", "\u{e4}n", "\u{f6}n"]
    let keys = try TextOrderKeys(TextOrder(.localized, locale: locale))
    let byLanguage = texts.map { text in
      var key = SortKey()
      key.append(.text(text), textOrder: keys)
      return (key, text)
    }.sorted { $0.0 < $1.0 }.map(\.1)
    let sections = try byLanguage.map { try maker.section(of: .text($0)).order }
    // Chinese characters stand before Latin ones there, and among them in the sections.
    if locale == "zh" {
      #expect(try texts.map { try maker.section(of: .text($0)).order } == sections.sorted())
    } else {
      #expect(sections == sections.sorted())
    }
  }

  @Test("nil and empty text are one section without a name, before the others or behind them")
  func nothing() throws {
    for grouping in [SectionGrouping.value, .letter(locales: ["en"])] {
      for isDescending in [false, true] {
        let maker = try SectionMaker(
          grouping, isDescending: isDescending, textOrder: .binary, fixed: [], source: "value")
        let none = try maker.section(of: .nil), empty = try maker.section(of: .text("")),
          one = try maker.section(
            of: .text("a"))
        #expect(none == empty && none.name == "" && empty.value.isNil)
        #expect((none.order < one.order) != isDescending)
      }
    }
  }

  @Test("Days, weeks, months and years begin when the clocks of their time zone say")
  func periods() throws {
    func date(_ iso: Double) -> Value { .date(Epoch.since2001(iso)) }
    // 2026-03-28 22:59:59 UTC is the last second of a Saturday in Berlin; the clocks change on the Sunday.
    let dates = [1_774_738_799.0, 1_774_738_800, 1_774_821_600, 1_774_821_599].map(date)
    func berlin(_ unit: SectionGrouping.Unit, _ locale: String = "de") -> SectionGrouping {
      .period(unit, timeZone: "Europe/Berlin", locale: locale)
    }
    #expect(try names(dates, berlin(.day)) == ["2026-03-28", "2026-03-29", "2026-03-30", "2026-03-29"])
    #expect(try names(dates, berlin(.week)) == ["2026-03-23", "2026-03-23", "2026-03-30", "2026-03-23"])
    #expect(try names(dates, berlin(.week, "en_US")) == ["2026-03-22", "2026-03-29", "2026-03-29", "2026-03-29"])
    #expect(try names(dates, berlin(.month)) == ["2026-03", "2026-03", "2026-03", "2026-03"])
    #expect(try names(dates, berlin(.year)) == ["2026", "2026", "2026", "2026"])
    let section = try SectionMaker(
      berlin(.day), isDescending: false, textOrder: .binary, fixed: [], source: "value"
    ).section(of: dates[1])
    #expect(section.value.isIdentical(to: dates[1]) && section.indexTitle == "2026")
  }

  @Test(
    "Periods begin at the first moment that is in them, and an earlier one is in an earlier period",
    arguments: [
      "Europe/Berlin", "America/Havana", "Africa/Cairo", "Pacific/Apia", "America/Sao_Paulo", "Asia/Kathmandu",
      "America/St_Johns", "America/Juneau", "GMT+3",
    ])
  func periodsBegin(zone: String) throws {
    var dice = Dice(seed: 11)
    for unit in [SectionGrouping.Unit.day, .week, .month, .year] {
      let periods = try PeriodSections(unit, timeZone: zone, locale: "de")
      for _ in 0..<400 {
        let date = Double(dice.roll(4_000_000_000) - 2_500_000_000) + Double(dice.roll(1000)) / 1000
        let period = try periods.period(of: date)
        let first = try periods.period(of: period.start), before = try periods.period(of: period.start - 0.001)
        try #require(period.start <= date && first.name == period.name, "\(zone) \(unit) \(date)")
        try #require(before.firstDay < period.firstDay && before.start < period.start, "\(zone) \(unit) \(date)")
      }
    }
  }

  @Test("Dates beyond all calendars have a section, too")
  func farDates() throws {
    let dates: [Value] = [-1e300, 1e300, -.infinity, .infinity, .nan].map { .date($0) }
    let found = try names(dates, .period(.year, timeZone: "UTC", locale: ""))
    #expect(found == ["0001", "9999", "0001", "9999", ""])
  }

  @Test(
    "The first and the last day of the calendar are days of their own",
    arguments: [
      "UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kolkata",
    ])
  func outermostDays(zone: String) throws {
    let day = 86_400.0, first = -63_113_904_000.0, end = 252_423_993_600.0
    let dates = [-1e300, first + day / 2, first + 1.5 * day, end - 1.5 * day, end - day / 2, 1e300]
    let found = try names(dates.map { .date($0) }, .period(.day, timeZone: zone, locale: ""))
    #expect(found.first == "0001-01-01" && found.last == "9999-12-31")
    // At noon in UTC it is the same day everywhere but beyond the date line, and never more than one off.
    if zone != "Pacific/Kiritimati" {
      #expect(found == ["0001-01-01", "0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31", "9999-12-31"])
    }
  }

  @Test("Numbers are in the range whose lower bound they have reached")
  func numbers() throws {
    let values: [Value] = [
      .integer(-1), .integer(0), .double(9.99), .double(10), .double(-0.0), .decimal(Decimal(25)), .double(.infinity),
      .double(.nan), .boolean(true), .nil,
    ]
    #expect(
      try names(values, .step(width: 10, origin: 0)) == ["-10", "0", "0", "10", "0", "20", "inf", "", "0", ""])
    #expect(try names(values, .bounds([0, 10])) == ["<0", "0", "0", "10", "0", "10", "10", "", "0", ""])
    var dice = Dice(seed: 5)
    for _ in 0..<2000 {
      let width = Double(1 + dice.roll(1000)) / 1000, origin = Double(dice.roll(100)) / 10
      let maker = try SectionMaker(
        .step(width: width, origin: origin), isDescending: false, textOrder: .binary, fixed: [], source: "value")
      let number = Double(dice.roll(2_000_000) - 1_000_000) * width / 16
      guard case .double(let bound) = try maker.section(of: .double(number)).value else { throw Unexpected() }
      try #require(bound <= number && number - bound <= width * 1.000001, "\(number) by \(width) from \(origin)")
    }
  }

  @Test("32-bit numbers are in the range of the decimal that they print as")
  func singles() throws {
    for width in [0.1, 0.01, 0.3, 0.7, 2.5] {
      let maker = try SectionMaker(
        .step(width: width, origin: 0), isDescending: false, textOrder: .binary, fixed: [], source: "value")
      let bounds = (-40...40).map { Double("\($0 * Int(width * 100))e-2")! }
      let between = try SectionMaker(
        .bounds(bounds), isDescending: false, textOrder: .binary, fixed: [], source: "value")
      for bound in bounds {
        for maker in [maker, between] {
          let section = try maker.section(of: .float(Float(bound)))
          guard case .double(let found) = section.value else { throw Unexpected() }
          #expect(found == bound, "\(bound) by \(width)")
        }
      }
    }
  }

  private struct Unexpected: Error {}

  @Test("Values of all types are sections, equal numbers of different types the same one")
  func values() throws {
    let maker = try SectionMaker(.value, isDescending: false, textOrder: .binary, fixed: [], source: "value")
    func key(_ value: Value) throws -> SortKey { try maker.section(of: value).order }
    #expect(try key(.integer(1)) == key(.double(1)))
    #expect(try key(.integer(1)) == key(.boolean(true)))
    #expect(try key(.integer(.max)) != key(.integer(.max - 1)))
    let ascending: [Value] = [
      .nil, .double(-.infinity), .integer(.min), .double(-1.5), .integer(0), .float(0.5), .integer(1 << 53),
      .integer(1 << 53 + 1), .integer(.max), .double(1e300), .text("a"), .text("ab"), .date(-1), .date(1),
    ]
    let keys = try ascending.map(key)
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    let message = refusal { _ = try maker.section(of: .list([.integer(1)])) }
    #expect(message.contains("single values"))
  }

  @Test("Fixed sections go before the others, in their order")
  func fixed() throws {
    let maker = try SectionMaker(
      .letter(locales: ["en"]), isDescending: true, textOrder: .binary, fixed: [.text("M"), .text("apple")],
      source: "value")
    #expect(maker.fixed.map(\.name.string) == ["M", "A"])
    let found = try ["b", "m", "z", "a"].map { try maker.section(of: .text($0)) }.sorted { $0.order < $1.order }
    #expect(found.map(\.name.string) == ["M", "A", "Z", "B"])
  }

  @Test("What makes no sections is refused with its reason")
  func refusals() throws {
    func message(_ grouping: SectionGrouping, fixed: [Value] = []) -> String {
      refusal { _ = try SectionRule(.keyPath(["x"]), grouping, fixed: fixed) }
    }
    #expect(message(.letter(locales: ["xx_nowhere"])).contains("'xx_nowhere' is not a locale"))
    #expect(message(.period(.day, timeZone: "Nowhere/At", locale: "")).contains("'Nowhere/At' is not a time zone"))
    #expect(message(.step(width: 0, origin: 0)).contains("width greater than 0"))
    #expect(message(.step(width: .nan, origin: 0)).contains("width greater than 0"))
    #expect(message(.bounds([1, 1])).contains("greater than the last"))
    #expect(message(.bounds([])).contains("greater than the last"))
    #expect(message(.value, fixed: [.integer(1), .double(1)]).contains("named twice"))
    #expect(message(.letter(locales: [""]), fixed: [.integer(1)]).contains("made of text, and x gives an integer"))
    #expect(message(.value, fixed: [.object(ObjectReference(root: 1, id: 1))]).contains("cannot be a fixed section"))
  }

  @Test("A controller refuses rules that its entity cannot have")
  func unsuitedRules() throws {
    let fixture = try LibraryFixture()
    let context = Context(store: fixture.store)
    func message(_ format: String, _ grouping: SectionGrouping = .value, fixed: [Value] = []) throws -> String {
      let rule = try SectionRule(Expression.parse(Text(format)), grouping, fixed: fixed)
      return refusal {
        _ = try ResultsController(
          context: context, request: FetchRequest(entityName: "Book"), sections: .rule(rule), queuesChanges: false)
      }
    }
    #expect(try message("tittle").contains("tittle"))
    #expect(try message("price", .letter(locales: [""])).contains("'price' is a number"))
    #expect(try message("title", .step(width: 1, origin: 0)).contains("'title' is text"))
    #expect(try message("title", .period(.day, timeZone: "UTC", locale: "")).contains("'title' is text"))
    #expect(try message("now()").contains("another value each time"))
    #expect(try message("title", fixed: [.nil, .text("a"), .integer(1)]).contains("a number, and 'title' is text"))
    #expect(try message("price", fixed: [.boolean(true), .text("1")]).contains("text, and 'price' is a number"))
    #expect(try message("author", fixed: [.text("Goethe")]).contains("text, and 'author' is an object"))
    #expect(try message("title", fixed: [.nil, .text("a")]).isEmpty)
    #expect(try message("author.books").contains("a list"))
    #expect(try message("author.books.price").contains("a list"))
    #expect(try message("$x").contains("$x"))
    #expect(try message("price * 2") == "")
  }
}
