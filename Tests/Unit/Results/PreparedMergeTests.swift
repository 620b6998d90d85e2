import Testing

@testable import QuireCore

/// Merges that are worked out beside their context, next to the same merges on the thread of another context.
@Suite("Merges worked out beside a context")
struct PreparedMergeTests {
  private typealias List = (
    entity: String, predicate: String, sort: [String], section: String?, shown: [[String]]
  )
  private static let lists: [List] = [
    ("Book", "TRUEPREDICATE", ["title"], nil, []),
    ("Book", "price > 3", ["author.name", "title"], nil, [["shelf", "place"]]),
    ("Book", "TRUEPREDICATE", ["title"], "author.name", [["author", "age"], ["tags", "word"]]),
    ("Book", "ANY tags.word BEGINSWITH 'a'", ["price"], nil, []),
    ("Book", "author.age > 4 OR title CONTAINS 'b'", ["title"], "price", []),
    ("Book", "author.books.@count > 2", ["title"], nil, []),
    ("Person", "books.@count > 1", ["name"], "age", [["books", "title"]]),
    ("Party", "name != nil", ["name"], "name", []),
    ("Tag", "SUBQUERY(books, $b, $b.price > 4).@count > 0", ["word"], nil, []),
  ]

  /// A context with lists, and what they have reported.
  private final class Side {
    let context: Context
    var lists: [ResultsController] = []
    var held: [ManagedObject] = []
    private var shown: [[[Int64]]?] = []

    init(_ store: Store, isPrepared: Bool) throws {
      context = Context(store: store)
      context.mergesAutomatically = isPrepared
      for list in PreparedMergeTests.lists {
        let request = FetchRequest(entityName: list.entity)
        request.predicate = try Predicate.parse(Text(list.predicate))
        request.sort = list.sort.map { SortDescriptor(keyPath: $0.split(separator: ".").map(String.init)) }
        let made = try ResultsController(
          context: context, request: request, sectionKeyPath: list.section, queuesChanges: true)
        try made.display(list.shown)
        try made.performFetch()
        lists.append(made)
      }
      shown = lists.map { ControllerProbe.lists($0) }
    }

    func takeReports() throws -> [[ChangeSet]] {
      try lists.map { list in
        var sets: [ChangeSet] = []
        while let set = try list.nextChanges() { sets.append(set) }
        return sets
      }
    }

    /// What was shown when `takeReports` was called before, with what was reported since.
    func replay(_ sets: [ChangeSet], of place: Int) -> [[Int64]]? {
      let replayed = sets.reduce(shown[place]) { shown, set in shown.flatMap { Replay.classic(set, on: $0) } }
      shown[place] = replayed
      return replayed
    }

    /// Waits for what is worked out, and merges that.
    func merge() throws {
      OtherThread.wait { context.preparation?.isUnderWay != true }
      if context.preparation == nil { try context.merge() } else { try context.mergeIfAutomatic() }
      try context.merge()
    }
  }

  /// Changes of a writer.
  private struct Writer {
    let context: Context
    var dice: Dice

    mutating func word() -> Text { Text(["a", "ab", "b", "bc", "c", ""][dice.roll(6)]) }

    mutating func objects(_ entity: String) throws -> [ManagedObject] {
      let list = try context.fetch(FetchRequest(entityName: entity))
      return try (0..<list.count).map { try list.object(at: $0) }
    }

    mutating func set(_ object: ManagedObject) throws {
      let keys: [(String, Value)] =
        switch object.entity.name {
        case "Book": [("title", .text(word())), ("price", .double(Double(dice.roll(7))))]
        case "Person", "Author": [("name", .text(word())), ("age", .integer(Int64(dice.roll(9))))]
        default: [("word", .text(word()))]
        }
      let (key, value) = keys[dice.roll(keys.count)]
      try object.set(dice.chance(1, of: 9) ? .nil : value, for: object.entity.property(named: key))
    }

    mutating func relate(_ book: ManagedObject) throws {
      if dice.chance(1, of: 2) {
        let author = dice.pick(try objects("Person"))
        try book.set(author.map { .object($0.reference) } ?? .nil, for: book.entity.property(named: "author"))
      } else {
        var tags: [ManagedObject] = []
        for tag in try objects("Tag") where dice.chance(1, of: 3) { tags.append(tag) }
        guard let relationship = try book.entity.property(named: "tags") as? Relationship else { return }
        try book.set(tags, for: relationship)
      }
    }

    mutating func change() throws {
      let entity = ["Book", "Book", "Person", "Author", "Tag"][dice.roll(5)]
      switch dice.roll(6) {
      case 0, 1:
        let object = try context.insert(entityNamed: entity)
        try set(object)
        if entity == "Book" { try relate(object) }
      case 2:
        if let object = dice.pick(try objects(entity)) { try context.delete(object) }
      case 3:
        if let object = dice.pick(try objects("Book")) { try relate(object) }
      default:
        if let object = dice.pick(try objects(entity)) { try set(object) }
      }
    }
  }

  /// What reports say, but for which of two rows that change places is the one that moves.
  private struct Told: Equatable {
    var fixed: [Change] = []
    var keys: [Int64: [Text]] = [:]
    var moves = 0

    init(_ sets: [ChangeSet]) {
      for change in sets.flatMap(\.changes) {
        switch change.kind {
        case .insert, .delete: fixed.append(change)
        case .move, .update:
          // A row that has not changed is as good as one that has.
          if !change.keys.isEmpty { keys[change.id] = change.keys }
          if change.kind == .move { moves += 1 }
        }
      }
    }
  }

  @Test("They leave the same lists and reports as merges on the context's thread", arguments: Dice.seeds(6))
  func sameReports(seed: UInt64) throws {
    print("prepared merges: seed \(seed)")
    let library = try LibraryFixture(), store = library.store
    store.fewestRows.store(1, ordering: .relaxed)
    var writer = Writer(context: Context(store: store), dice: Dice(seed: seed))
    for _ in 0..<40 { try writer.change() }
    try writer.context.save()
    let prepared = try Side(store, isPrepared: true), plain = try Side(store, isPrepared: false)
    var dice = Dice(seed: seed &+ 1)
    for round in 0..<150 {
      let moment = "round \(round) of seed \(seed)"
      try touch(prepared, plain, &dice)
      let saves = 1 + dice.roll(3)
      for save in 1...saves {
        // So that all of them are in one merge.
        for _ in 0..<(1 + dice.roll(5)) { try writer.change() }
        store.fewestRows.store(save == saves ? 1 : .max, ordering: .relaxed)
        try writer.context.save()
      }
      try prepared.merge()
      try plain.merge()
      try #require(prepared.context.preparation != nil && plain.context.preparation == nil)
      try compare(prepared, plain, moment)
    }
    #expect((prepared.context.preparation?.fits ?? 0) > 75, "\(prepared.context.preparation?.fits ?? 0)")
  }

  /// Some objects are held, and some have pending changes, in both contexts alike.
  private func touch(_ first: Side, _ second: Side, _ dice: inout Dice) throws {
    let books = first.lists[0].ids(in: 0..<1000).filter { $0 > 0 }
    let chosen = books.filter { _ in dice.chance(1, of: 4) }, edits = dice.chance(1, of: 3)
    let edited = dice.pick(chosen), title = Value.text(Text("b\(dice.roll(9))")), drops = dice.chance(1, of: 3)
    let faults = dice.chance(1, of: 4)
    for side in [first, second] {
      if drops { try side.context.rollback() }
      side.held = try chosen.map { id in
        let object = try side.context.existingObject(entityNamed: "Book", id: id)
        if !faults { _ = try object.value(forKey: "title") }
        return object
      }
      if edits, let object = side.held.first(where: { $0.id == edited }) {
        try object.set(title, for: object.entity.property(named: "title"))
      }
      try side.context.process()
    }
    let reports = try (first.takeReports(), second.takeReports())
    for place in first.lists.indices {
      #expect(first.replay(reports.0[place], of: place) == second.replay(reports.1[place], of: place))
    }
  }

  private func compare(_ first: Side, _ second: Side, _ moment: String) throws {
    let reports = try (first.takeReports(), second.takeReports())
    for place in first.lists.indices {
      let what = "list \(place), \(moment)"
      let (mine, others) = (reports.0[place], reports.1[place])
      try #require(ControllerProbe.lists(first.lists[place]) == ControllerProbe.lists(second.lists[place]), "\(what)")
      try #require(first.lists[place].contents.checkInvariants().isEmpty, "\(what)")
      try #require(first.replay(mine, of: place) == ControllerProbe.lists(first.lists[place]), "\(what)")
      // The thread of the store may have begun before the last save.
      if mine.count == others.count { try #require(Told(mine) == Told(others), "\(what)") }
      try #require(
        mine.flatMap(\.sectionChanges).map(\.index) == others.flatMap(\.sectionChanges).map(\.index), "\(what)")
    }
    for place in second.lists.indices { _ = second.replay(reports.1[place], of: place) }
    for (left, right) in zip(first.held, second.held) {
      try #require(left.state == right.state && left.isUpdated == right.isUpdated, "\(moment)")
    }
  }
}
