import Testing

@testable import QuireCore

/// Random edits of the same rows in two contexts, of one store or of two on one file; the second saves by a policy. The
/// file must hold what a merge of plain dictionaries makes of it, property by property.
@Suite("Merge policies: random histories")
struct MergeHistoryTests {
  private struct Record: Equatable, CustomStringConvertible {
    var title: String?
    var price: Int?
    var author: Int64?
    var tags: Set<Int64> = []

    var description: String { "\(title ?? "-")|\(price ?? -1)|\(author ?? -1)|\(tags.sorted())" }
  }

  private typealias World = [Int64: Record]

  /// Properties of rows: mine and theirs against what both began with. Pairs of books and tags follow.
  private static func merge(_ base: World, _ theirs: World, _ mine: World, by policy: MergePolicy) -> World {
    let ids = Set(base.keys).union(theirs.keys).union(mine.keys)
    func changes(_ world: World, _ id: Int64) -> Bool { world[id] != base[id] }
    let books = ids.filter { base[$0] != nil && changes(mine, $0) && changes(theirs, $0) }
    let tags = Set(ids.flatMap { id in [base, theirs, mine].flatMap { $0[id]?.tags ?? [] } }).filter { tag in
      func isTouched(_ world: World) -> Bool {
        ids.contains { (world[$0]?.tags.contains(tag) ?? false) != (base[$0]?.tags.contains(tag) ?? false) }
      }
      return isTouched(mine) && isTouched(theirs)
    }
    let keepsMine = policy == .objectWins || policy == .overwrite
    var merged: World = [:]
    for id in ids {
      let conflicts = books.contains(id)
      if mine[id] == nil, base[id] != nil, keepsMine || !conflicts { continue }
      if theirs[id] == nil, base[id] != nil, !keepsMine || !changes(mine, id) { continue }
      guard let began = base[id] else {
        // Tags that are in conflict have their members from one side.
        merged[id] = mine[id] ?? theirs[id]
        if policy == (mine[id] == nil ? .overwrite : .rollback) { merged[id]?.tags.subtract(tags) }
        continue
      }
      guard let here = mine[id] else {
        merged[id] = theirs[id]
        continue
      }
      guard let there = theirs[id] else {
        merged[id] = here
        continue
      }
      func pick<T: Equatable>(_ path: KeyPath<Record, T>) -> T {
        if conflicts, policy == .overwrite { return here[keyPath: path] }
        if conflicts, policy == .rollback { return there[keyPath: path] }
        let wasChangedHere = here[keyPath: path] != began[keyPath: path]
        let wasChangedThere = there[keyPath: path] != began[keyPath: path]
        return wasChangedHere && (policy == .objectWins || !wasChangedThere)
          ? here[keyPath: path] : there[keyPath: path]
      }
      var record = Record(title: pick(\.title), price: pick(\.price), author: pick(\.author))
      for tag in began.tags.union(here.tags).union(there.tags) {
        var isHeld = there.tags.contains(tag)
        let isDisputed = conflicts || tags.contains(tag)
        if isDisputed, policy == .overwrite {
          isHeld = here.tags.contains(tag)
        } else if !(isDisputed && policy == .rollback), here.tags.contains(tag) != began.tags.contains(tag) {
          isHeld = here.tags.contains(tag)
        }
        if isHeld { record.tags.insert(tag) }
      }
      merged[id] = record
    }
    return merged
  }

  private final class History {
    let library: LibraryFixture
    let otherStore: Store
    let policy: MergePolicy
    var dice: Dice
    var truth: World = [:]
    private var people: [Int64] = []
    private var tags: [Int64] = []

    init(seed: UInt64, _ policy: MergePolicy, twoStores: Bool) throws {
      self.policy = policy
      dice = Dice(seed: seed)
      let folder = twoStores ? try TemporaryFolder() : nil
      library = try LibraryFixture(in: folder)
      otherStore =
        try folder.map { try Store.open(path: LibraryFixture.path(in: $0), model: LibraryFixture.makeModel()) }
        ?? library.store
      let context = Context(store: library.store)
      let made = try (0..<4).map { _ in
        (try context.insert(entityNamed: "Person"), try context.insert(entityNamed: "Tag"))
      }
      try context.save()
      people = made.map(\.0.id)
      tags = made.map(\.1.id)
    }

    /// A context that has read everything, with the objects by entity and id.
    struct Desk {
      let context: Context
      var books: [Int64: ManagedObject] = [:]
      var people: [Int64: ManagedObject] = [:]
      var tags: [Int64: ManagedObject] = [:]
      var world: World

      func set(_ book: ManagedObject, _ key: String, _ value: Value) throws {
        try book.set(value, for: book.entity.property(named: key))
      }

      func relation(_ object: ManagedObject, _ key: String) throws -> Relationship {
        try #require(object.entity.property(named: key) as? Relationship)
      }
    }

    private func desk(_ store: Store) throws -> Desk {
      var desk = Desk(context: Context(store: store), world: truth)
      for id in truth.keys.sorted() { desk.books[id] = try desk.context.existingObject(entityNamed: "Book", id: id) }
      for id in people { desk.people[id] = try desk.context.existingObject(entityNamed: "Person", id: id) }
      for id in tags { desk.tags[id] = try desk.context.existingObject(entityNamed: "Tag", id: id) }
      // What is read only when something is deleted is what the store has then, not what both began with.
      for object in Array(desk.tags.values) { _ = try object.objects(of: desk.relation(object, "books")) }
      for book in desk.books.values { _ = try book.objects(of: desk.relation(book, "tags")) }
      for id in people where dice.chance(1, of: 2) {
        if let person = desk.people[id] { _ = try person.objects(of: desk.relation(person, "books")) }
      }
      return desk
    }

    private func edit(_ desk: inout Desk) throws {
      for _ in 0..<(1 + dice.roll(6)) {
        let action = dice.roll(12)
        if action == 0 || desk.books.isEmpty {
          let book = try desk.context.insert(entityNamed: "Book")
          desk.books[book.id] = book
          desk.world[book.id] = Record()
        }
        guard let id = dice.pick(desk.books.keys.sorted()), let book = desk.books[id] else { continue }
        switch action {
        case 1:
          try desk.context.delete(book)
          desk.books[id] = nil
          desk.world[id] = nil
        case 2, 3, 4:
          let title = dice.pick(["a", "b", "c", "d"])
          try desk.set(book, "title", title.map { .text($0) } ?? .nil)
          desk.world[id]?.title = title
        case 5, 6:
          let price = dice.chance(1, of: 4) ? nil : dice.roll(4)
          try desk.set(book, "price", price.map { .double(Double($0)) } ?? .nil)
          desk.world[id]?.price = price
        case 7, 8:
          let author = dice.chance(1, of: 4) ? nil : dice.pick(people)
          try desk.set(book, "author", author.flatMap { desk.people[$0] }.map { .object($0.reference) } ?? .nil)
          desk.world[id]?.author = author
        case 9, 10, 11:
          guard let number = dice.pick(tags), let tag = desk.tags[number] else { continue }
          if dice.chance(1, of: 2) {
            // What comes back comes last, and dictionaries know of no order.
            let isBack = truth[id]?.tags.contains(number) == true && desk.world[id]?.tags.contains(number) == false
            if isBack { continue }
            try book.add(tag, to: desk.relation(book, "tags"))
            desk.world[id]?.tags.insert(number)
          } else {
            try tag.remove(book, from: desk.relation(tag, "books"))
            desk.world[id]?.tags.remove(number)
          }
        default: break
        }
      }
    }

    func round() throws {
      let base = truth
      var theirs = try desk(library.store)
      var mine = try desk(otherStore)
      // One goes on editing after the other.
      try edit(&mine)
      try edit(&theirs)
      if dice.chance(1, of: 3) { try mine.context.process() }
      try theirs.context.save()
      truth = theirs.world
      try check("after the first save")
      mine.context.mergePolicy = policy
      let changed = mine.world.keys.filter { mine.world[$0] != base[$0] }
      try mine.context.save()
      truth = MergeHistoryTests.merge(base, theirs.world, mine.world, by: policy)
      try check("after the second save, of \(base), theirs \(theirs.world) and mine \(mine.world)")
      try #require(!mine.context.hasChanges)
      for id in changed {
        let book = try #require(mine.books[id])
        guard let record = truth[id] else {
          try #require(book.isDeleted)
          continue
        }
        try #require(shown(book, mine) == record, "book \(id) in memory: \(base), \(theirs.world), \(mine.world)")
        for (number, tag) in mine.tags
        where try tag.objects(of: mine.relation(tag, "books")).contains(where: { $0 === book }) {
          try #require(
            record.tags.contains(number), "book \(id) tag \(number): \(base) THEIRS \(theirs.world) MINE \(mine.world)")
        }
      }
    }

    private func shown(_ book: ManagedObject, _ desk: Desk) throws -> Record {
      var record = Record()
      if case .text(let text) = try book.value(forKey: "title") { record.title = text.string }
      if case .double(let price) = try book.value(forKey: "price") { record.price = Int(price) }
      if case .object(let box) = try book.value(forKey: "author") { record.author = box.reference.id }
      record.tags = Set(try book.objects(of: desk.relation(book, "tags")).map(\.id))
      return record
    }

    private func check(_ moment: String) throws {
      let pairs = try library.relationship("Book", "tags")
      var stored: World = [:]
      for row in try library.sql("SELECT Z_PK, ZTITLE, CAST(ZPRICE AS INTEGER), ZAUTHOR FROM ZBOOK") {
        let columns = row.split(separator: "|").map(String.init)
        let id = try #require(Int64(columns[0]))
        stored[id] = Record(
          title: columns[1] == "-" ? nil : columns[1], price: Int(columns[2]), author: Int64(columns[3]),
          tags: Set(try library.store.newest.relatedIDs(pairs, of: id).map(\.id)))
      }
      try #require(stored == truth, "\(moment): \(stored) instead of \(truth)")
      try #require(try library.sql("SELECT Z_PK, count(*) FROM ZBOOK GROUP BY Z_PK HAVING count(*) > 1").isEmpty)
    }
  }

  private static let policies: [MergePolicy] = [.storeWins, .objectWins, .overwrite, .rollback]

  @Test(arguments: policies, [false, true])
  func theFileHoldsWhatThePolicyMakesOfBothSides(_ policy: MergePolicy, _ twoStores: Bool) throws {
    for seed in Dice.seeds(twoStores ? 2 : 12) + [14_625_813_569_643_984_724] {
      do {
        let history = try History(seed: seed, policy, twoStores: twoStores)
        for _ in 0..<40 { try history.round() }
      } catch {
        Issue.record("seed \(seed), \(policy), two stores: \(twoStores): \(error)")
      }
    }
  }
}
