import Testing

@testable import QuireCore

/// A store with derived attributes of every kind, and what a program that knows only SQLite sees of it.
final class DerivedFixture {
  let folder: TemporaryFolder
  private(set) var store: Store
  private(set) var context: Context
  let stranger: ForeignProgram

  init() throws {
    folder = try TemporaryFolder()
    store = try DerivedFixture.open(folder)
    context = Context(store: store)
    stranger = try ForeignProgram(folder.file("derived.sqlite"))
  }

  static func open(_ folder: TemporaryFolder, model: Model? = nil) throws -> Store {
    try Store.open(path: Text(folder.file("derived.sqlite")), model: model ?? makeModel())
  }

  /// As if the program began anew.
  func reopen(model: Model? = nil) throws {
    try store.close()
    store = try DerivedFixture.open(folder, model: model)
    context = Context(store: store)
  }

  static func makeModel(_ extra: (ModelSketch) throws -> Void = { _ in }) throws -> Model {
    let sketch = ModelSketch()
    try sketch.entity("Publisher", ["city": .string])
    try sketch.entity("Author", ["name": .string])
    try sketch.entity("Book", ["title": .string, "price": .double, "pages": .integer32, "exact": .decimal])
    try sketch.entity("Novel", parent: "Book", ["genre": .string])
    try sketch.entity("Tag", ["word": .string])
    try sketch.entity("Person", ["name": .string])
    try sketch.entity("Shelf", ["place": .string])
    try sketch.toOne("Author.publisher", "Publisher.authors")
    try sketch.toMany("Publisher.authors", "Author.publisher")
    try sketch.toOne("Book.author", "Author.books")
    try sketch.toMany("Author.books", "Book.author")
    try sketch.toMany("Book.tags", "Tag.books", isOrdered: true)
    try sketch.toMany("Tag.books", "Book.tags")
    try sketch.toMany("Person.friends", "Person.friends")
    try sketch.toMany("Shelf.loose", "Tag")
    func derive(_ path: String, _ type: AttributeType, _ expression: String) throws {
      let names = path.split(separator: ".").map(String.init)
      try sketch.model.addAttribute(
        named: names[1], to: names[0], type: type, isOptional: true, derivation: expression)
    }
    try derive("Book.copied", .string, "title")
    try derive("Book.canon", .string, "canonical:(title)")
    try derive("Book.loud", .string, "uppercase:(title)")
    try derive("Book.quiet", .string, "lowercase:(title)")
    try derive("Book.authorName", .string, "author.name")
    try derive("Book.loudAuthor", .string, "uppercase:( author.name )")
    try derive("Book.city", .string, "author.publisher.city")
    try derive("Book.siblings", .integer32, "author.books.@count")
    try derive("Book.changed", .date, "now()")
    try derive("Novel.loudGenre", .string, "uppercase:(genre)")
    try derive("Novel.novelist", .string, "author.name")
    try derive("Publisher.authorCount", .integer32, "authors.@count")
    try derive("Author.bookCount", .integer64, "books.@count")
    try derive("Author.total", .double, "books.price.@sum")
    try derive("Author.least", .double, "books.price.@min")
    try derive("Author.greatest", .double, "books.price.@max")
    try derive("Author.mean", .double, "books.price.@avg")
    try derive("Author.pages", .integer64, "books.pages.@sum")
    try derive("Author.worth", .decimal, "books.exact.@sum")
    try derive("Tag.bookCount", .integer64, "books.@count")
    try derive("Tag.total", .double, "books.price.@sum")
    try derive("Person.friendCount", .integer64, "friends.@count")
    try derive("Person.lastFriend", .string, "friends.name.@max")
    try derive("Shelf.looseCount", .integer64, "loose.@count")
    try extra(sketch)
    return try sketch.frozen()
  }

  // MARK: What the file holds

  typealias Record = [String: String]

  /// The rows of a table by key, NULL as "-".
  func table(_ name: String) throws -> [String: Record] {
    let columns = try stranger.run("SELECT name FROM pragma_table_info('\(name)') ORDER BY name <> 'Z_PK', name")
    let rows = try stranger.run("SELECT \(columns.joined(separator: ", ")) FROM \(name)")
    var table: [String: Record] = [:]
    for row in rows {
      let cells = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      table[cells[0]] = Record(uniqueKeysWithValues: zip(columns, cells))
    }
    return table
  }

  /// Members by owner, of a join table read either way round.
  func pairs(_ entity: String, _ name: String) throws -> [String: Set<String>] {
    let relationship = try #require(try store.model.entity(named: entity).property(named: name) as? Relationship)
    let join = store.schema.joinTable(of: relationship)
    var members: [String: Set<String>] = [:]
    for row in try stranger.run("SELECT \(join.ownerColumn), \(join.destinationColumn) FROM \(join.name)") {
      let ends = row.split(separator: "|").map(String.init)
      members[ends[0], default: []].insert(ends[1])
      if join.isReflexive { members[ends[1], default: []].insert(ends[0]) }
    }
    return members
  }

  /// Derives everything once more from the other columns. A stranger knows the functions of ASCII text only.
  func check(_ moment: String, byStranger: Bool = false) throws {
    let publishers = try table("ZPUBLISHER"), authors = try table("ZAUTHOR"), books = try table("ZBOOK")
    let tags = try table("ZTAG"), persons = try table("ZPERSON"), shelves = try table("ZSHELF")
    let taggedBooks = try pairs("Tag", "books"), friends = try pairs("Person", "friends")
    let novel = String(try store.model.entity(named: "Novel").number)
    func expect(_ row: Record, _ column: String, _ value: String?) throws {
      try #require(row[column] == value ?? "-", "\(column) of \(row), \(moment)")
    }
    func expect(_ row: Record, _ column: String, _ value: Double?) throws {
      let found = row[column].flatMap(Double.init)
      let isSame = value.flatMap { value in found.map { abs($0 - value) < 1e-9 } } ?? (value == nil && found == nil)
      try #require(isSame, "\(column) should be \(value.map { "\($0)" } ?? "-") of \(row), \(moment)")
    }
    func text(_ text: String?, _ function: (String) -> String) -> String? {
      text == "-" ? nil : text.map { text in text.utf8.allSatisfy { $0 < 128 } || !byStranger ? function(text) : text }
    }
    func expectText(_ row: Record, _ column: String, _ source: String?, _ function: (String) -> String) throws {
      if byStranger, source?.utf8.contains(where: { $0 > 127 }) == true { return }
      try expect(row, column, text(source, function))
    }
    for book in books.values {
      let author = authors[book["ZAUTHOR"] ?? ""], publisher = author.flatMap { publishers[$0["ZPUBLISHER"] ?? ""] }
      try expect(book, "ZCOPIED", book["ZTITLE"])
      try expectText(book, "ZCANON", book["ZTITLE"]) {
        TextFolder().fold(Text($0), [.ignoreCase, .ignoreDiacritics]).string
      }
      try expectText(book, "ZLOUD", book["ZTITLE"]) { $0.uppercased() }
      try expectText(book, "ZQUIET", book["ZTITLE"]) { $0.lowercased() }
      try expect(book, "ZAUTHORNAME", author?["ZNAME"])
      try expectText(book, "ZLOUDAUTHOR", author?["ZNAME"]) { $0.uppercased() }
      try expect(book, "ZCITY", publisher?["ZCITY"])
      let siblings = books.values.count { author != nil && $0["ZAUTHOR"] == book["ZAUTHOR"] }
      try expect(book, "ZSIBLINGS", "\(siblings)")
      try expectText(book, "ZLOUDGENRE", book["Z_ENT"] == novel ? book["ZGENRE"] : nil) { $0.uppercased() }
      try expect(book, "ZNOVELIST", book["Z_ENT"] == novel ? author?["ZNAME"] : nil)
      try #require(book["ZCHANGED"] != "-", "\(book), \(moment)")
    }
    for (key, author) in authors {
      let own = books.values.filter { $0["ZAUTHOR"] == key }
      let prices = own.compactMap { $0["ZPRICE"].flatMap(Double.init) }
      try expect(author, "ZBOOKCOUNT", "\(own.count)")
      try expect(author, "ZTOTAL", prices.reduce(0, +))
      try expect(author, "ZLEAST", prices.min())
      try expect(author, "ZGREATEST", prices.max())
      try expect(author, "ZMEAN", prices.isEmpty ? nil : prices.reduce(0, +) / Double(prices.count))
      try expect(author, "ZPAGES", "\(own.compactMap { $0["ZPAGES"].flatMap(Int.init) }.reduce(0, +))")
      try expect(author, "ZWORTH", own.compactMap { $0["ZEXACT"].flatMap(Double.init) }.reduce(0, +))
    }
    for (key, publisher) in publishers {
      try expect(publisher, "ZAUTHORCOUNT", "\(authors.values.count { $0["ZPUBLISHER"] == key })")
    }
    for (key, tag) in tags {
      let own = (taggedBooks[key] ?? []).compactMap { books[$0] }
      try expect(tag, "ZBOOKCOUNT", "\(own.count)")
      try expect(tag, "ZTOTAL", own.compactMap { $0["ZPRICE"].flatMap(Double.init) }.reduce(0, +))
    }
    for (key, person) in persons {
      let own = (friends[key] ?? []).compactMap { persons[$0] }
      try expect(person, "ZFRIENDCOUNT", "\(own.count)")
      // As SQLite compares, byte by byte.
      let names = own.compactMap { $0["ZNAME"] }.filter { $0 != "-" }
      try expect(person, "ZLASTFRIEND", names.max { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
    let loose = "Z\(try store.model.entity(named: "Shelf").number)LOOSE"
    for (key, shelf) in shelves { try expect(shelf, "ZLOOSECOUNT", "\(tags.values.count { $0[loose] == key })") }
  }

  /// Objects in memory show what the file holds.
  func check(_ context: Context, _ moment: String) throws {
    for name in ["Publisher", "Author", "Book", "Tag", "Person", "Shelf"] {
      let rows = try table("Z\(name.uppercased())")
      let list = try context.fetch(FetchRequest(entityName: name))
      try #require(list.count == rows.count, "\(name), \(moment)")
      for index in 0..<list.count {
        let object = try list.object(at: index)
        for attribute in object.entity.attributes where attribute.isDerived {
          let stored = rows["\(object.id)"]?["Z\(attribute.name.uppercased())"] ?? ""
          let shown = try object.value(of: attribute)
          let isSame =
            if let number = shown.number?.double { Double(stored).map { abs($0 - number) < 1e-9 } ?? false } else {
              switch shown {
              case .date(let date): Double(stored).map { abs($0 - date) < 1e-6 } ?? false
              case .text(let text): text.string == stored
              default: stored == "-"
              }
            }
          try #require(isSame, "\(attribute.qualifiedName) of \(object.id): \(shown), not \(stored), \(moment)")
        }
        try #require(!object.isUpdated, "\(object.summary), \(moment)")
      }
    }
  }
}
