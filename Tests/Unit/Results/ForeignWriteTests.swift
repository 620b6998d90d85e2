import Testing

@testable import QuireCore

/// What a list makes of rows that another program has changed or deleted. Nothing tells which they are, and the context
/// shows its moment until it moves on.
@Suite("Lists and other programs")
struct ForeignWriteTests {
  private let library: LibraryFixture
  private let list: ResultsController
  private let ids: [Int64]

  init() throws {
    library = try LibraryFixture()
    let context = Context(store: library.store)
    for title in ["a", "b", "c", "d"] {
      let book = try context.insert(entityNamed: "Book")
      try book.set(.text(Text(title)), for: book.entity.property(named: "title"))
    }
    try context.save()
    list = try ForeignWriteTests.list(library.store)
    ids = list.ids(in: 0..<4)
  }

  private static func list(_ store: Store) throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    let list = try ResultsController(
      context: Context(store: store), request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.performFetch()
    return list
  }

  private func run(_ sql: String) throws {
    try library.store.withConnection { connection throws(Failure) in try connection.execute(sql) }
  }

  @Test func aRowThatIsGoneLeavesTheListWithTheMerge() throws {
    try run("DELETE FROM ZBOOK WHERE Z_PK = \(ids[1])")
    let book = try list.object(section: 0, row: 1)
    #expect(try book.value(forKey: "title").isIdentical(to: .text("b")))
    try list.context.process()
    #expect(list.ids(in: 0..<list.count) == ids)
    try list.context.merge()
    #expect(book.isDeleted)
    #expect(list.ids(in: 0..<list.count) == [ids[0], ids[2], ids[3]])
    try run("DELETE FROM ZBOOK WHERE Z_PK IN (\(ids[0]), \(ids[3]))")
    #expect(try list.page(0..<3, keys: ["title"], nulSeparated: false).rowCount == 3)
    try list.context.merge()
    #expect(list.ids(in: 0..<list.count) == [ids[2]])
    #expect(try list.page(0..<1, keys: ["title"], nulSeparated: false).rowCount == 1)
    // What nothing told is told as the difference of the two states, once.
    #expect(try list.nextChanges()?.changes.map(\.id) == [ids[1]])
    #expect(try list.nextChanges()?.changes.map(\.id).sorted() == [ids[0], ids[3]])
    #expect(try list.nextChanges() == nil)
  }

  @Test func aGoneObjectIsTheSameOneWhenItsRowIsThereAgain() throws {
    let book = try list.object(section: 0, row: 1), number = try library.number("Book")
    #expect(try book.value(forKey: "title").isIdentical(to: .text("b")))
    try run("DELETE FROM ZBOOK WHERE Z_PK = \(ids[1])")
    try list.context.merge()
    #expect(book.isDeleted)
    try list.context.merge()
    #expect(book.isDeleted)
    try run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (\(ids[1]), \(number), 7, 'bb')")
    try list.context.merge()
    #expect(try !book.isDeleted && book.value(forKey: "title").isIdentical(to: .text("bb")))
    #expect(try list.object(section: 0, row: 1) === book && list.ids(in: 0..<list.count) == ids)
  }

  @Test func rowsThatCameOrChangedAreToldWithTheMerge() throws {
    try run("UPDATE ZBOOK SET ZTITLE = 'e', Z_OPT = Z_OPT + 1 WHERE Z_PK = \(ids[1])")
    let number = try library.number("Book")
    try run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (77, \(number), 1, 'aa')")
    #expect(list.ids(in: 0..<list.count) == ids)
    try list.context.merge()
    #expect(list.ids(in: 0..<list.count) == [ids[0], 77, ids[2], ids[3], ids[1]])
    let fresh = try ForeignWriteTests.list(library.store)
    #expect(try list.snapshot().isEqual(to: fresh.snapshot()))
    let told = try #require(try list.nextChanges())
    #expect(told.changes.map(\.id).sorted() == [ids[1], 77])
    #expect(try list.nextChanges() == nil)
  }

  @Test func aGoneRowThatWasChangedHereStaysForTheSaveToTell() throws {
    let book = try list.object(section: 0, row: 1)
    try book.set(.text("bb"), for: book.entity.property(named: "title"))
    try run("DELETE FROM ZBOOK WHERE Z_PK = \(ids[1])")
    _ = failure { _ = try list.page(0..<4, keys: ["title"], nulSeparated: false) }
    try list.context.process()
    #expect(list.count == 4 && book.isLive)
    #expect(failure { try list.context.save() }?.kind == .conflict)
  }

  @Test(arguments: [true, false])
  func refreshingAnObjectTellsTheListWhetherOrNotItWasReadBefore(isReadBefore: Bool) throws {
    let context = list.context
    func book() throws -> ManagedObject { try context.existingObject(entityNamed: "Book", id: ids[0]) }
    let early = isReadBefore ? try book() : nil
    try run("UPDATE ZBOOK SET ZTITLE = 'z', Z_OPT = Z_OPT + 1 WHERE Z_PK = \(ids[0])")
    let late = try book()
    #expect(try late.value(forKey: "title").isIdentical(to: .text("a")))
    try context.refresh(late, merges: true)
    try context.process()
    #expect(try late.value(forKey: "title").isIdentical(to: .text("z")))
    #expect(list.ids(in: 0..<4) == [ids[1], ids[2], ids[3], ids[0]])
    withExtendedLifetime(early) {}
  }

  /// SQLite keeps no count of its commits. The program keeps the file from having a log while the store opens it.
  @Test func aFileWithoutALogShowsWhatOthersCommitWithTheNextMerge() throws {
    let folder = try TemporaryFolder(), path = LibraryFixture.path(in: folder)
    let outside = try Connection.opened(path: path, access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
    defer { outside.close() }
    let made = try Store.open(path: path, model: LibraryFixture.makeModel())
    let writer = Context(store: made), book = try writer.insert(entityNamed: "Book")
    try book.set(.text("a"), for: book.entity.property(named: "title"))
    try writer.save()
    try made.close()
    try outside.execute("PRAGMA journal_mode = DELETE")
    try outside.execute("BEGIN")
    _ = try outside.schemaNumber()
    let store = try Store.open(path: path, model: LibraryFixture.makeModel())
    #expect(!store.holdsMoments)
    try outside.execute("COMMIT")
    let list = try ForeignWriteTests.list(store), quiet = try ForeignWriteTests.list(store)
    let shown = try list.object(section: 0, row: 0)
    #expect(try shown.value(forKey: "title").isIdentical(to: .text("a")))
    try outside.execute("UPDATE ZBOOK SET ZTITLE = 'b', Z_OPT = Z_OPT + 1")
    try outside.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT 77, Z_ENT, 1, 'c' FROM ZBOOK")
    try list.context.merge()
    #expect(try list.count == 2 && shown.value(forKey: "title").isIdentical(to: .text("b")))
    #expect(quiet.count == 1)
    try quiet.context.merge()
    #expect(quiet.count == 2 && !list.context.source.hasNews(for: list.context.inbox))
  }
}
