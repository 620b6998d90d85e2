import Testing

@testable import QuireCore

/// The random histories of controllers have aggregates, too; see `ControllerProbe`.
@Suite("Results controllers: aggregates")
struct AggregateResultsTests {
  /// A double of any size.
  private static func double(_ dice: inout Dice) -> Double {
    let bits = UInt64(dice.roll(1 << 30)) << 34 | UInt64(dice.roll(1 << 30)) << 4
    let double = Double(bitPattern: bits | UInt64(dice.roll(16)))
    // In the midst they meet more often.
    if dice.chance(1, of: 2) {
      return Double(dice.roll(2_000_001) - 1_000_000) / 1024 * (dice.chance(1, of: 4) ? 1e-300 : 1)
    }
    return double.isFinite ? double / 1e4 : 0.1
  }

  @Test("A sum is the nearest double to the sum, and nothing is left of what is taken away", arguments: Dice.seeds(4))
  func sumsAreExact(seed: UInt64) {
    print("exact sums: seed \(seed)")
    var dice = Dice(seed: seed)
    for round in 0..<60 {
      let numbers = (0..<(1 + dice.roll(40))).map { _ in Self.double(&dice) }
      let others = (0..<dice.roll(40)).map { _ in Self.double(&dice) }
      var sum = ExactSum.binary
      var steps = numbers.map { ($0, false) } + others.map { ($0, false) }
      steps = dice.shuffled(steps) + dice.shuffled(others.map { ($0, true) })
      for (number, isTaken) in steps { sum.add(number, isTaken: isTaken) }
      #expect(sum.double == AggregateSketch.exactSum(numbers), "round \(round) of seed \(seed)")
      for number in numbers { sum.add(number, isTaken: true) }
      #expect(sum.double == 0, "round \(round) of seed \(seed)")
    }
  }

  @Test("Sums go beyond what doubles, integers and decimals hold, and come back")
  func sumsAtTheirLimits() {
    func sum(_ values: [Value], without taken: [Value] = []) -> Value {
      var tally = AggregateTally()
      for value in values { tally.add(value, isTaken: false, isSummed: true) }
      for value in taken { tally.add(value, isTaken: true, isSummed: true) }
      return tally.sum
    }
    func decimal(_ text: String) -> Value { .decimal(Decimal(text.utf8)!) }
    func expect(_ found: Value, _ wanted: Value) { #expect(found.isIdentical(to: wanted), "\(found), not \(wanted)") }
    let greatest = Value.double(.greatestFiniteMagnitude), least = Value.double(.leastNonzeroMagnitude)
    expect(sum([greatest, greatest]), .double(.infinity))
    expect(sum([greatest, greatest], without: [greatest]), greatest)
    expect(sum([greatest, least], without: [greatest]), least)
    expect(sum([.double(1e16), .double(1), .double(1)]), .double(1e16 + 2))
    expect(sum([.double(1e16), .double(1)]), .double(1e16))
    expect(sum([.double(-1e16), .double(-1), least]), .double(-1e16))
    expect(sum([.integer(.max), .double(0.5)], without: [.integer(.max)]), .double(0.5))
    expect(sum([.integer(.max), .integer(1)]), .double(9_223_372_036_854_775_808))
    expect(sum([.integer(.min), .integer(.min)], without: [.integer(.min)]), .integer(.min))
    expect(sum([.integer(3), .boolean(true), .boolean(false), .nil]), .integer(4))
    expect(sum([.double(.infinity), .double(-.infinity)]), .double(.nan))
    expect(sum([.double(.infinity), .double(.nan), .double(2)], without: [.double(.nan)]), .double(.infinity))
    expect(sum([.float(0.1)]), .double(Double(Float(0.1))))
    expect(sum([decimal("0.1"), decimal("0.2")]), decimal("0.3"))
    expect(sum([decimal("0.1"), .integer(-2)]), decimal("-1.9"))
    expect(sum([decimal("1e100"), decimal("1e-100")]), .double(1e100))
    expect(sum([decimal("1e100"), decimal("1e-100")], without: [decimal("1e100")]), decimal("1e-100"))
    expect(
      sum([decimal("-99999999999999999999999999999999999999"), decimal("1")]),
      decimal("-99999999999999999999999999999999999998"))
    expect(sum([decimal("0.25"), .double(0.5)]), .double(0.75))
    expect(sum([decimal("5")], without: [decimal("5")]), .integer(0))
  }

  /// A controller of books by author, and what it is told of aggregates.
  private final class Notes: ResultsDelegate {
    var told: [String] = []
    let hasIndexTitles = false
    func indexTitle(ofSection name: Text, in results: ResultsController) -> Text? { nil }
    func willChange(_ results: ResultsController) { told.append("will") }
    func didChangeSection(_ change: SectionChange, in results: ResultsController) { told.append("section") }
    func didChangeObject(_ object: ManagedObject, _ change: Change, in results: ResultsController) {
      told.append("\(change.kind)")
    }
    func didChangeAggregates(_ changes: [AggregateChange], in results: ResultsController) {
      told += changes.map { "\($0.section) \($0.name) \($0.value.sectionName)" }
    }
    func didChange(_ results: ResultsController) { told.append("did") }
    func didReport(_ changes: ChangeSet, in results: ResultsController) {}
    func take() -> [String] {
      defer { told = [] }
      return told
    }
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  @Test("What only aggregates are made of is told by them, and where they stay as they are by nobody")
  func aggregatesOfRelatedObjects() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let author = try context.insert(entityNamed: "Person")
    try set(author, "age", .integer(40))
    let other = try context.insert(entityNamed: "Person")
    try set(other, "age", .integer(10))
    for owner in [author, other] {
      let book = try context.insert(entityNamed: "Book")
      try set(book, "author", .object(owner.reference))
    }
    try context.save()
    let controller = try ResultsController(
      context: context, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: true)
    try controller.calculate("oldest", Expression.parse("max:(author.age)"))
    try controller.performFetch()
    let notes = Notes()
    controller.delegate = notes
    try set(other, "age", .integer(20))
    try context.process()
    #expect(notes.take() == [])
    try set(other, "age", .integer(50))
    try context.process()
    #expect(notes.take() == ["will", "-1 oldest 50", "0 oldest 50", "did"])
    #expect(try controller.nextChanges()?.aggregateChanges.count == 2)
    #expect(try controller.aggregate("oldest", of: 0).value.isIdentical(to: .integer(50)))
    try context.delete(other)
    try context.process()
    #expect(notes.take() == ["will", "update", "-1 oldest 40", "0 oldest 40", "did"])
  }

  @Test("What cannot be an aggregate of these rows is refused by name")
  func refusals() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let controller = try ResultsController(
      context: context, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: false)
    func refused(_ format: String, as name: String = "x") -> Failure.Kind? {
      do throws(Failure) {
        try controller.calculate(name, Expression.parse(Text(format)))
        return nil
      } catch { return error.kind }
    }
    #expect(refused("price") == .invalidArgument)
    #expect(refused("5 + 5") == .invalidArgument)
    #expect(refused("sum:(price) + price") == .invalidArgument)
    #expect(refused("sum:(tags)") == .invalidArgument)
    #expect(refused("max:(tags.word)") == .invalidArgument)
    #expect(refused("sum:(pages)") == .invalidArgument)
    #expect(refused("sum:(random())") == .invalidArgument)
    #expect(refused("sum:(title)") == .invalidPredicate)
    #expect(refused("average:(author)") == .invalidPredicate)
    #expect(refused("max:(author)") == .invalidPredicate)
    #expect(refused("median:(price)") == .unsupported)
    #expect(refused("sum:(nothing:(price))") == .unsupported)
    #expect(refused("sum:(price)", as: "") == .invalidArgument)
    #expect(refused("max:({sum:(price), 5})") == nil)
    #expect(refused("sum:(price)") == .invalidArgument)
    #expect(refused("sum:(TERNARY(price > 2, title, 3))", as: "mixed") == nil)
    let book = try context.insert(entityNamed: "Book")
    try set(book, "price", .double(3))
    try set(book, "title", .text("three"))
    try controller.performFetch()
    // One row with a text is no reason to lose the list.
    #expect(throws: Failure.self) { try controller.aggregate("mixed", of: nil) }
    try set(book, "price", .double(1))
    try context.process()
    #expect(try controller.aggregate("mixed", of: nil).value.isIdentical(to: .integer(3)))
    #expect(try controller.aggregate("x", of: 0).value.isIdentical(to: .integer(5)))
    #expect(refused("sum:(price)", as: "late") == .invalidState)
    #expect(throws: Failure.self) { try controller.aggregate("mixed", of: 1) }
    #expect(throws: Failure.self) { try controller.aggregate("unknown", of: 0) }
  }
}
