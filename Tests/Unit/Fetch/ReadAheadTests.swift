import Testing

@testable import QuireCore

/// How many statements it takes to look at the objects of a list.
@Suite("Reading ahead of scrolling")
struct ReadAheadTests {
  private let library: LibraryFixture
  private let count = 300

  init() throws {
    library = try LibraryFixture()
    let context = Context(store: library.store)
    let authors = try (0..<7).map { number in
      let author = try context.insert(entityNamed: "Author")
      try author.set(.text(Text("author \(number)")), for: author.entity.property(named: "name"))
      return author
    }
    for number in 0..<count {
      let book = try context.insert(entityNamed: "Book")
      // Sections of unequal length, and ids in another order than titles.
      try book.set(.text(Text("title \(1000 + number * 77 % 300)")), for: book.entity.property(named: "title"))
      try book.set(.double(Double(number % 13 / 3)), for: book.entity.property(named: "price"))
      try book.set(.object(authors[number % 7].reference), for: book.entity.property(named: "author"))
    }
    try context.save()
  }

  private func list(prefetching path: [String]? = nil) throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["price"]), SortDescriptor(keyPath: ["title"])]
    if let path { request.prefetchedKeyPaths = [path] }
    let list = try ResultsController(
      context: Context(store: library.store), request: request, sectionKeyPath: "price", queuesChanges: false)
    try list.performFetch()
    return list
  }

  private func object(_ list: ResultsController, _ place: Int) throws(Failure) -> ManagedObject {
    let section = list.index.sectionIndex(containingFlat: place) ?? -1
    return try list.object(section: section, row: place - list.section(at: section).start)
  }

  /// The objects at these places, one after the other, and how many statements that took.
  private func look(_ list: ResultsController, _ places: some Sequence<Int>) throws -> (ids: [Int64], statements: Int) {
    let before = try list.context.statementCount()
    let ids = try places.map { try object(list, $0).id }
    return (ids, try list.context.statementCount() - before)
  }

  @Test("Objects one after the other take a statement for sixty-five, over the ends of sections, in both directions")
  func bothDirections() throws {
    for places in [Array(0..<count), Array((0..<count).reversed())] {
      let list = try list()
      let (ids, statements) = try look(list, places)
      #expect(ids == places.map { list.ids(in: 0..<count)[$0] })
      #expect(statements == 1 + (count - 1 + 64) / 65)
    }
  }

  @Test("Objects at places that are not beside each other are read alone")
  func elsewhere() throws {
    #expect(try look(list(), stride(from: 0, to: 300, by: 10)).statements == 30)
    #expect(try look(list(), [5, 5, 5]).statements <= 3)
  }

  @Test("What was read ahead is held, and shows what is changed and saved elsewhere")
  func staysUpToDate() throws {
    let list = try list()
    _ = try look(list, 0..<2)
    let next = try object(list, 2).id
    let other = Context(store: library.store)
    let book = try other.existingObject(entityNamed: "Book", id: next)
    try book.set(.text("changed"), for: book.entity.property(named: "title"))
    try other.save()
    try list.context.merge()
    let mine = try list.context.existingObject(entityNamed: "Book", id: next)
    #expect(try mine.value(forKey: "title").isIdentical(to: .text("changed")))
    let (ids, _) = try look(list, 0..<count)
    #expect(ids == list.ids(in: 0..<count))
  }

  @Test("The objects of the last four batches are held, and no more")
  func fourBatches() throws {
    let list = try list()
    _ = try look(list, 0..<count)
    let held = list.ids(in: 0..<count).map { id in
      list.context.registeredObject(ObjectReference(root: list.query.entity.rootNumber, id: id))?.isFault == false
    }
    // The first is read alone, and then those from 1, 66, 131, 196 and 261 on.
    #expect(held == (0..<count).map { $0 >= 66 })
  }

  @Test("What a request prefetches is read with the objects")
  func prefetches() throws {
    let list = try list(prefetching: ["author"])
    let objects = try (0..<50).map { try object(list, $0) }
    let before = try list.context.statementCount()
    let names = try objects.map { try $0.value(atKeyPath: ["author", "name"]) }
    #expect(try list.context.statementCount() == before)
    let plain = try self.list()
    for (place, name) in names.enumerated() {
      #expect(try name.isIdentical(to: object(plain, place).value(atKeyPath: ["author", "name"])))
    }
    let request = FetchRequest(entityName: "Book")
    request.prefetchedKeyPaths = [["title"]]
    #expect(
      failure {
        _ = try ResultsController(
          context: Context(store: library.store), request: request, sectionKeyPath: nil, queuesChanges: false)
      }?.kind == .invalidArgument)
  }

  @Test("A page of what is related takes a statement for each step of its paths, and shows what each object would")
  func pages() throws {
    for isHeld in [false, true] {
      let list = try list()
      let held = isHeld ? try (0..<20).map { try object(list, $0) } : []
      let before = try list.context.statementCount()
      let page = try list.page(0..<50, keys: ["title", "author.name", "author.age"], nulSeparated: false)
      // After a look at twenty the others are read ahead.
      #expect(try list.context.statementCount() - before == (isHeld ? 1 : 2))
      let plain = try self.list()
      let names = try (0..<50).map { try object(plain, $0).value(atKeyPath: ["author", "name"]) }
      let column = page.columns[1], offsets = try #require(column.offsets)
      for (row, name) in names.enumerated() {
        let bytes = UnsafeRawBufferPointer(
          start: column.values + Int(offsets[row]), count: Int(offsets[row + 1] - offsets[row]))
        #expect(name.isIdentical(to: .text(Text(String(decoding: bytes, as: UTF8.self)))))
      }
      withExtendedLifetime(held) {}
    }
  }

  @Test("Rows that another program has deleted stop nobody who scrolls past them")
  func deletedRows() throws {
    let list = try list()
    _ = try look(list, 0..<1)
    let ids = list.ids(in: 0..<count)
    try library.store.withConnection { (connection) throws(Failure) in
      try connection.execute("DELETE FROM ZBOOK WHERE Z_PK IN (\(ids[5]), \(ids[40]))")
    }
    for place in 1..<80 { #expect(try object(list, place).id == ids[place]) }
    try list.context.merge()
    let left = ids.filter { $0 != ids[5] && $0 != ids[40] }
    #expect(try look(list, 0..<80).ids == Array(left.prefix(80)))
  }
}
