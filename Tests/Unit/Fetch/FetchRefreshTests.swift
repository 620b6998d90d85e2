import Testing

@testable import QuireCore

@Suite("Refreshing objects that were fetched before")
struct FetchRefreshTests {
  private let library: LibraryFixture
  private let here: Context
  private let there: Context
  private let book: ManagedObject
  private let same: ManagedObject

  init() throws {
    library = try LibraryFixture()
    here = Context(store: library.store)
    book = try here.insert(entityNamed: "Book")
    try book.set(.text("old"), for: book.entity.property(named: "title"))
    try book.set(.double(1), for: book.entity.property(named: "price"))
    try here.save()
    there = Context(store: library.store)
    same = try there.existingObject(entityNamed: "Book", id: book.id)
  }

  private func write(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func refetch(_ format: String = "TRUEPREDICATE", batchSize: Int = 0) throws -> ObjectList {
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse(Text(format), arguments: [])
    request.shouldRefreshRefetchedObjects = true
    request.batchSize = batchSize
    return try here.fetch(request)
  }

  private func shown(_ key: String) throws -> String { "\(try book.value(forKey: key))" }

  @Test func anObjectWithoutChangesTakesWhatIsStored() throws {
    try write(same, "title", .text("new"))
    try there.save()
    _ = try here.fetch(FetchRequest(entityName: "Book"))
    #expect(try book.value(forKey: "title").isIdentical(to: .text("old")))
    for batchSize in [0, 3] {
      try write(same, "title", .text(Text("new \(batchSize)")))
      try there.save()
      #expect(try refetch(batchSize: batchSize).object(at: 0) === book)
      #expect(try book.value(forKey: "title").isIdentical(to: .text(Text("new \(batchSize)"))))
    }
    #expect(!here.hasChanges)
    try write(book, "title", .text("newest"))
    try here.save()
    #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == ["newest"])
  }

  @Test func changesOfDifferentPropertiesAreBothSaved() throws {
    try write(book, "price", .double(7))
    try write(same, "title", .text("new"))
    try there.save()
    // The pending object is found by what it has now.
    #expect(try refetch("title == 'new' AND price == 7").count == 1)
    #expect(try book.value(forKey: "title").isIdentical(to: .text("new")))
    #expect(try book.value(forKey: "price").isIdentical(to: .double(7)))
    #expect(book.isUpdated)
    try here.save()
    #expect(try library.sql("SELECT ZTITLE, ZPRICE FROM ZBOOK") == ["new|7.0"])
  }

  @Test func ofChangesOfOnePropertyThatOfThisContextIsTheLaterOne() throws {
    try write(book, "title", .text("mine"))
    try write(same, "title", .text("theirs"))
    try write(same, "price", .double(9))
    try there.save()
    _ = try refetch()
    #expect(try book.value(forKey: "title").isIdentical(to: .text("mine")))
    #expect(try book.value(forKey: "price").isIdentical(to: .double(9)))
    try here.save()
    #expect(try library.sql("SELECT ZTITLE, ZPRICE FROM ZBOOK") == ["mine|9.0"])
  }

  @Test func theSameChangeOnBothSidesIsNoChangeAnyMore() throws {
    try write(book, "title", .text("new"))
    try write(same, "title", .text("new"))
    try there.save()
    _ = try refetch()
    #expect(!here.hasChanges)
  }

  @Test func controllersHearOfItWithTheFetch() throws {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    let results = try ResultsController(
      context: here, request: request, sectionKeyPath: "title", queuesChanges: true)
    try results.performFetch()
    try write(same, "title", .text("new"))
    try there.save()
    _ = try refetch()
    #expect(try results.section(at: 0).name == "new")
  }

  @Test func membersFollowTheSideThatWasRefetched() throws {
    let shelves = try (0..<2).map { _ in try here.insert(entityNamed: "Shelf") }
    try write(book, "shelf", .object(shelves[0].reference))
    try here.save()
    let books = try #require(try shelves[0].entity.property(named: "books") as? Relationship)
    #expect(try shelves.map { try $0.objects(of: books).count } == [1, 0])
    let fresh = Context(store: library.store)
    let again = try fresh.existingObject(entityNamed: "Book", id: book.id)
    let other = try fresh.existingObject(entityNamed: "Shelf", id: shelves[1].id)
    try write(again, "shelf", .object(other.reference))
    try fresh.save()
    _ = try refetch()
    #expect(try shelves.map { try $0.objects(of: books).count } == [0, 1])
  }
}
