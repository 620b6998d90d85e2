import Testing

@testable import QuireCore

/// What binding makes of names: properties, what the predicate looks at, and failures in their order.
@Suite struct PredicateBindingTests {
  private let library: LibraryFixture
  private let book: Entity

  init() throws {
    library = try LibraryFixture()
    book = try library.entity("Book")
  }

  private func bound(_ format: String) throws -> BoundPredicate {
    try BoundPredicate(Predicate.parse(Text(format)), to: book, of: library.store.uuid)
  }

  private func allKeys(_ expression: Expression) -> [Key] {
    var found = expression.parts.flatMap { allKeys($0) }
    switch expression {
    case .keyPath(let keys), .path(_, let keys): found += keys
    default: break
    }
    return found
  }

  @Test(
    "Each name becomes the property that it stands for",
    arguments: [
      "title == 'a'", "author.name BEGINSWITH 'a' AND price > 1", "SELF.author.age > 2", "ANY tags.word == 'x'",
      "tags.@count > 1", "author.books.@sum.price > 3", "author.friends[0].name == 'a'", "title.length > 2",
      "SUBQUERY(tags, $t, $t.word == 'x' AND title != 'b').@count == 0", "NOT uppercase(title) IN {'A', shelf.place}",
      "TERNARY(price > 1, author.name, title) == 'b'", "objectFrom:withIndex:(tags, FIRST).word == 'x'",
    ])
  func names(format: String) throws {
    let written = try Predicate.parse(Text(format))
    let predicate = try bound(format).predicate
    let keys = predicate.sides.flatMap { allKeys($0) }
    #expect(!keys.isEmpty)
    for key in keys where !key.isOperator && key.name != "length" {
      #expect(key.property?.name == key.name, "\(key.name)")
    }
    #expect(predicate == written && predicate.text == written.text)
  }

  @Test("A name of two properties stays a name, and an inherited property is one")
  func severalProperties() throws {
    let both = Expression.list([.keyPath(["author"]), .keyPath(["publisher"])])
    func property(_ key: Key) throws -> Property? {
      let found = try BoundExpression(.path(both, [key]), to: book, of: library.store.uuid)
      guard case .path(_, let keys) = found.expression else { return nil }
      return keys[0].property
    }
    #expect(try property("code") == nil)
    #expect(try property("name")?.entity.name == "Party")
  }

  @Test("What is looked at is known")
  func reach() throws {
    let reach = try bound("author.name == 'x' AND price > 1").reach
    #expect(try reach.own.contains(book.property(named: "author")) && reach.own.contains(book.property(named: "price")))
    #expect(try !reach.own.contains(book.property(named: "title")))
    #expect(reach.dependencies.map { "\($0.path.map(\.name)) \($0.property.name)" } == [#"["author"] name"#])
    #expect(try bound("title == 'x'").reach.dependencies.isEmpty)
  }

  @Test("A path that is asked of an object of another entity goes by its names")
  func otherEntity() throws {
    let context = Context(store: library.store)
    defer { withExtendedLifetime(context) {} }
    let person = try context.insert(entityNamed: "Person")
    try person.set(.text("x"), for: person.entity.property(named: "code"))
    let code = try ResolvedKeyPath(["code"], of: library.entity("Company"), for: .column)
    #expect(try person.value(at: code).comparableText?.string == "x")
    let prize = try ResolvedKeyPath(["prize"], of: library.entity("Author"), for: .column)
    #expect(failure { _ = try person.value(at: prize) }?.kind == .invalidArgument)
  }

  @Test("A malformed pattern comes before an unknown name, and an unknown name before types")
  func failures() {
    func kind(_ format: String) -> Failure.Kind? { failure { _ = try bound(format) }?.kind }
    #expect(kind("nmae == 1 AND title MATCHES '('") == .invalidPredicate)
    #expect(kind("title < 1 AND nmae == 1") == .invalidArgument)
    #expect(kind("title < 1") == .invalidPredicate)
    #expect(kind("SUBQUERY(tags, $t, $t.wrod == 'x').@count == 0") == .invalidArgument)
  }
}
