import Testing

@testable import QuireCore

/// The whole language asked of the store, and of the store with pending changes laid over, against an evaluation of
/// every object in memory.
@Suite struct PredicateFetchTests {
  static let personFormats = [
    "ANY books.title == 'a'", "ANY books.title != 'a'", "ALL books.title == 'a'", "NONE books.title BEGINSWITH[c] 'A'",
    "ANY books.title == nil", "ALL books.price > 1", "NOT ANY books.price > 1", "ANY books.tags.word == 'x'",
    "ALL books.tags.word == 'x'", "NONE books.tags.word == nil", "ANY books.shelf.place == nil",
    "ANY books.shelf.books.title == 'b'", "ALL books.shelf.books.title != 'b'", "ANY books.shelf.labels.text == 'l'",
    "books.@count == 2", "books.@count > 1 AND name != nil", "books.@count == 0", "books.tags.@count == 1",
    "books.@sum.price > 3", "books.@avg.price == 1", "books.@min.price <= 0", "books.@max.title == 'b'",
    "books.@max.title == nil", "books.@sum.price == 0", "ANY friends.name == name", "friends.@count > 0",
    "ANY friends.friends.name == 'Ann'", "SELF IN friends", "ANY friends.books.title == 'a'",
    "SUBQUERY(books, $b, $b.price > 1).@count > 0", "SUBQUERY(books, $b, $b.price > age / 20).@count == 1",
    "SUBQUERY(books, $b, $b.price > 1 AND ANY $b.tags.word == 'x').@count > 0",
    "SUBQUERY(books, $b, SUBQUERY($b.tags, $t, $t.word == $b.title).@count == 0).@count == 2",
    "SUBQUERY(books, $b, SUBQUERY(friends, $f, $f.name == $b.title).@count > 0).@count > 0",
    "ANY SUBQUERY(books, $b, $b.price > 0).title == 'a'", "SUBQUERY(friends, $f, $f.age < age)[SIZE] > 0",
    "SUBQUERY(books, $b, $b.title == name).@count == 0", "SUBQUERY(books.title, $t, $t == 'a').@count > 0",
    "SUBQUERY(books.tags, $t, ANY $t.word == 'x').@count > 0", "SUBQUERY(books.tags, $t, $t.@count == 1).@count > 0",
    "'a' IN books.title", "books.title CONTAINS[c] 'A'", "'a' IN books.tags.word", "nil IN books.shelf",
    "books.@distinctUnionOfObjects.title == {'a'}", "count(books.@distinctUnionOfObjects.title) == 1",
    "passport.holder == SELF", "passport.number == 'P1' OR ANY books.price == nil",
    "passport.holder.books.@count == 1", "passport.holder.books == nil", "ANY passport.holder.books.title == 'a'",
    "SUBQUERY(passport.holder.books, $b, $b.price > 0).@count == 0",
    "age + 1 > 30", "age * 2 == age + age", "-age < 0", "age / 7 == 4", "(age & 1) == 1", "age ** 2 > 800",
    "length(name) == 3", "name.length == 3", "uppercase(name) == 'ANN'", "lowercase(name) IN {'ann', 'bob'}",
    "canonical(name) == 'el'", "CAST(age, 'NSString') == '30'", "abs(age - 30) < 2", "sqrt(age) > 5",
    "TERNARY(age > 29, name, code) == 'Ann'", "TERNARY(ANY books.price > 1, 1, 2) == 1",
    "TERNARY(books.@count > 1, SELF, nil).name == 'Bob'", "name IN {code, 'Ann'}", "age BETWEEN {books.@count, 30}",
    "(friends UNION friends.friends) == nil", "(friends UNION SELF.friends).@count > 0",
    "ANY (friends MINUS friends).name != nil", "(friends INTERSECT friends).@count == friends.@count",
    "(books UNION passport.holder.books).@count > 1", "count(books UNION friends) > 1",
    "nil IN (books.shelf UNION books.shelf)", "ANY (books.shelf MINUS friends) == nil",
    "(books.shelf INTERSECT books.shelf) CONTAINS nil", "ANY (friends UNION books.author) != nil",
    "name ==[cd] 'ANN'", "name <[c] 'b'", "name CONTAINS[l] 'n'", "name IN[l] {'Ann', 'Bob'}",
    "name IN[cd] {'ANN', nil}",

    "(books.tags)[0].word CONTAINS 'x'", "SUBQUERY(books.tags, $t, $t.@count > 0)[LAST].word == {'x'}",
    "(books.tags)[1].books[0].title == 'a'", "(books.tags)[0].@count == 1", "(books.tags)[0] == nil",
    "ANY (books.tags)[FIRST].word == 'x'", "books[0].title == 'a'", "books[LAST].title == 'b'",
    "books[FIRST].price > 0", "books[99] == nil",
    "books[books.@count - 1].title == 'a'", "books.tags[0].word == 'x'", "ANY books.tags[0].word == 'x'",
    "books[SIZE] == 1", "(books.title)[1] == 'b'", "{1, 2, age} CONTAINS 30", "{name, code} == {'Ann', nil}",
    "count(books) == 2", "count({name, code}) == 2", "sum({age, 1}) > 30", "max({age, books.@count}) == 30",
    "noindex(name) == 'Ann'", "NOT (name == 'Ann')", "name != code", "now() > CAST(0, 'NSDate')", "1 == 1",
    "friends == {}", "books.title == {'a'}", "SELF IN {1, nil}", "code == nil AND NOT (age < 30)",
    "SUBQUERY({1, 2, 3}, $x, $x == books.@count).@count == 1", "ANY {1, 2} == books.@count", "ALL {29, 30} <= age",
    "SELF == SELF", "SELF != passport.holder", "ANY books.author == SELF", "books.author.name CONTAINS name",
    "name MATCHES 'A.*' OR code LIKE '?'", "ANY books.title MATCHES '[ab]'", "age == age + 0.0", "age %% 2 == 1",
  ]

  static let bookFormats = [
    "ANY author.books.title == 'b'", "author.books.@count == 2",
    "SUBQUERY(author.books, $b, $b.price >= price)[SIZE] > 1",
    "author.books[0] == SELF", "tags[0].word == 'x'", "tags[LAST].word == tags[FIRST].word", "tags[1] == nil",
    "shelf.books[0] == SELF", "shelf.books[0].author.name == 'Ann'", "shelf.pins[0].text == 'l'",
    "tags.word == {'x', 'y'}",
    "shelf.labels.@count == 1", "ANY shelf.pins.text == nil", "price + 1 == 2", "price * 0 == 0", "price / 0 == nil",
    "-price == price", "NOT price - price == 0", "floor(price) == 2", "ceiling(price) == 3", "trunc(price) == 2",
    "title == author.name", "author.friends CONTAINS author", "author IN author.friends",
    "shelf.books.@min.price == price",
    "shelf.books.@max.author.age == 31", "SUBQUERY(shelf.books, $b, $b.title < title).@count == 1",
    "ANY tags.books.author.name == author.name", "tags.books.@count == 2", "title.length > 0",
    "author.name.length == 3", "publisher.code == nil", "ANY author.friends.passport.number == 'P2'",
    "tags.@unionOfObjects.word == {'x'}", "tags[tags.@count - 1].word == 'y'", "ALL shelf.books.tags.word != 'x'",
  ]

  private func formats(_ entity: String) -> [String] { entity == "Book" ? Self.bookFormats : Self.personFormats }

  private func ids(_ predicate: Predicate, _ entity: String, in context: Context) throws -> [Int64]? {
    let request = FetchRequest(entityName: entity)
    request.predicate = predicate
    request.resultType = .ids
    let list = try context.fetch(request)
    return (0..<list.count).map { list.id(at: $0) }
  }

  private func idsInMemory(_ predicate: Predicate, _ entity: String, in context: Context) throws -> [Int64] {
    let list = try context.fetch(FetchRequest(entityName: entity))
    var found: [Int64] = []
    for place in 0..<list.count {
      let object = try list.object(at: place)
      if try object.fulfils(predicate) { found.append(object.id) }
    }
    return found
  }

  private func compare(_ shop: PeopleAndBooks, _ moment: String, in context: Context) throws {
    for entity in ["Person", "Book"] {
      for format in formats(entity) {
        let predicate = try Predicate.parse(Text(format))
        let fetched = Result { try ids(predicate, entity, in: context) }
        let evaluated = Result { try idsInMemory(predicate, entity, in: context) }
        switch (fetched, evaluated) {
        case (.success(let fetched), .success(let evaluated)):
          if fetched == evaluated { continue }
          Issue.record("seed \(shop.seed), \(moment): \(format) fetches \(fetched ?? []), and holds for \(evaluated)")
        case (.failure(let failure), .success): Issue.record("seed \(shop.seed), \(moment): \(format): \(failure)")
        case (_, .failure(let failure)): Issue.record("\(moment): \(format) in memory: \(failure)")
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func `the store finds what memory finds`(_ seed: UInt64) throws {
    var shop = try PeopleAndBooks(seed: seed)
    for _ in 0..<40 { try shop.change() }
    try shop.context.save()
    try compare(shop, "saved", in: Context(store: shop.library.store))
    for round in 0..<3 {
      for _ in 0..<4 { try shop.change() }
      try compare(shop, "pending \(round)", in: shop.context)
    }
  }

  @Test func `values of rows that take no part are not met`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    func insert(_ entity: String, _ name: String) throws -> ManagedObject {
      let object = try context.insert(entityNamed: entity)
      try object.set(.text(name), for: object.entity.property(named: "name"))
      return object
    }
    // A star alone is no pattern.
    _ = try insert("Person", "*")
    let changed = try insert("Author", "*"), deleted = try insert("Author", "*")
    try context.save()
    try changed.set(.text("a"), for: changed.entity.property(named: "name"))
    try context.delete(deleted)
    #expect(try ids(Predicate.parse("'a' MATCHES name"), "Author", in: context) == [changed.id])
  }

  @Test func `an index into what is to-one is refused, whichever objects there are`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let empty = try context.insert(entityNamed: "Person"), busy = try context.insert(entityNamed: "Person")
    let book = try context.insert(entityNamed: "Book")
    try book.set(.object(busy.reference), for: book.entity.property(named: "author"))
    try context.save()
    let cases = [
      ("books.author[0] == nil", "'Book.author', which is to-one"),
      ("ANY books.author[FIRST] == SELF", "'Book.author', which is to-one"),
      ("books.shelf[SIZE] == 1", "'Book.shelf', which is to-one"), ("passport[0] == nil", "'Person.passport'"),
      ("(passport)[LAST] == nil", "'Person.passport'"), ("passport.holder[age] == nil", "'Passport.holder'"),
      ("(passport.holder)[0] == nil", "'Passport.holder'"), ("SELF[0] == nil", "an object"),
      ("objectFrom:withIndex:(passport, FIRST) == nil", "'Person.passport'"),
      ("SUBQUERY(books, $b, $b.author[0] == nil).@count == 0", "'Book.author'"),
      ("SUBQUERY(books, $b, $b[0] == nil).@count == 0", "an object"),
    ]
    for (format, part) in cases {
      let predicate = try Predicate.parse(Text(format))
      var messages: Set<String> = []
      for object in [empty, busy] {
        let failure = #expect(throws: Failure.self, "\(format)") { try object.fulfils(predicate) }
        #expect(failure?.kind == .invalidPredicate)
        messages.insert(failure?.message.string ?? "")
      }
      let failure = #expect(throws: Failure.self, "\(format)") { try ids(predicate, "Person", in: context) }
      #expect(failure?.kind == .invalidPredicate)
      messages.insert(failure?.message.string ?? "")
      #expect(messages.count == 1 && messages.first?.contains("an index into \(part)") == true, "\(messages)")
    }
    for format in ["(books.author)[0] == SELF", "ANY books.author['name'] == nil", "books.tags[0].word == nil"] {
      let predicate = try Predicate.parse(Text(format))
      #expect(try ids(predicate, "Person", in: context) == idsInMemory(predicate, "Person", in: context), "\(format)")
    }
  }
}
