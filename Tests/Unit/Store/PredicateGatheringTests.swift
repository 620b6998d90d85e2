import Testing

@testable import QuireCore

/// Long chains of `a == 1 OR a == 2` become one IN. The oracle is what each part says alone, where it is not gathered.
@Suite("Gathered comparisons")
struct PredicateGatheringTests {
  private let library: LibraryFixture
  private let context: Context

  /// A few of each type, so that many are equal, and values of other types.
  private static let values: [Value] = [
    .nil, .integer(1), .integer(2), .integer(-3), .boolean(true), .boolean(false), .double(1), .double(2.5),
    .double(.nan), .float(0.1), .decimal(Decimal(2)), .decimal(Decimal("0.1000000000000000000000001".utf8)!),
    .decimal(Decimal("9007199254740993".utf8)!), .integer(9_007_199_254_740_993), .text("a"), .text("A"),
    .text("Ä"), .text("a\u{308}"), .text("1"), .text(""), .date(0), .date(2.5), .data(Bytes([1, 2])), .uri("a"),
    .uuid(Bytes(Array(repeating: 7, count: 16))),
  ]
  private static let keys = [
    "short", "long", "flag", "real", "single", "exact", "name", "moment", "bytes", "key", "link",
  ]

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
    for (place, value) in PredicateGatheringTests.values.enumerated() {
      let sample = try context.insert(entityNamed: "Sample")
      for key in PredicateGatheringTests.keys {
        let property = try sample.entity.property(named: key)
        let other = PredicateGatheringTests.values[place * 7 % PredicateGatheringTests.values.count]
        for candidate in [value, other] where failure(of: { try sample.set(candidate, for: property) }) == nil { break }
      }
      let author = try context.insert(entityNamed: "Author")
      try author.set(.text(Text("author \(place % 5)")), for: author.entity.property(named: "name"))
      for number in 0..<(place % 4) {
        let book = try context.insert(entityNamed: "Book")
        try book.set(.text(Text("book \((place + number * 3) % 11)")), for: book.entity.property(named: "title"))
        try book.set(.object(author.reference), for: book.entity.property(named: "author"))
      }
    }
    try context.save()
  }

  private func ids(_ entity: String, _ predicate: Predicate, in context: Context) throws -> Set<Int64> {
    let request = FetchRequest(entityName: entity)
    request.predicate = predicate
    request.resultType = .ids
    let list = try context.fetch(request)
    return Set(try (0..<list.count).map { try list.object(at: $0).id })
  }

  /// Compares a chain in SQL and in memory with what its parts say one by one.
  private func check(_ entity: String, _ parts: [Predicate], isOr: Bool, _ chain: Predicate, _ what: String) throws {
    let list = try context.fetch(FetchRequest(entityName: entity))
    var wanted: Set<Int64> = []
    let evaluators = try parts.map { part throws(Failure) in try PredicateEvaluator(part) }
    let whole = try PredicateEvaluator(chain)
    for place in 0..<list.count {
      let object = try list.object(at: place)
      var holds = !isOr
      for evaluator in evaluators where try evaluator.matches(object) == isOr {
        holds = isOr
        break
      }
      if holds { wanted.insert(object.id) }
      try #require(try whole.matches(object) == holds, "\(object.id) \(chain.text), \(what)")
    }
    let found = try ids(entity, chain, in: Context(store: library.store))
    try #require(found == wanted, "\(chain.text), \(what)")
  }

  @Test(arguments: UInt64(1)...40) func chainsSayWhatTheirPartsSay(_ seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let isOr = dice.chance(1, of: 2)
    let options: [Comparison.Options] = [[], [], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]
    let subjects = (0..<(1 + dice.roll(3))).map { _ in
      (key: dice.pick(PredicateGatheringTests.keys) ?? "name", options: dice.pick(options) ?? [])
    }
    var parts: [Predicate] = []
    for _ in 0..<(20 + dice.roll(60)) {
      guard let (key, options) = dice.pick(subjects), let value = dice.pick(PredicateGatheringTests.values) else {
        continue
      }
      // Text beside a date is read as a date, and rejected where it is none.
      if key == "moment", case .text = value { continue }
      var comparison = Comparison(
        left: .keyPath([Key(key)]), operator: .equal, right: .constant(value), options: options)
      switch dice.roll(12) {
      case 0: swap(&comparison.left, &comparison.right)
      case 1:
        comparison.operator = .isIn
        comparison.right = .constant(.list([value, .integer(7)]))
      case 2:
        parts.append(
          .comparison(Comparison(left: .keyPath(["short"]), operator: .lessThan, right: .constant(.integer(-5)))))
        continue
      default: break
      }
      if isOr {
        parts.append(.comparison(comparison))
      } else if comparison.operator == .equal, dice.chance(2, of: 3) {
        comparison.operator = .notEqual
        parts.append(.comparison(comparison))
      } else {
        parts.append(.not(.comparison(comparison)))
      }
    }
    // Groups within groups, as programs make them that add one part after another.
    func nested(_ parts: ArraySlice<Predicate>) -> Predicate {
      if parts.count == 1 { return parts[parts.startIndex] }
      let middle = parts.index(parts.startIndex, offsetBy: 1 + dice.roll(parts.count - 1))
      let both = [nested(parts[..<middle]), nested(parts[middle...])]
      return isOr ? .or(both) : .and(both)
    }
    try check("Sample", parts, isOr: isOr, isOr ? .or(parts) : .and(parts), "flat, seed \(seed)")
    try check("Sample", parts, isOr: isOr, nested(parts[...]), "nested, seed \(seed)")
  }

  @Test func chainsAboutMembersOfCollections() throws {
    let some = try (0..<20).map { try Predicate.parse(Text("ANY books.title == 'book \($0 * 2)'")) }
    try check("Author", some, isOr: true, .or(some), "ANY")
    let none = try (0..<20).map { try Predicate.parse(Text("NONE books.title == 'book \($0 * 2)'")) }
    try check("Author", none, isOr: false, .and(none), "NONE")
    let all = try (0..<20).map { try Predicate.parse(Text("ALL books.title == 'book \($0 * 2)'")) }
    try check("Author", all, isOr: true, .or(all), "ALL")
    let authors = try ids("Author", .constant(true), in: context).sorted()
    let related = try authors.map { id in
      Predicate.comparison(
        Comparison(left: .keyPath(["author"]), operator: .equal, right: .constant(try library.object("Author", id))))
    }
    try check("Book", related, isOr: true, .or(related), "objects")
    let inside = try Predicate.parse(
      Text(
        "SUBQUERY(books, $b, \((0..<20).map { "$b.title == 'book \($0 * 2)'" }.joined(separator: " OR "))).@count > 0"))
    try check("Author", some, isOr: true, inside, "SUBQUERY")
    let ternary = try Predicate.parse(
      Text("TERNARY(\((0..<200).map { "name == 'author \($0 * 2)'" }.joined(separator: " OR ")), 1, 2) == 1"))
    let names = try (0..<5).map { try Predicate.parse(Text("name == 'author \($0 * 2)'")) }
    try check("Author", names, isOr: true, ternary, "TERNARY")
  }

  @Test func whatIsGathered() throws {
    func text(_ format: (Int) -> String, _ word: String, _ count: Int = 16) throws -> String {
      let parts = try (0..<count).map { try Predicate.parse(Text(format($0))) }
      return Predicate.all(word == "OR" ? [.or(Predicate.gathered(or: parts))] : Predicate.gathered(and: parts)).text
    }
    let list = "{" + (0..<16).map { "\($0)" }.joined(separator: ", ") + "}"
    #expect(try text({ "a == \($0)" }, "OR") == "a IN \(list)")
    #expect(try text({ "\($0) == a" }, "OR") == "a IN \(list)")
    #expect(try text({ "a.b ==[c] \($0)" }, "OR") == "a.b IN[c] \(list)")
    #expect(try text({ "ANY a.b == \($0)" }, "OR") == "ANY a.b IN \(list)")
    #expect(try text({ "a != \($0)" }, "AND") == "NOT a IN \(list)")
    #expect(try text({ "NOT a == \($0)" }, "AND") == "NOT a IN \(list)")
    // Few ones, others, and what says something else together.
    for (format, word, count) in [
      ("a == %d", "OR", 15), ("ALL a == %d", "OR", 16), ("a ==[l] %d", "OR", 16), ("random() == %d", "OR", 16),
      ("a == %d", "AND", 16), ("a != %d", "OR", 16), ("ANY a != %d", "AND", 16), ("a == {%d}", "OR", 16),
      ("a == b + %d", "OR", 16), ("a < %d", "OR", 16),
    ] {
      func one(_ number: Int) -> String {
        let parts = format.split(separator: "%", maxSplits: 1).map(String.init)
        return parts[0] + "\(number)" + parts[1].dropFirst()
      }
      let parts = try (0..<count).map { try Predicate.parse(Text(one($0))) }
      #expect((word == "OR" ? Predicate.gathered(or: parts) : Predicate.gathered(and: parts)) == parts, "\(format)")
    }
  }

  @Test func manyPatternsAreLookedForInTheTimeThatTheyTake() throws {
    let parts = (0..<3000).map { "word CONTAINS[c] 'Q\($0)X'" } + ["word ENDSWITH[c] 'D 77'"]
    _ = try context.insertIntoStore(entityNamed: "Tag", keys: ["word"], rowCount: 300, merges: false) { (_, row) in
      .text(Text("word \(row)"))
    }
    try context.merge()
    let predicate = try Predicate.parse(Text(parts.joined(separator: " OR ")))
    #expect(try ids("Tag", predicate, in: context) == [78])
  }
}
