import Testing

@testable import QuireCore

@Suite("Snapshots of live lists")
struct ListSnapshotTests {
  /// A snapshot with what it must go on to show.
  private struct Kept {
    let snapshot: ListSnapshot
    let names: [String]
    let lists: [[Int64]]
    /// Reports of the probe before it.
    let reportCount: Int

    init(_ probe: ControllerProbe, _ shop: Bookshop) throws {
      snapshot = try probe.controller.snapshot()
      names = probe.wanted(shop).map(\.name)
      lists = ControllerProbe.lists(probe.controller)
      reportCount = probe.reports.count
    }

    func check() throws {
      let found = snapshot.sections.map { snapshot.ids(in: $0.start..<$0.start + $0.count) }
      try #require(found == lists && snapshot.sections.map(\.key.name.string) == names)
      for (place, id) in lists.joined().enumerated() { try #require(snapshot.place(of: id) == place) }
      var place = 0
      for (section, ids) in lists.enumerated() {
        for _ in ids {
          try #require(snapshot.sectionIndex(containingFlat: place) == section)
          place += 1
        }
      }
      try #require(snapshot.count == place && snapshot.sectionIndex(containingFlat: place) == nil)
    }
  }

  @Test("They stay what they were, and the changes between any two replay", arguments: Dice.seeds(3))
  func histories(seed: UInt64) throws {
    print("snapshots: seed \(seed)")
    let shop = try Bookshop(seed: seed)
    let probes = try ResultsControllerTests.probes(shop)
    var kept = try probes.map { [try Kept($0, shop)] }
    for round in 0..<60 {
      for _ in 0..<(1 + shop.dice.roll(4)) { try shop.change() }
      if shop.dice.chance(1, of: 3) { try shop.save() } else { try shop.context.process() }
      for (number, probe) in probes.enumerated() {
        if shop.dice.chance(1, of: 12) { try probe.changeQuery(shop) }
        if shop.dice.chance(1, of: 4) { kept[number].append(try Kept(probe, shop)) }
        guard let some = shop.dice.pick(kept[number]) else { continue }
        try compare(some, try Kept(probe, shop), probe, "round \(round) of seed \(seed)")
        try compare(try Kept(probe, shop), some, probe, "backwards, round \(round) of seed \(seed)")
      }
    }
    for kept in kept.joined() { try kept.check() }
  }

  private func compare(_ one: Kept, _ other: Kept, _ probe: ControllerProbe, _ moment: String) throws {
    let set = ChangeSet.between(one.snapshot, other.snapshot)
    let classic = Replay.classic(set, on: one.lists), linear = Replay.linear(set.steps, on: one.lists)
    try #require(classic == other.lists && linear == other.lists, "\(moment)")
    let areEqual = one.lists == other.lists && one.snapshot.sections == other.snapshot.sections
    try #require(one.snapshot.isEqual(to: other.snapshot) == areEqual, "\(moment)")
    // Of rows that stayed in place, those that the list reported meanwhile.
    let between = min(one.reportCount, other.reportCount)..<max(one.reportCount, other.reportCount)
    let told = Set(probe.reports[between].flatMap(\.changes).filter { $0.kind != .delete }.map(\.id))
    let moved = Set(set.changes.filter { $0.kind != .update }.map(\.id))
    let expected = told.intersection(one.lists.joined()).intersection(other.lists.joined()).subtracting(moved)
    try #require(Set(set.changes.filter { $0.kind == .update }.map(\.id)) == expected, "\(moment)")
  }

  private let library: LibraryFixture
  private let context: Context
  private let results: ResultsController

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    results = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: false)
  }

  @discardableResult
  private func book(_ title: String) throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try book.set(.text(title), for: book.entity.property(named: "title"))
    return book
  }

  @Test func thereIsNoneBeforeTheFetch() throws {
    #expect(failure(of: { _ = try results.snapshot() })?.kind == .invalidState)
  }

  @Test func itIsTheSameAsLongAsNothingChanges() throws {
    try results.performFetch()
    let first = try results.snapshot()
    #expect(try results.snapshot() === first)
    try book("a")
    try context.process()
    #expect(try results.snapshot() !== first && first.count == 0)
  }

  @Test func objectsThatAreSavedAreTheSameRows() throws {
    try results.performFetch()
    let first = try results.snapshot()
    let made = try library.store.withoutReservedIDs { () throws(Failure) in try context.insert(entityNamed: "Book") }
    try made.set(.text("b"), for: made.entity.property(named: "title"))
    try context.process()
    let unsaved = try results.snapshot()
    #expect(unsaved.ids(in: 0..<9) == [-1])
    try context.save()
    let saved = try results.snapshot()
    #expect(saved.ids(in: 0..<9) == [1])
    #expect(ChangeSet.between(unsaved, saved).isEmpty && ChangeSet.between(saved, unsaved).isEmpty)
    #expect(ChangeSet.between(first, saved).changes.map(\.id) == [1])
    try made.set(.double(2), for: made.entity.property(named: "price"))
    try context.process()
    let changed = try results.snapshot()
    #expect(ChangeSet.between(unsaved, changed).changes.map(\.kind) == [.update])
    #expect(ChangeSet.between(changed, unsaved).changes.map(\.id) == [-1])
    // A fetch leaves no record of the rows that were shown before.
    try results.performFetch()
    #expect(try ChangeSet.between(saved, results.snapshot()).isEmpty)
  }

  @Test func itIsReadByAnyThreadWhileTheListChanges() async throws {
    for number in 0..<2000 { try book("\(number)") }
    try results.performFetch()
    let snapshot = try results.snapshot()
    let ids = snapshot.ids(in: 0..<2000)
    let readers = (0..<4).map { reader in
      Task.detached {
        (0..<2000).allSatisfy { snapshot.place(of: ids[($0 + reader * 500) % 2000]) == ($0 + reader * 500) % 2000 }
      }
    }
    for id in ids where id % 3 == 0 { try context.delete(context.existingObject(entityNamed: "Book", id: id)) }
    try context.process()
    for reader in readers { #expect(await reader.value) }
    #expect(snapshot.ids(in: 0..<2000) == ids && results.count < 2000)
  }

  @Test func aLongHistoryIsLetGoOf() throws {
    try results.performFetch()
    let book = try book("a")
    try context.process()
    var first: ListSnapshot? = try results.snapshot()
    weak let moment = first?.moment
    for number in 0..<100_000 {
      if number % 1000 == 0 {
        try book.set(.double(Double(number + 1)), for: book.entity.property(named: "price"))
        try context.process()
      }
      results.note(renamed: [:])
    }
    #expect(try ChangeSet.between(try #require(first), results.snapshot()).changes.map(\.kind) == [.update])
    first = nil
    #expect(moment == nil)
  }
}
