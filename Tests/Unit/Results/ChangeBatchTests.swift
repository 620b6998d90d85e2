import Synchronization
import Testing

@testable import QuireCore

/// What controllers look at of a batch of changes, and what they look at once for all.
@Suite("Changes that several controllers follow")
struct ChangeBatchTests {
  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func book(_ title: String, _ price: Double = 0) throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try set(book, "title", .text(Text(title)))
    try set(book, "price", .double(price))
    return book
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func list(_ format: String, by key: String, in context: Context? = nil) throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse(Text(format))
    request.sort = [SortDescriptor(keyPath: key.split(separator: "." as Character).map(String.init))]
    let list = try ResultsController(
      context: context ?? self.context, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.performFetch()
    return list
  }

  private func titles(_ list: ResultsController) throws -> [String] {
    try (0..<list.count).map { row in
      guard case .text(let text) = try list.object(section: 0, row: row).value(forKey: "title") else { return "" }
      return text.string
    }
  }

  @Test("A predicate is asked again only when a property changed that it reads, unless its answer is any time another")
  func onlyWhatIsRead() throws {
    for isDeterministic in [true, false] {
      let calls = Atomic(0)
      let function = RegisteredFunction(
        name: "counted", isDeterministic: isDeterministic,
        .callback(argumentCount: 1) { (_) throws(Failure) in
          calls.add(1, ordering: .relaxed)
          return .boolean(true)
        })
      try FunctionRegistry.register(function)
      defer { try? FunctionRegistry.unregister("counted") }
      let book = try book("a")
      try context.save()
      let list = try list("counted(title) == YES", by: "title")
      let before = calls.load(ordering: .relaxed)
      try set(book, "price", .double(1))
      try context.process()
      #expect((calls.load(ordering: .relaxed) == before) == isDeterministic)
      // It is an update all the same.
      #expect(try list.nextChanges()?.changes.map(\.kind) == [.update])
      try set(book, "title", .text("b"))
      try context.process()
      #expect(calls.load(ordering: .relaxed) > before)
    }
  }

  @Test(arguments: [true, false])
  func aRowThatOthersChangedTwiceTakesItsPlaceHoweverMuchOfThatWasSeen(isMerged: Bool) throws {
    let books = [try book("a"), try book("b")]
    try context.save()
    let mine = Context(store: library.store)
    let list = try list("TRUEPREDICATE", by: "title", in: mine)
    try set(books[0], "title", .text("c"))
    try context.save()
    // Where it is merged between the two, the second merge finds the price alone changed.
    if isMerged { try mine.merge() }
    let seen = try mine.existingObject(entityNamed: "Book", id: books[0].id)
    #expect(try seen.value(forKey: "title").isIdentical(to: .text(isMerged ? "c" : "a")))
    try set(books[0], "price", .double(1))
    try context.save()
    try mine.merge()
    try mine.process()
    #expect(try titles(list) == ["b", "c"])
    #expect(try list.nextChanges()?.changes.map(\.kind) == [.move])
    #expect(try list.nextChanges()?.changes.map(\.kind) == (isMerged ? [.update] : nil))
  }

  @Test func aRowThatIsNewToAListEntersItWhateverIsToldOfItFirst() throws {
    let mine = Context(store: library.store)
    let list = try list("TRUEPREDICATE", by: "title", in: mine)
    // Inserted, and then given members: to a merge of both it is a row that changed.
    let tagged = try book("a")
    try context.save()
    try tagged.add(context.insert(entityNamed: "Tag"), to: library.relationship("Book", "tags"))
    try context.save()
    try mine.merge()
    #expect(try titles(list) == ["a"])
    // A child reads and changes it before its parent has told of the insertion.
    let child = Context(parent: context)
    let below = try self.list("TRUEPREDICATE", by: "title", in: child)
    let untold = try book("b")
    try set(child.existingObject(entityNamed: "Book", id: untold.id), "price", .double(1))
    try child.process()
    #expect(try titles(below) == ["a", "b"])
    // A context on the store does not find it before the merge.
    try context.save()
    #expect(failure { _ = try mine.existingObject(entityNamed: "Book", id: untold.id) }?.kind == .notFound)
    try mine.merge()
    #expect(try titles(list) == ["a", "b"])
  }

  @Test("Rows behind a related object are looked up once, however many lists depend on it")
  func relatedOnce() throws {
    let author = try context.insert(entityNamed: "Author")
    for title in ["a", "b"] { try set(book(title), "author", .object(author.reference)) }
    try context.save()
    func statements(_ lists: Int, _ name: String) throws -> Int {
      let lists = try (0..<lists).map { try list("price < \($0 + 1)", by: "author.name") }
      try set(author, "name", .text(Text(name)))
      let before = try context.statementCount()
      try context.process()
      for list in lists { #expect(list.checkedReport(2)) }
      return try context.statementCount() - before
    }
    let one = try statements(1, "x")
    #expect(try one > 0 && statements(10, "y") == one)
  }
}

extension ResultsController {
  /// Whether the one change set that waits has so many moves and updates.
  fileprivate func checkedReport(_ count: Int) -> Bool {
    guard let report = try? nextChanges() else { return false }
    return report.changes.count == count && report.changes.allSatisfy { $0.kind == .move || $0.kind == .update }
  }
}
