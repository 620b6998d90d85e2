import Testing

@testable import QuireCore

@Suite("Results controllers: random histories")
struct ResultsControllerTests {
  static func probes(_ shop: Bookshop) throws -> [ControllerProbe] {
    var probes: [ControllerProbe] = []
    func add(
      _ entity: String, _ filter: Int, _ sort: [(key: String, isAscending: Bool)], section: String?,
      from offset: Int = 0,
      limit: Int? = nil
    ) throws {
      var query = BookshopQuery()
      query.offset = offset
      query.limit = limit
      query.entity = entity
      (query.format, query.holds) = (entity == "Book" ? BookshopQuery.bookFilters : BookshopQuery.personFilters)[filter]
      query.sort = sort
      probes.append(try ControllerProbe(shop, query, section: section))
    }
    try add("Book", 0, [("title", true)], section: "author.name")
    try add("Book", 0, [("author.name", false), ("price", false)], section: "author.name")
    try add("Book", 10, [("price", false)], section: nil)
    try add("Book", 0, [("author", true), ("title", false)], section: "author")
    try add("Book", 0, [("author.passport", false)], section: nil)
    try add("Book", 3, [], section: "price")
    try add("Book", 11, [("author.passport.number", true)], section: nil)
    try add("Book", 0, [("title", false)], section: "author.passport.number")
    try add("Person", 0, [("name", true)], section: "age")
    try add("Author", 3, [("passport.number", false)], section: "name")
    try add("Book", 0, [("title", false)], section: nil, limit: 4)
    try add("Book", 0, [("price", true)], section: "author.name", from: 3, limit: 5)
    try add("Book", 2, [("author", false), ("title", true)], section: "author", from: 2)
    try add("Person", 0, [("age", false), ("name", false)], section: "age", limit: 3)
    for (place, sketch) in SectionSketch.all.enumerated() {
      var query = BookshopQuery()
      query.entity = sketch.entity
      query.sort = sketch.entity == "Book" ? [("title", true), ("price", false)] : [("name", false)]
      if place % 3 == 2 { (query.offset, query.limit) = (2, 6) }
      probes.append(try ControllerProbe(shop, query, sketch: sketch))
    }
    return probes
  }

  @Test("Every controller shows what a plain list shows, and what it reports replays", arguments: Dice.seeds(3))
  func histories(seed: UInt64) throws { try check(Bookshop(seed: seed), seed) }

  @Test("So does every controller of a context with parents", arguments: Dice.seeds(1), [1, 2])
  func historiesOfChildren(seed: UInt64, levels: Int) throws { try check(Bookshop(seed: seed, levels: levels), seed) }

  private func check(_ shop: Bookshop, _ seed: UInt64) throws {
    print("controller history: seed \(seed)")
    var probes = try Self.probes(shop)
    for round in 0..<150 {
      let moment = "round \(round) of seed \(seed)"
      for _ in 0..<(1 + shop.dice.roll(5)) { try shop.change() }
      switch shop.dice.roll(10) {
      case 0, 1: try Self.assigningIDs(shop, probes) { try shop.save() }
      case 2: try shop.rollback()
      case 3: try Self.assigningIDs(shop, probes) { try shop.obtainPermanentIDs() }
      case 4:
        // It reports nothing, and leaves that to the next call that processes changes.
        _ = try shop.context.fetch(FetchRequest(entityName: "Tag"))
        try shop.context.process()
      default: try shop.context.process()
      }
      for probe in probes { try probe.check(shop, moment) }
      for probe in probes {
        if !probe.isSuspended {
          if shop.dice.chance(1, of: 12) { try probe.suspend() }
        } else if shop.dice.chance(1, of: 3) {
          try probe.resume(telling: shop.dice.chance(2, of: 3))
          try probe.check(shop, "\(moment), resumed")
        }
      }
      for probe in probes where shop.dice.chance(1, of: 10) {
        try probe.changeQuery(shop)
        try probe.check(shop, "\(moment), with another query")
      }
      if shop.dice.chance(1, of: 8) { shop.forget() }
      // A new controller knows at once what the old ones were told bit by bit.
      if shop.dice.chance(1, of: 20) { probes = try Self.probes(shop) }
    }
  }

  @Test(
    "Another query is told with as few moves as can be, and of rows that stay nothing else", arguments: Dice.seeds(2))
  func differences(seed: UInt64) throws {
    print("controller differences: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    for _ in 0..<60 { try shop.change() }
    let probes = try Self.probes(shop)
    for round in 0..<60 {
      let probe = probes[shop.dice.roll(probes.count)]
      let before = probe.wanted(shop)
      probe.forgetReports()
      try probe.changeQuery(shop)
      try probe.check(shop, "round \(round) of seed \(seed)")
      let after = probe.wanted(shop)
      // Sections of one name may have been made by other keys.
      try #require(probe.reports.count <= 1)
      if probe.reports.isEmpty { try #require(before.elementsEqual(after) { $0 == $1 }, "\(round) of seed \(seed)") }
      guard let report = probe.reports.first else { continue }
      try #require(!report.changes.contains { $0.kind == .update })
      let stayed = Set(before.flatMap(\.ids)).intersection(after.flatMap(\.ids)).count
      // Sections that are in both lists, as reported; of those, the rows that kept their order.
      let gone = Set(report.sectionChanges.filter { $0.kind == .delete }.map(\.index))
      let come = Set(report.sectionChanges.filter { $0.kind == .insert }.map(\.index))
      let old = before.indices.filter { !gone.contains($0) }, new = after.indices.filter { !come.contains($0) }
      let kept = zip(old, new).reduce(0) { $0 + Self.longestCommonOrder(before[$1.0].ids, after[$1.1].ids) }
      let moves = report.changes.count { $0.kind == .move }
      try #require(moves == stayed - kept, "round \(round) of seed \(seed)")
      if shop.dice.chance(1, of: 10) { try shop.change() }
      try shop.context.process()
    }
  }

  /// The plain table of all pairs.
  static func longestCommonOrder(_ left: [Int64], _ right: [Int64]) -> Int {
    var lengths = [Int](repeating: 0, count: right.count + 1)
    for id in left {
      var diagonal = 0
      for (place, other) in right.enumerated() {
        let above = lengths[place + 1]
        lengths[place + 1] = id == other ? diagonal + 1 : max(above, lengths[place])
        diagonal = above
      }
    }
    return lengths[right.count]
  }

  /// What is pending is delivered first, so that the lists know the temporary ids that become permanent.
  static func assigningIDs(_ shop: Bookshop, _ probes: [ControllerProbe], _ body: () throws -> Void) throws {
    try shop.context.process()
    let watch = IDWatch(probes)
    shop.context.announcer.add(watch)
    try body()
    withExtendedLifetime(watch) {}
  }

  /// Hears of new ids with the controllers, before anything that follows from them.
  private final class IDWatch: ContextObserver {
    func loseTrack() {}
    func tellRest() {}
    func preparation() -> (any PreparedObserver)? { nil }
    func follows(_ entity: Entity) -> Bool { true }
    private let probes: [ControllerProbe]
    init(_ probes: [ControllerProbe]) { self.probes = probes }
    func contextDidChange(_ batch: ChangeBatch) {}
    func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
      var ids: [Int64: [Int: Int64]] = [:]
      for (object, temporary) in objects { ids[temporary, default: [:]][object.entity.rootNumber] = object.id }
      for probe in probes {
        let root = probe.controller.query.entity.rootNumber
        probe.rename(ids.compactMapValues { $0[root] })
      }
    }
  }

  @Test("Only rows that changed are reported, and all of those", arguments: Dice.seeds(1))
  func nothingElseIsReported(seed: UInt64) throws {
    print("controller reports: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    let probes = try Self.probes(shop).filter {
      $0.query.entity == "Book" && $0.query.limit == nil && $0.query.offset == 0
    }
    for round in 0..<200 {
      let before = shop.now
      let rowsBefore = probes.map { Set($0.wanted(shop).flatMap(\.ids)) }
      for _ in 0..<(1 + shop.dice.roll(3)) { try shop.change() }
      for probe in probes { probe.forgetReports() }
      try shop.context.process()
      let after = shop.now
      // Titles and prices concern no other row; a changed author concerns all books.
      let isPlain =
        before.persons == after.persons && before.passports == after.passports
        && before.books.mapValues(\.author) == after.books.mapValues(\.author)
        && shop.touched.isSubset(of: after.books.keys)
      for (probe, rowsBefore) in zip(probes, rowsBefore) where isPlain {
        let reported = Set(probe.reports.flatMap(\.changes).map(\.id))
        let rows = rowsBefore.union(probe.wanted(shop).flatMap(\.ids))
        let changed = Set(after.books.keys.filter { before.books[$0] != after.books[$0] }.map(shop.id)).intersection(
          rows)
        try #require(reported.isSubset(of: shop.touched.map(shop.id)), "round \(round) of seed \(seed)")
        try #require(changed.isSubset(of: reported), "round \(round) of seed \(seed)")
      }
      shop.forgetTouched()
      if round % 7 == 0 { try Self.assigningIDs(shop, probes) { try shop.save() } }
    }
  }
}
