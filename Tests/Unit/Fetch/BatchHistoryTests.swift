import Testing

@testable import QuireCore

@Suite("Batch requests: random histories")
struct BatchHistoryTests {
  @Test(
    "Contexts and controllers take over what batch requests do, below what is pending",
    arguments: Dice.seeds(4) + [8_989_644_627_084_686_437, 2_749_582_993_340_895_373])
  func histories(seed: UInt64) throws {
    print("batch history: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    let probes = try ResultsControllerTests.probes(shop)
    for round in 0..<120 {
      let moment = "round \(round) of seed \(seed)"
      for _ in 0..<shop.dice.roll(4) { try shop.change() }
      switch shop.dice.roll(8) {
      case 0, 1: try ResultsControllerTests.assigningIDs(shop, probes) { try shop.save() }
      case 2: try shop.rollback()
      case 3: try shop.batchDelete()
      case 4: try shop.batchInsert()
      default: try shop.batchUpdate()
      }
      try shop.context.process()
      for probe in probes { try probe.check(shop, moment) }
      if shop.dice.chance(1, of: 6) { shop.forget() }
      try checkSaved(shop, moment)
    }
    // Nothing that a batch request did is in conflict with what is pending.
    try ResultsControllerTests.assigningIDs(shop, probes) { try shop.save() }
    for probe in probes { try probe.check(shop, "the end of seed \(seed)") }
  }

  /// What another context reads is what the structs call saved.
  private func checkSaved(_ shop: Bookshop, _ moment: String) throws {
    let other = Context(store: shop.library.store)
    let books = try other.fetch(FetchRequest(entityName: "Book"))
    try #require(books.count == shop.saved.books.count, "\(moment)")
    for (number, book) in shop.saved.books {
      let object = try other.existingObject(entityNamed: "Book", id: shop.id(number))
      try #require(object.value(forKey: "title").isIdentical(to: shop.value(book.title)), "title, \(moment)")
      try #require(object.value(forKey: "price").number?.double == book.price, "price, \(moment)")
      var author: Int64?
      if case .object(let box) = try object.value(forKey: "author") { author = box.reference.id }
      try #require(author == book.author.map(shop.id), "author, \(moment)")
    }
    try #require(try other.count(FetchRequest(entityName: "Person")) == shop.saved.persons.count, "\(moment)")
    for (number, person) in shop.saved.persons {
      let object = try other.existingObject(entityNamed: "Person", id: shop.id(number))
      var passport: Int64?
      if case .object(let box) = try object.value(forKey: "passport") { passport = box.reference.id }
      try #require(passport == person.passport.map(shop.id), "passport, \(moment)")
    }
  }
}
