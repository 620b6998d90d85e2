import Testing

@testable import QuireCore

/// Each batch request is ended at one place after another, until it comes to its end. Whatever it had done by then, the
/// file, the objects and the live list are as they were.
@Suite("Cancelling a batch request")
struct BatchCancellationTests {
  private static let bookCount = 600

  private let folder: TemporaryFolder
  private let store: Store
  private let context: Context
  private let model: Model

  init() throws {
    let sketch = ModelSketch()
    try sketch.entity("Author", ["name": .string])
    try sketch.entity("Book", ["code": .string, "price": .double])
    try sketch.entity("Page", ["number": .integer32])
    try sketch.model.addAttribute(
      named: "title", to: "Book", type: .string, isOptional: true, isSearchable: true)
    try sketch.toOne("Book.author", "Author.books")
    try sketch.toMany("Author.books", "Book.author", isOrdered: true)
    try sketch.model.addRelationship(
      {
        Relationship(
          name: "pages", entity: $0, destinationName: "Page", inverseName: "book", isToMany: true, isOptional: true,
          deleteRule: .cascade)
      }, named: "pages", to: "Book")
    try sketch.toOne("Page.book", "Book.pages")
    try sketch.model.addAttribute(
      named: "worth", to: "Author", type: .double, isOptional: true, derivation: "books.price.@sum")
    try sketch.model.addUniquenessConstraint(to: "Book", properties: ["code"])
    model = try sketch.frozen()
    folder = try TemporaryFolder()
    store = try Store.open(path: Text(folder.file("books.sqlite")), model: model)
    context = Context(store: store)
    _ = try context.insertIntoStore(entityNamed: "Author", keys: ["name"], rowCount: 2, merges: false) { _, row in
      .text(Text("author \(row)"))
    }
    _ = try insertBooks(from: 0)
    _ = try context.insertIntoStore(
      entityNamed: "Page", keys: ["number"], rowCount: BatchCancellationTests.bookCount, merges: false
    ) { _, row in .integer(Int64(row)) }
    try store.withConnection { connection throws(Failure) in
      try connection.execute("UPDATE ZPAGE SET ZBOOK = Z_PK")
    }
  }

  private func insertBooks(
    from first: Int, upserts: Bool = false, _ progress: FetchMonitor.Progress? = nil
  ) throws(Failure) -> Int {
    try context.insertIntoStore(
      entityNamed: "Book", keys: ["code", "price", "title"], rowCount: BatchCancellationTests.bookCount, merges: true,
      upserts: upserts, progress: progress
    ) { (column, row) throws(Failure) in
      let number = first + row
      return switch column {
      case 0: .text(Text("code \(number)"))
      case 1: .double(Double(number))
      default: .text(Text("a title of number \(number)"))
      }
    }.count
  }

  /// Every row of every table, virtual ones apart.
  private func contents() throws -> [String] {
    try store.withConnection { connection throws(Failure) in
      func rows(_ sql: String) throws(Failure) -> [String] {
        let statement = try connection.statement(sql)
        var rows: [String] = []
        while try statement.step() {
          rows.append((0..<statement.columnCount).map { statement.text(at: $0)?.string ?? "-" }.joined(separator: "|"))
        }
        return rows
      }
      var contents: [String] = []
      for table in try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
      where table != "Z_METADATA" { contents += try rows("SELECT '\(table)', * FROM \"\(table)\"").sorted() }
      return contents
    }
  }

  private func request(_ entity: String, _ format: String, _ progress: FetchMonitor.Progress) throws -> FetchRequest {
    let request = FetchRequest(entityName: entity)
    request.predicate = try Predicate.parse(Text(format))
    request.progress = progress
    return request
  }

  private func shown(_ results: ResultsController) throws -> [Value] {
    try (0..<results.count).map { try results.object(section: 0, row: $0).value(forKey: "price") }
  }

  /// What `run` is given ends it after some looks; without an end it must succeed and change something.
  private func check(_ run: (FetchMonitor.Progress) throws -> Int) throws {
    let sort = FetchRequest(entityName: "Book")
    sort.sort = [SortDescriptor(keyPath: ["code"])]
    let results = try ResultsController(context: context, request: sort, sectionKeyPath: nil, queuesChanges: false)
    try results.performFetch()
    let pending = try results.object(section: 0, row: 3)
    try pending.set(.double(-1), for: pending.entity.property(named: "price"))
    try context.process()
    let before = try contents(), list = try shown(results).map(\.sectionName)
    var isWhole = false, looks = 1, cancelled = 0
    while !isWhole {
      var left = looks, rows: UInt64 = 0
      let progress = FetchMonitor.Progress(nanoseconds: 0) { count in
        #expect(count >= rows)
        rows = count
        left -= 1
        return left > 0
      }
      var count = 0
      let failed = failure { count = try run(progress) }
      #expect((count > 0) == (failed == nil))
      isWhole = failed == nil
      if let failed {
        cancelled += 1
        try #require(failed.kind == .cancelled, "after \(looks) looks: \(failed)")
        #expect(failed.message.string.contains("Nothing was changed."))
        let after = try contents()
        try #require(after == before, "after \(looks) looks: \(Set(after).symmetricDifference(before).sorted())")
        try #require(try shown(results).map(\.sectionName) == list)
        #expect(pending.isUpdated)
      }
      // Each of the first looks, and then some of the others.
      looks += looks < 20 ? 1 : looks / 5
    }
    #expect(cancelled > 20)
    #expect(try contents() != before)
    let fresh = try Context(store: store).fetch(sort)
    #expect(results.count == fresh.count)
  }

  @Test func updates() throws {
    let text = FormatArgument.value(.text("another title"))
    try check { try context.update(request("Book", "price >= 0", $0), [("title", text)], merges: true).count }
  }

  @Test func updatesByExpressions() throws {
    let expression = FormatArgument.expression(try Expression.parse("price + 1"))
    try check { try context.update(request("Book", "price >= 0", $0), [("price", expression)], merges: true).count }
  }

  @Test func updatesOfRelationships() throws {
    let author = ObjectReference(root: try model.entity(named: "Author").rootNumber, id: 2)
    let value = FormatArgument.value(.object(author))
    try check { try context.update(request("Book", "price >= 0", $0), [("author", value)], merges: true).count }
  }

  @Test func deletions() throws {
    try check { try context.delete(request("Book", "price < 400", $0), merges: true).count }
    #expect(try context.count(FetchRequest(entityName: "Page")) == 200)
  }

  @Test func insertions() throws {
    try check { try insertBooks(from: BatchCancellationTests.bookCount, $0) }
  }

  @Test func upserts() throws {
    try check { try insertBooks(from: BatchCancellationTests.bookCount / 2, upserts: true, $0) }
  }

  @Test func waitingForAnotherWriterIsEndedToo() throws {
    let stranger = try ForeignProgram(folder.file("books.sqlite"))
    _ = try stranger.run("BEGIN IMMEDIATE")
    var looks = 0
    let progress = FetchMonitor.Progress(nanoseconds: 0) { _ in
      looks += 1
      return looks < 5
    }
    let failed = failure { _ = try context.delete(request("Book", "price < 400", progress), merges: true) }
    #expect(failed?.kind == .cancelled && looks == 5)
    _ = try stranger.run("ROLLBACK")
    let patient = FetchMonitor.Progress(nanoseconds: 0) { _ in true }
    #expect(try context.delete(request("Book", "price < 400", patient), merges: true).count == 400)
  }
}
