import Glibc
import Testing

@testable import QuireCore

/// What a cache makes a list show, against a list that has none, after whatever happened to the store and to the file.
@Suite struct ListCacheFileTests {
  private final class Desk {
    let folder: TemporaryFolder
    let model: Model
    var store: Store
    var context: Context
    let path: Text

    init() throws {
      folder = try TemporaryFolder()
      model = try LibraryFixture.makeModel()
      path = LibraryFixture.path(in: folder)
      store = try Store.open(path: path, model: model)
      context = Context(store: store)
    }

    func reopen() throws {
      try store.close()
      store = try Store.open(path: path, model: model)
      context = Context(store: store)
    }

    func run(_ sql: String) throws {
      let other = try Connection.opened(path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 1000)
      try other.execute(sql)
      other.close()
    }

    func insert(_ title: String, _ price: Double, in context: Context) throws {
      let book = try context.insert(entityNamed: "Book")
      try book.set(.text(title), for: book.entity.property(named: "title"))
      try book.set(.double(price), for: book.entity.property(named: "price"))
    }

    func list(
      _ request: FetchRequest, _ section: String?, cached: Bool, in given: Context? = nil
    ) throws -> (list: ResultsController, reads: Int) {
      let context = given ?? context
      let list = try ResultsController(
        context: context, request: request, sectionKeyPath: section, queuesChanges: false,
        cacheName: cached ? "books" : nil)
      let before = try context.statementCount()
      try list.performFetch()
      return (list, try context.statementCount() - before)
    }

    var cacheFile: String? { folder.names.first { $0.contains("-list-") } }
  }

  private func request(_ kind: Int) throws -> (FetchRequest, section: String?) {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: [kind % 2 == 0 ? "title" : "price"], isAscending: kind % 3 > 0)]
    if kind % 4 == 1 { request.predicate = try Predicate.parse("price > 2") }
    return (request, kind % 2 == 0 ? "title" : kind % 3 == 1 ? "price" : nil)
  }

  private func expectSame(_ left: ResultsController, _ right: ResultsController, _ note: String) throws {
    #expect(left.ids(in: 0..<left.count) == right.ids(in: 0..<right.count), "\(note)")
    #expect(try left.snapshot().isEqual(to: right.snapshot()), "\(note)")
    #expect(left.contents.checkInvariants().isEmpty, "\(note)")
    for id in right.ids(in: 0..<right.count) where left.index.key(of: id) != right.index.key(of: id) {
      Issue.record("\(note): row \(id) has another key")
    }
    for place in 0..<right.sectionCount
    where left.index.section(at: place)?.key.value.isIdentical(
      to: right.index.section(at: place)?.key.value ?? .nil) != true
    {
      Issue.record("\(note): section \(place) has another value")
    }
  }

  @Test(arguments: Dice.seeds(4))
  func aCacheIsNeverWrong(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let desk = try Desk()
    for place in 0..<30 { try desk.insert("t\(place % 4)", Double(place % 3), in: desk.context) }
    try desk.context.save()
    var hits = 0
    var older: [UInt8]?
    for step in 0..<50 {
      let note = "seed \(seed), step \(step)"
      let action = dice.roll(11)
      switch action {
      case 0: try desk.reopen()
      case 1: try desk.run("UPDATE ZBOOK SET ZTITLE = 'x\(dice.roll(4))' WHERE Z_PK = \(1 + dice.roll(30))")
      case 2: try desk.run("DELETE FROM ZBOOK WHERE Z_PK = \(1 + dice.roll(40))")
      case 3: try desk.run("PRAGMA wal_checkpoint(TRUNCATE)")
      case 4:
        try desk.insert("t\(dice.roll(5))", Double(dice.roll(3)), in: desk.context)
        if dice.roll(3) > 0 { try desk.context.save() }
      case 5:
        let other = Context(store: desk.store)
        try desk.insert("t\(dice.roll(5))", Double(dice.roll(3)), in: other)
        try other.save()
      case 6:
        guard let name = desk.cacheFile, var bytes = desk.folder.bytes(name), !bytes.isEmpty else { break }
        for _ in 0...dice.roll(3) { bytes[dice.roll(bytes.count)] ^= UInt8(1 << dice.roll(8)) }
        try desk.folder.write(bytes, to: name)
      case 7:
        guard let name = desk.cacheFile, let bytes = desk.folder.bytes(name) else { break }
        try desk.folder.write(bytes.prefix(dice.roll(bytes.count + 1)), to: name)
      case 8:
        guard let name = desk.cacheFile, let bytes = desk.folder.bytes(name) else { break }
        if let older { try desk.folder.write(older, to: name) }
        older = bytes
      default: break
      }
      let (request, section) = try request(action == 9 ? dice.roll(12) : 0)
      let cached = try desk.list(request, section, cached: true)
      try expectSame(cached.list, desk.list(request, section, cached: false).list, note)
      if cached.reads == 0 { hits += 1 }
      // A context that begins now is perhaps at a later moment, and finds what the other one has left.
      let later = Context(store: desk.store)
      let shown = try desk.list(request, section, cached: true, in: later)
      try expectSame(shown.list, desk.list(request, section, cached: false, in: later).list, "\(note), later")
      if shown.reads == 0 { hits += 1 }
      if dice.chance(1, of: 2) { try desk.context.merge() }
    }
    #expect(hits > 3, "seed \(seed): a cache was used \(hits) times")
  }

  @Test func aCacheIsUsedUntilSomebodyCommits() throws {
    let desk = try Desk()
    for place in 0..<600 { try desk.insert("t\(place % 3)", Double(place), in: desk.context) }
    try desk.context.save()
    try desk.reopen()
    let (request, section) = try request(0)
    #expect(try desk.list(request, section, cached: true).reads > 0)
    #expect(try desk.list(request, section, cached: true).reads == 0)
    try desk.reopen()
    #expect(try desk.list(request, section, cached: true).reads == 0)
    let (other, _) = try self.request(1)
    #expect(try desk.list(other, nil, cached: true).reads > 0)
    #expect(try desk.list(request, section, cached: true).reads > 0)
    try desk.run("UPDATE ZBOOK SET ZPRICE = -1 WHERE Z_PK = 1")
    #expect(try desk.list(request, section, cached: true).reads > 0)
    try CacheFile.deleteAll(of: desk.path)
    #expect(desk.cacheFile == nil)
    // What is pending is laid over.
    let shown = try desk.list(request, section, cached: true).list
    let book = try shown.object(section: 0, row: 1)
    try book.set(.text("t9"), for: book.entity.property(named: "title"))
    let pending = try desk.list(request, section, cached: true).list
    try expectSame(pending, desk.list(request, section, cached: false).list, "with a pending change")
    #expect(pending.index.path(of: book.id)?.flat == 0)
  }

  /// A context that has not moved on shows older rows than those that are in the file now.
  @Test func aListAtAnOlderMomentLeavesNothingForLaterOnes() throws {
    let desk = try Desk()
    for place in 0..<600 { try desk.insert("t\(place % 3)", Double(place), in: desk.context) }
    try desk.context.save()
    let (request, section) = try request(0)
    #expect(try desk.context.count(request) == 600)
    let other = Context(store: desk.store)
    try desk.insert("t1", 1, in: other)
    try other.save()
    let older = try desk.list(request, section, cached: true).list
    #expect(older.count == 600)
    let later = try desk.list(request, section, cached: true, in: Context(store: desk.store)).list
    #expect(later.count == 601)
    // Nor does it take what later ones have left.
    #expect(try desk.list(request, section, cached: true).list.count == 600)
  }

  @Test(arguments: Dice.seeds(3))
  func aListOutOfACacheFollowsChangesAsOneThatWasFetched(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let desk = try Desk()
    for place in 0..<3000 { try desk.insert("t\(place % 700)", Double(place % 5), in: desk.context) }
    try desk.context.save()
    for kind in 0..<4 {
      let (request, section) = try request(kind)
      // The first leaves the file from which the second comes.
      let fetched = try desk.list(request, section, cached: true).list
      let (list, reads) = try desk.list(request, section, cached: true)
      #expect(reads == 0, "seed \(seed), kind \(kind)")
      var kept = [(try list.snapshot(), try fetched.snapshot())]
      for step in 0..<25 {
        let note = "seed \(seed), kind \(kind), step \(step)"
        for _ in 0..<(1 + dice.roll(dice.roll(5) == 0 ? 200 : 4)) {
          if dice.roll(4) == 0 {
            try desk.insert("t\(dice.roll(800))", Double(dice.roll(5)), in: desk.context)
            continue
          }
          let place = dice.roll(list.count)
          let section = try #require(list.index.sectionIndex(containingFlat: place))
          let book = try list.object(section: section, row: place - list.section(at: section).start)
          if book.isDeleted { continue }
          switch dice.roll(3) {
          case 0: try desk.context.delete(book)
          case 1: try book.set(.text("t\(dice.roll(800))"), for: book.entity.property(named: "title"))
          default: try book.set(.double(Double(dice.roll(6))), for: book.entity.property(named: "price"))
          }
        }
        if dice.roll(3) > 0 { try desk.context.save() } else { try desk.context.process() }
        #expect(list.contents.checkInvariants() == [], "\(note)")
        if step % 5 == 4 { try expectSame(list, fetched, note) }
        kept.append((try list.snapshot(), try fetched.snapshot()))
      }
      for (step, (one, other)) in kept.enumerated() {
        #expect(one.isEqual(to: other), "seed \(seed), kind \(kind), snapshot \(step)")
      }
      try desk.context.save()
    }
  }

  @Test func aFolderThatCannotBeWrittenGetsNoCache() throws {
    let desk = try Desk()
    try desk.insert("a", 1, in: desk.context)
    try desk.context.save()
    let (request, section) = try request(0)
    chmod(desk.folder.path, 0o555)
    defer { chmod(desk.folder.path, 0o755) }
    try TemporaryFolder.withOrdinaryRights { () throws in
      #expect(try desk.list(request, section, cached: true).list.count == 1)
      #expect(try desk.list(request, section, cached: true).list.count == 1)
    }
    #expect(desk.cacheFile == nil)
  }
}
