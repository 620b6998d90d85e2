import Testing

@testable import QuireCore

@Suite("Fetches with pending changes")
struct FetchOverlayTests {
  @Test("Every fetch gives what filtering and sorting all objects gives", arguments: Dice.seeds(3))
  func fetches(seed: UInt64) throws { try check(Bookshop(seed: seed), seed) }

  @Test("So it does where parents have changes too", arguments: Dice.seeds(1), [1, 2])
  func fetchesOfChildren(seed: UInt64, levels: Int) throws { try check(Bookshop(seed: seed, levels: levels), seed) }

  private func check(_ shop: Bookshop, _ seed: UInt64) throws {
    print("fetch history: seed \(seed)")
    for round in 0..<250 {
      for _ in 0..<shop.dice.roll(6) { try shop.change() }
      switch shop.dice.roll(12) {
      case 0: try shop.save()
      case 1: try shop.rollback()
      case 2: try shop.obtainPermanentIDs()
      case 3: shop.forget()
      default: break
      }
      for _ in 0..<3 { try check(shop, BookshopQuery(&shop.dice), "round \(round) of seed \(seed)") }
    }
  }

  private func check(_ shop: Bookshop, _ query: BookshopQuery, _ moment: String) throws {
    let request = try query.request()
    request.includesPendingChanges = shop.dice.chance(4, of: 5)
    if shop.dice.chance(1, of: 2) { request.limit = shop.dice.roll(8) }
    if shop.dice.chance(1, of: 2) { request.offset = shop.dice.pick([0, 1, 3, 200, Int.max]) ?? 0 }
    request.batchSize = shop.dice.pick([0, 0, 1, 2, 3, 100]) ?? 0
    let window = "\(request.offset)+\(request.limit.map(String.init) ?? "all")"
    let what = "\(query.entity) where \(query.format) by \(query.sort), \(window), \(moment)"

    let facts = request.includesPendingChanges ? shop.now : shop.saved
    var wanted = query.result(facts, shop)
    wanted = Array(wanted.dropFirst(request.offset))
    if let limit = request.limit { wanted = Array(wanted.prefix(limit)) }
    let ids = wanted.map(shop.id)

    let list = try shop.context.fetch(request)
    try #require((0..<list.count).map(list.id) == ids, "\(what)")
    for place in shop.dice.shuffled(Array(ids.indices)) {
      let object = try list.object(at: place)
      try #require(object.id == ids[place], "\(what)")
      if shop.now.all.contains(wanted[place]) { try #require(try object === shop.object(wanted[place]), "\(what)") }
    }
    request.resultType = .ids
    let identifiers = try shop.context.fetch(request)
    try #require((0..<identifiers.count).map(identifiers.id) == ids, "ids, \(what)")
    try #require(try shop.context.count(request) == ids.count, "count, \(what)")
    request.resultType = .count
    let count = try shop.context.fetch(request)
    let page = try count.page(0..<1, keys: [], nulSeparated: false)
    try #require(count.count == 1 && integers(page, 0) == [Int64(ids.count)], "count as a list, \(what)")
    if request.includesPendingChanges, let key = query.sort.first?.key {
      try checkPage(shop, list, wanted, query, key, what)
    }
    try checkDictionaries(shop, query, request, what)
  }

  private func checkPage(
    _ shop: Bookshop, _ list: ObjectList, _ wanted: [Int], _ query: BookshopQuery, _ key: String, _ what: String
  ) throws {
    let page = try list.page(0..<list.count, keys: [key], nulSeparated: false)
    try #require(cells(page.columns[0]) == wanted.map { query.cell(key, of: $0, in: shop.now, shop) }, "page, \(what)")
  }

  /// They know the store alone.
  private func checkDictionaries(_ shop: Bookshop, _ query: BookshopQuery, _ request: FetchRequest, _ what: String)
    throws
  {
    request.resultType = .dictionaries
    var paths = query.sort.map { $0.key.split(separator: ".").map(String.init) }
    if paths.isEmpty { paths = [[query.entity == "Book" ? "title" : "name"]] }
    request.projection.columns = paths.map { Projection.Column(keyPath: $0) }
    var wanted = Array(query.result(shop.stored, shop).dropFirst(request.offset))
    if let limit = request.limit { wanted = Array(wanted.prefix(limit)) }
    let list = try shop.context.fetch(request)
    let page = try list.page(0..<list.count, keys: [], nulSeparated: false)
    try #require(page.rowCount == wanted.count, "dictionaries, \(what)")
    for (column, path) in zip(page.columns, paths) {
      let key = path.joined(separator: ".")
      try #require(
        cells(column) == wanted.map { query.cell(key, of: $0, in: shop.stored, shop) }, "dictionaries, \(key), \(what)")
    }
  }

  private func integers(_ page: Page, _ column: Int) -> [Int64] {
    (0..<page.rowCount).map { page.columns[column].values.load(fromByteOffset: $0 * 8, as: Int64.self) }
  }

  private func cells(_ column: Column) -> [BookshopQuery.Cell] {
    (0..<column.length).map { row in
      if let validity = column.validity, validity[row / 8] >> UInt8(row % 8) & 1 == 0 { return .none }
      switch column.kind {
      case .integer: return .init(column.values.load(fromByteOffset: row * 8, as: Int64.self))
      case .objectID: return .init(id: column.values.load(fromByteOffset: row * 8, as: Int64.self))
      case .double: return .init(column.values.load(fromByteOffset: row * 8, as: Double.self))
      default:
        guard let offsets = column.offsets else { return .none }
        let bytes = UnsafeRawBufferPointer(
          start: column.values + Int(offsets[row]), count: Int(offsets[row + 1] - offsets[row]))
        return .bytes(Array(bytes))
      }
    }
  }

  @Test func theWindowIsCountedOverSavedRowsAndPendingChangesTogether() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    var books: [String: ManagedObject] = [:]
    func put(_ title: String, _ price: Double) throws {
      let book = try books[title] ?? context.insert(entityNamed: "Book")
      books[title] = book
      try book.set(.text(title), for: book.entity.property(named: "title"))
      try book.set(.double(price), for: book.entity.property(named: "price"))
    }
    for (title, price) in [("alpha", 22.0), ("bravo", 25), ("charlie", 10)] { try put(title, price) }
    try context.save()
    for (title, price) in [("alpha", 5.0), ("charlie", 21), ("delta", 30), ("echo", 40)] { try put(title, price) }
    try context.delete(#require(books["bravo"]))
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["price"])]
    request.offset = 1
    request.limit = 2
    let list = try context.fetch(request)
    #expect((0..<list.count).map(list.id) == [3, 4])
    #expect(try list.object(at: 0) === books["charlie"])
    #expect(try list.object(at: 1) === books["delta"])
  }

  @Test func aBookWhoseAuthorAnotherContextDeletedReadsAsOneWithoutAuthor() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let author = try context.insert(entityNamed: "Person")
    let book = try context.insert(entityNamed: "Book")
    try author.set(.text("Ann"), for: author.entity.property(named: "name"))
    try book.set(.object(author.reference), for: book.entity.property(named: "author"))
    try context.save()
    _ = try library.sql("DELETE FROM ZPARTY")

    let other = Context(store: library.store)
    let orphan = try other.existingObject(entityNamed: "Book", id: book.id)
    try orphan.set(.text("changed"), for: orphan.entity.property(named: "title"))
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["author", "name"])]
    request.predicate = try Predicate.parse("author.name == nil")
    #expect(try other.fetch(request).count == 1)
    try other.save()
    #expect(try other.fetch(request).count == 1)
    // Nothing hinders the repair.
    try orphan.set(.nil, for: orphan.entity.property(named: "author"))
    try other.save()
    #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == ["-"])
  }

  @Test func aListKeepsItsObjectsWhenTheirIdsBecomePermanent() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let (first, second) = try library.store.withoutReservedIDs { () throws(Failure) in
      (try context.insert(entityNamed: "Book"), try context.insert(entityNamed: "Book"))
    }
    let request = FetchRequest(entityName: "Book")
    request.batchSize = 1
    let list = try context.fetch(request)
    #expect((0..<2).map(list.id) == [-1, -2])
    try context.save()
    #expect((0..<2).map(list.id) == [1, 2])
    #expect(try list.object(at: 0) === first)
    #expect(try list.object(at: 1) === second)
    #expect(throws: Failure.self) { try list.object(at: 2) }
    #expect(throws: Failure.self) { try list.object(at: -1) }
  }
}
