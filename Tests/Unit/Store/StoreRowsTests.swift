import Testing

@testable import QuireCore

@Suite struct StoreRowsTests {
  let library: LibraryFixture

  init() throws { library = try LibraryFixture() }

  private func roundTrip(_ property: String, _ values: [Value]) throws {
    let inserts = try values.enumerated().map { try library.new("Sample", -1 - Int64($0), [property: $1]) }
    try library.save(inserts: inserts)
    let ids = (1...values.count).map(Int64.init)
    let rows = try library.store.newest.rows(root: try library.entity("Sample"), ids: ids)
    #expect(rows.map(\.id) == ids)
    let slot = try library.entity("Sample").property(named: property).slot
    for (row, value) in zip(rows, values) {
      #expect(Value.areSame(row.values[slot], value), "\(property): \(row.values[slot]) is not \(value)")
    }
  }

  @Test func integersComeBackAtTheEndsOfTheirRange() throws {
    try roundTrip("short", [.integer(Int64(Int16.min)), .integer(Int64(Int16.max)), .integer(0), .nil])
  }

  @Test func longIntegersComeBackAtTheEndsOfTheirRange() throws {
    try roundTrip("long", [.integer(.min), .integer(.max), .integer(-1), .nil])
  }

  @Test func middleIntegersComeBackAtTheEndsOfTheirRange() throws {
    try roundTrip("middle", [.integer(Int64(Int32.min)), .integer(Int64(Int32.max))])
  }

  @Test func booleansComeBackAsBooleans() throws {
    try roundTrip("flag", [.boolean(true), .boolean(false), .nil])
    #expect(try library.sql("SELECT ZFLAG, typeof(ZFLAG) FROM ZSAMPLE") == ["1|integer", "0|integer", "-|null"])
  }

  @Test func doublesComeBackToTheLastBit() throws {
    try roundTrip(
      "real",
      [
        .double(0.1), .double(-0.0), .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude),
        .double(-.greatestFiniteMagnitude), .double(.infinity), .double(-.infinity), .double(4), .double(1e300), .nil,
      ])
  }

  @Test func floatsComeBackToTheLastBit() throws {
    try roundTrip(
      "single",
      [.float(0.1), .float(.leastNonzeroMagnitude), .float(.greatestFiniteMagnitude), .float(-0.0), .float(16_777_215)])
    #expect(try library.sql("SELECT ZSINGLE = 0.100000001490116119384765625 FROM ZSAMPLE LIMIT 1") == ["1"])
  }

  @Test func decimalsComeBackWithTheDigitsOfADouble() throws {
    let texts = ["10.11", "-0.001", "12345678", "0", "99999999.5"]
    try roundTrip("exact", try texts.map { .decimal(try #require(Decimal($0.utf8))) } + [.nil])
  }

  @Test func datesComeBackWithFractionsAndBefore2001() throws {
    try roundTrip(
      "moment",
      [.date(0), .date(-978_307_200), .date(-63_114_076_800.25), .date(700_000_000.123456), .date(1e11), .nil])
  }

  @Test func textComesBackUnchanged() throws {
    try roundTrip(
      "name",
      [
        .text(""), .text("a\u{0}b"), .text("\u{0}"), .text("👩‍👩‍👧‍👦 e\u{301} é"), .text("123"),
        .text("'; DROP TABLE ZSAMPLE; --"),
        .text(String(repeating: "long ", count: 100_000)), .nil,
      ])
    #expect(try library.sql("SELECT hex(ZNAME), typeof(ZNAME) FROM ZSAMPLE LIMIT 2") == ["|text", "610062|text"])
  }

  @Test func dataAndUUIDsComeBackUnchanged() throws {
    let every = Bytes(ContiguousArray(UInt8.min...UInt8.max))
    try roundTrip("bytes", [.data(Bytes([])), .data(every), .nil])
    #expect(try library.sql("SELECT typeof(ZBYTES), length(ZBYTES) FROM ZSAMPLE") == ["blob|0", "blob|256", "null|-"])
  }

  @Test func transformableAndUUIDAndURIComeBackUnchanged() throws {
    let uuid = Bytes((0..<16).map { UInt8($0) })
    try library.save(inserts: [
      try library.new(
        "Sample", -1, ["key": .uuid(uuid), "link": .uri("https://example.org/ä"), "blob": .data(Bytes([1, 2, 0]))])
    ])
    #expect(Value.areSame(try library.value("Sample", 1, "key"), .uuid(uuid)))
    #expect(Value.areSame(try library.value("Sample", 1, "link"), .uri("https://example.org/ä")))
    #expect(Value.areSame(try library.value("Sample", 1, "blob"), .data(Bytes([1, 2, 0]))))
  }

  @Test func aTransientAttributeReadsItsDefault() throws {
    try library.save(inserts: [try library.new("Sample", -1, ["note": .text("forgotten")])])
    #expect(Value.areSame(try library.value("Sample", 1, "note"), .text("unwritten")))
  }

  @Test func rowsOfATreeHaveTheirOwnEntityAndProperties() throws {
    try library.save(inserts: [
      try library.new("Person", -1, ["name": .text("Ann"), "age": .integer(30), "code": .text("A")]),
      try library.new("Company", -2, ["name": .text("Acme"), "code": .integer(7)]),
      try library.new("Author", -3, ["name": .text("Zoe"), "code": .text("Z"), "prize": .text("Nobel")]),
    ])
    let rows = try library.store.newest.rows(root: try library.entity("Party"), ids: [3, 1, 2])
    #expect(rows.map(\.entity.name) == ["Person", "Company", "Author"])
    #expect(rows.map(\.version) == [1, 1, 1])
    #expect(Value.areSame(try library.value("Company", 2, "code"), .integer(7)))
    #expect(Value.areSame(try library.value("Author", 3, "code"), .text("Z")))
    #expect(Value.areSame(try library.value("Author", 3, "prize"), .text("Nobel")))
  }

  @Test func missingIDsAreAbsentAndRowsComeOnceByKey() throws {
    try library.save(inserts: try (1...5000).map { try library.new("Tag", -Int64($0), ["word": .text("\($0)")]) })
    let ids = (0...6000).map(Int64.init).reversed() + [7, -7, .max]
    let rows = try library.store.newest.rows(root: try library.entity("Tag"), ids: ids)
    #expect(rows.map(\.id) == (1...5000).map(Int64.init))
    #expect(Value.areSame(try #require(rows.last).values[0], .text("5000")))
    #expect(try library.store.newest.rows(root: try library.entity("Tag"), ids: []).isEmpty)
    #expect(try library.store.newest.rows(root: try library.entity("Tag"), ids: [5001]).isEmpty)
  }

  @Test func aRowOfAnUnknownEntityIsNamed() throws {
    try library.save(inserts: [try library.new("Person", -1)])
    try library.store.withConnection { connection throws(Failure) in
      try connection.execute("UPDATE ZPARTY SET Z_ENT = 99")
    }
    let plan = FetchPlan(entity: try library.entity("Party"))
    let newest = library.store.newest
    let failures = [failure { _ = try newest.rows(plan) }, failure { _ = try newest.ids(plan) }]
    for failure in failures {
      let failure = try #require(failure)
      #expect(failure.kind == .database)
      #expect(failure.message.string.contains("Row 1 of table ZPARTY says that it is of entity number 99"))
    }
  }

  @Test func aRowOfAnAbstractEntityIsNamed() throws {
    try library.save(inserts: [try library.new("Person", -1)])
    let party = try library.entity("Party")
    try library.store.withConnection { connection throws(Failure) in
      try connection.execute("UPDATE ZPARTY SET Z_ENT = \(party.number)")
    }
    #expect(failure { _ = try library.store.newest.rows(FetchPlan(entity: party)) }?.kind == .database)
  }

  @Test func aColumnWithTheWrongKindOfValueIsNamed() throws {
    try library.save(inserts: [try library.new("Sample", -1, ["key": .uuid(Bytes(repeatElement(7, count: 16)))])])
    try library.store.withConnection { connection throws(Failure) in
      try connection.execute("UPDATE ZSAMPLE SET ZKEY = x'0102'")
    }
    let failure = try #require(failure { _ = try library.row("Sample", 1) })
    #expect(failure.kind == .database)
    #expect(failure.message.string.contains("ZKEY"))
  }

  @Test func valuesOfOtherKindsThanTheTypesOwnAreRefusedNotTrapped() throws {
    try library.save(inserts: [try library.new("Sample", -1)])
    for assignment in [
      "ZLONG = 'x'", "ZLONG = x'00'", "ZNAME = x'FF'", "ZNAME = CAST(x'FF' AS TEXT)", "ZMOMENT = 'soon'",
    ] {
      try library.store.withConnection { connection throws(Failure) in
        try connection.execute("UPDATE ZSAMPLE SET ZLONG = 1, ZNAME = 'a', ZMOMENT = 1.5")
        try connection.execute("UPDATE ZSAMPLE SET \(assignment)")
      }
      #expect(failure { _ = try library.row("Sample", 1) }?.kind == .database, "\(assignment)")
    }
  }
}
