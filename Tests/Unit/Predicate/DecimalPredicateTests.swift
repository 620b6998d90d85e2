import Testing

@testable import QuireCore

/// Decimals that no double is, in predicates: what memory says of unsaved rows is what SQL says once they are saved.
@Suite("Decimals in predicates")
struct DecimalPredicateTests {
  private static let digits = [
    "0.1", "0.1000000000000000000000000001", "0.09999999999999999999999", "0.3", "9007199254740992", "9007199254740993",
    "-9007199254740993", "9223372036854775807", "9223372036854774784.5", "-9223372036854775808", "1e19",
    "12345678901234567890123456789012345678", "1e120", "-1.5e-120", "10.0", "16777217",
    "2.00000000000000000000000000000000001",
  ]

  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func decimal(_ digits: String) throws -> Decimal { try #require(Decimal(digits.utf8)) }

  private func ids(_ predicate: Predicate?, _ sort: [SortDescriptor] = [], in context: Context) throws -> [Int64] {
    let request = FetchRequest(entityName: "Sample")
    request.predicate = predicate
    request.sort = sort
    let list = try context.fetch(request)
    return (0..<list.count).map { list.id(at: $0) }
  }

  private func formats(_ digits: String) throws -> [Predicate] {
    let value = Value.decimal(try decimal(digits)), text = Value.text(Text(digits))
    let stored = Value.text(Text(try decimal(digits).stored.description))
    var formats = ["==", "!=", "<", "<=", ">", ">="].flatMap { sign in
      [
        ("exact \(sign) %@", [value]), ("exact \(sign) CAST(%@, 'float')", [value]), ("exact \(sign) long", []),
        ("exact \(sign) real", []), ("exact \(sign) single", []), ("exact \(sign) CAST(name, 'NSDecimalNumber')", []),
        ("exact + 1 \(sign) %@", [value]), ("abs:(exact) \(sign) %@", [value]), ("exact / 3 \(sign) real / 3", []),
        ("sum:({exact, real}) \(sign) %@", [value]), ("max:({exact, %@}) \(sign) exact", [value]),
        ("median:({exact, %@, 1}) \(sign) exact", [value]), ("exact \(sign) \(digits)", []),
      ]
    }
    formats += [
      ("exact IN {%@, 5}", [value]), ("exact BETWEEN {%@, 1e20}", [value]), ("CAST(exact, 'NSString') == %@", [text]),
      ("CAST(exact, 'NSString') == %@", [stored]),
      ("length:(CAST(exact, 'NSString')) == %@", [.integer(Int64(digits.utf8.count))]),
      ("({exact} UNION {%@})[SIZE] == 1", [value]), ("count:({exact} INTERSECT {real}) == 1", []),
      ("mode:({exact, exact, %@}) == {exact}", [value]), ("{exact, 1} CONTAINS %@", [value]),
      ("TERNARY(exact == %@, exact, 0) == exact", [value]),
    ]
    return try formats.map { format, arguments in try Predicate.parse(Text(format), arguments: arguments) }
  }

  @Test func savedAndUnsavedOnesAreTheSame() throws {
    let stored = try DecimalPredicateTests.digits.filter { try decimal($0).fitsFile }
    for (place, digits) in stored.enumerated() {
      for other in [digits, DecimalPredicateTests.digits[(place * 5 + 3) % DecimalPredicateTests.digits.count]] {
        let sample = try context.insert(entityNamed: "Sample"), number = try decimal(other).double
        for (key, value) in [
          ("exact", Value.decimal(try decimal(digits))), ("real", .double(number)), ("name", .text(Text(other))),
          ("long", number.magnitude < 9e18 ? .integer(Int64(number)) : .nil),
          ("single", number.magnitude < 1e38 ? .float(Float(number)) : .nil),
        ] { try sample.set(value, for: sample.entity.property(named: key)) }
      }
    }
    let predicates = try DecimalPredicateTests.digits.flatMap { try formats($0) }
    let unsaved = try predicates.map { try ids($0, in: context) }
    let orders = [
      [SortDescriptor(keyPath: ["exact"]), SortDescriptor(keyPath: ["real"], isAscending: false)],
      [SortDescriptor(keyPath: ["exact"], isAscending: false)],
    ]
    let unsavedOrders = try orders.map { try ids(nil, $0, in: context) }
    #expect(unsaved.count { !$0.isEmpty && $0.count < 2 * stored.count } > predicates.count / 3)
    try context.save()
    let fresh = Context(store: library.store)
    for (predicate, wanted) in zip(predicates, unsaved) {
      #expect(try ids(predicate, in: fresh) == wanted, "\(predicate.text)")
    }
    for (order, wanted) in zip(orders, unsavedOrders) { #expect(try ids(nil, order, in: fresh) == wanted) }
  }

  @Test func wholeNumbersThatAnotherProgramWroteCompareAsTheNearestDouble() throws {
    for _ in 0..<6 { _ = try context.insert(entityNamed: "Sample") }
    try context.save()
    try library.store.withConnection { connection throws(Failure) in
      for (key, value) in [1: "9007199254740993", 2: "9007199254740992", 3: "9007199254740995", 4: "-9007199254740993"]
      {
        try connection.execute("UPDATE ZSAMPLE SET ZEXACT = \(value), ZREAL = 9007199254740992.0 WHERE Z_PK = \(key)")
      }
    }
    let saved = Context(store: library.store), read = Context(store: library.store)
    let list = try read.fetch(FetchRequest(entityName: "Sample"))
    let formats = try ["9007199254740992", "9007199254740993", "9007199254740994", "-9007199254740993", "1"].flatMap {
      try self.formats($0)
    }
    for predicate in formats + [try Predicate.parse("exact == exact"), try Predicate.parse("exact == real")] {
      var wanted: [Int64] = []
      for place in 0..<list.count where try list.object(at: place).fulfils(predicate) {
        wanted.append(list.id(at: place))
      }
      #expect(try ids(predicate, in: saved) == wanted, "\(predicate.text)")
    }
  }

  @Test func theTreeKeepsAllDigits() throws {
    for digits in DecimalPredicateTests.digits {
      let predicate = try Predicate.parse("exact == %@", arguments: [.decimal(try decimal(digits))])
      let again = try Predicate.parse(Text(predicate.text))
      #expect(again == predicate && again.text == predicate.text)
      guard case .comparison(let comparison) = again, case .decimal(let read)? = comparison.right.constantValue else {
        Issue.record("\(again.text)")
        continue
      }
      #expect(try read == decimal(digits))
    }
  }
}
