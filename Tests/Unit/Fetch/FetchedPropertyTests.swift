import Testing

@testable import QuireCore

@Suite("Fetched properties and transient attributes")
struct FetchedPropertyTests {
  private let store: Store
  private let context: Context

  private static func makeModel(_ extra: (ModelSketch) throws -> Void = { _ in }) throws -> Model {
    let sketch = ModelSketch()
    try sketch.entity("Author", ["name": .string])
    try sketch.entity("Book", ["title": .string, "pages": .integer32])
    try sketch.entity("Novel", parent: "Book")
    try sketch.toOne("Book.author", "Author.books")
    try sketch.toMany("Author.books", "Book.author")
    try sketch.model.addAttribute(named: "draft", to: "Book", type: .undefined, isOptional: true, isTransient: true)
    try add("thicker", "pages > $FETCH_SOURCE.pages AND SELF != $FETCH_SOURCE", to: sketch)
    try add("siblings", "author == $FETCH_SOURCE.author", to: sketch)
    try add(
      "crowded", "author IN $FETCH_SOURCE.author.books.author AND pages > $FETCH_SOURCE.author.books.@count", to: sketch
    )
    try add("named", "title == $FETCHED_PROPERTY", to: sketch)
    try extra(sketch)
    return sketch.model
  }

  private static func add(_ name: String, _ format: Text, to sketch: ModelSketch, entity: String = "Book") throws {
    let request = FetchRequest(entityName: entity)
    request.predicate = try .parse(format, with: [])
    request.sort = [SortDescriptor(keyPath: ["title"])]
    try sketch.model.addFetchedProperty(named: name, to: "Book", request: request)
  }

  init() throws {
    store = try Store.open(path: ":memory:", model: FetchedPropertyTests.makeModel())
    context = Context(store: store)
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func book(_ title: String, _ pages: Int64, _ author: ManagedObject? = nil) throws -> ManagedObject {
    let book = try context.insert(entityNamed: title == "c" ? "Novel" : "Book")
    try set(book, "title", .text(title))
    try set(book, "pages", .integer(pages))
    if let author { try set(book, "author", .object(author.reference)) }
    return book
  }

  private func titles(_ name: String, _ object: ManagedObject) throws -> String {
    let list = try context.fetched(name, of: object)
    return try (0..<list.count).map { index in
      if case .text(let text) = try list.object(at: index).value(forKey: "title") { return text.string }
      return "-"
    }.joined(separator: " ")
  }

  @Test("A fetched property is computed when it is read and stays until the object is refreshed")
  func keeping() throws {
    let first = try book("a", 10)
    _ = try book("b", 20)
    #expect(try titles("thicker", first) == "b")
    _ = try book("c", 30)
    #expect(try titles("thicker", first) == "b")
    try context.refresh(first, merges: true)
    #expect(try titles("thicker", first) == "b")
    try context.save()
    try context.refresh(first, merges: true)
    #expect(try titles("thicker", first) == "b c")
    let other = try book("d", 40)
    try context.save()
    #expect(try titles("thicker", first) == "b c")
    try context.refresh(first, merges: false)
    #expect(try titles("thicker", first) == "b c d")
    // What was deleted since is left out.
    try context.delete(other)
    #expect(try titles("thicker", first) == "b c")
    try context.save()
    #expect(try titles("thicker", first) == "b c")
  }

  @Test("Behind $FETCH_SOURCE keys lead through relationships and end in operators; a novel inherits the property")
  func paths() throws {
    let author = try context.insert(entityNamed: "Author")
    let first = try book("a", 1, author), second = try book("c", 20, author)
    _ = try book("b", 30)
    #expect(try titles("siblings", first) == "a c")
    #expect(try titles("siblings", second) == "a c")
    #expect(try titles("crowded", second) == "c")
    try context.save()
    try context.refreshAll()
    #expect(try titles("crowded", second) == "c")
    #expect(try titles("named", second) == "")
  }

  @Test("Objects with fetched properties that hold themselves go when nobody holds them")
  func memory() throws {
    let author = try context.insert(entityNamed: "Author")
    weak var weakly: ManagedObject?
    do {
      let first = try book("a", 1, author)
      try context.save()
      #expect(try titles("siblings", first) == "a")
      weakly = first
    }
    try context.refreshAll()
    #expect(weakly == nil)
  }

  @Test("Names of fetched properties are those of properties, and their requests are checked")
  func refusals() throws {
    func refusal(_ make: @escaping (ModelSketch) throws -> Void) -> Failure? {
      failure { try FetchedPropertyTests.makeModel(make).freeze() }
    }
    #expect(refusal { try FetchedPropertyTests.add("title", "pages > 1", to: $0) }?.kind == .invalidModel)
    #expect(refusal { try FetchedPropertyTests.add("thicker", "pages > 1", to: $0) }?.kind == .invalidModel)
    #expect(refusal { try FetchedPropertyTests.add("x", "pages > $limit", to: $0) }?.kind == .invalidModel)
    #expect(
      refusal { try FetchedPropertyTests.add("x", "pages > 1", to: $0, entity: "Nothing") }?.kind == .invalidModel)
    let counting = FetchRequest(entityName: "Book")
    counting.resultType = .count
    #expect(
      refusal { try $0.model.addFetchedProperty(named: "x", to: "Book", request: counting) }?.kind == .invalidModel)
    let object = try book("a", 1)
    #expect(failure { _ = try context.fetched("title", of: object) }?.kind == .invalidArgument)
    let asked = failure { _ = try object.value(forKey: "thicker") }
    #expect(asked?.kind == .invalidArgument)
    #expect(asked?.message.string.contains("fetched property") == true)
  }

  // MARK: Transient attributes

  @Test("A transient attribute of any value is kept in memory, undone and rolled back, and never stored")
  func transient() throws {
    let object = try book("a", 1)
    try context.save()
    try context.enableUndo(levels: 0)
    try set(object, "draft", .text("x"))
    #expect(context.hasChanges)
    #expect(try object.changedProperties().isEmpty)
    try context.process()
    try set(object, "draft", .integer(2))
    try context.process()
    try context.undo()
    #expect(try object.value(forKey: "draft").isIdentical(to: .text("x")))
    try context.redo()
    #expect(try object.value(forKey: "draft").isIdentical(to: .integer(2)))
    try context.rollback()
    #expect(try object.value(forKey: "draft").isNil)
    try set(object, "draft", .text("kept"))
    try context.save()
    #expect(!context.hasChanges)
    #expect(object.version == 1)
    try context.refresh(object, merges: true)
    #expect(try object.value(forKey: "draft").isIdentical(to: .text("kept")))
    let request = FetchRequest(entityName: "Book")
    request.predicate = try .parse("draft == 'kept'", with: [])
    let refusal = failure { _ = try context.fetch(request) }
    #expect(refusal?.message.string.contains("transient") == true)
    request.predicate = nil
    request.sort = [SortDescriptor(keyPath: ["draft"])]
    #expect(failure { _ = try context.fetch(request) }?.message.string.contains("transient") == true)
  }
}
