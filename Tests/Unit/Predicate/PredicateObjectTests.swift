import Testing

@testable import QuireCore

/// Predicates on objects of a context: to-many relationships, pending changes, what is checked before any value is met.
@Suite struct PredicateObjectTests {
  private let library: LibraryFixture
  private let context: Context
  private let goethe: ManagedObject
  private let faust: ManagedObject
  private let werther: ManagedObject

  init() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    func insert(_ entity: String, _ values: [String: Value]) throws -> ManagedObject {
      let object = try context.insert(entityNamed: entity)
      for (name, value) in values { try object.set(value, for: object.entity.property(named: name)) }
      return object
    }
    let goethe = try insert("Author", ["name": .text("Goethe"), "age": .integer(82)])
    let faust = try insert("Book", ["title": .text("Faust"), "price": .double(12), "author": .object(goethe.reference)])
    werther = try insert("Book", ["title": .text("Werther"), "price": .double(8), "author": .object(goethe.reference)])
    let tags = try ["drama", "German"].map { try insert("Tag", ["word": .text($0)]) }
    try faust.set(tags, for: library.relationship("Book", "tags"))
    self.library = library
    self.context = context
    self.goethe = goethe
    self.faust = faust
  }

  private func check(_ object: ManagedObject, true truths: [String], false lies: [String] = []) throws {
    for format in truths { #expect(try object.fulfils(Predicate.parse(Text(format))), "\(format)") }
    for format in lies { #expect(try !object.fulfils(Predicate.parse(Text(format))), "\(format)") }
  }

  private func everything() throws {
    try check(
      goethe,
      true: [
        "ANY books.title == 'Faust'", "books.@count == 2", "books.@sum.price == 20", "ALL books.author == SELF",
        "SUBQUERY(books, $b, ANY $b.tags.word == 'drama').@count == 1", "ANY books.tags.word BEGINSWITH 'G'",
        "SUBQUERY(books, $b, $b.author.age == age)[SIZE] == 2", "friends.@count == 0", "NONE friends.age > 0",
        "age / 2 == 41", "passport.holder.name == nil", "name.length == 6", "ALL books.author.name == name",
        "books.@max.title == 'Werther'", "length(name) == 6", "TERNARY(passport == nil, SELF, nil).age == 82",
      ],
      false: ["ANY friends.name == 'x'", "ANY books.tags.word == 'prose'", "ANY books.publisher.name == 'x'"])
    try check(
      faust,
      true: [
        "(tags.word)[0] == 'drama'", "tags[LAST].word == 'German'", "author.books.@count == 2", "tags[SIZE] == 2",
        "tags.word == {'drama', 'German'}", "author.books CONTAINS SELF", "SELF IN author.books",
      ],
      false: ["ANY tags == SELF", "author == nil", "author == SELF"])
    for (object, holds) in [(faust, true), (goethe, false)] {
      let predicate = try Predicate.parse("ANY books == %@", arguments: [.object(object.reference)])
      #expect(try goethe.fulfils(predicate) == holds)
    }
  }

  @Test func `an object is asked before and after it is saved`() throws {
    try everything()
    try context.save()
    try everything()
    #expect(try werther.fulfils(Predicate.parse("tags.@count == 0 AND author.name == 'Goethe'")))
  }

  @Test func `pending changes count`() throws {
    try context.save()
    try werther.set(.nil, for: library.relationship("Book", "author"))
    try check(
      goethe, true: ["books.@count == 1", "ALL books.title == 'Faust'"], false: ["ANY books.title == 'Werther'"])
    try context.delete(faust)
    try context.process()
    try check(goethe, true: ["books.@count == 0", "ALL books.price > 1000"], false: ["ANY books.price > 0"])
  }

  @Test func `keys are checked even where no value is met`() throws {
    for (format, kind) in [
      ("ANY friends.nmae == 'x'", Failure.Kind.invalidArgument),
      ("SUBQUERY(friends, $f, $f.age > aeg).@count == 0", .invalidArgument),
      ("passport.holder.x == 1", .invalidArgument), ("age > 'x'", .invalidPredicate), ("name < 5", .invalidPredicate),
    ] {
      let failure = #expect(throws: Failure.self, "\(format)") { try goethe.fulfils(Predicate.parse(Text(format))) }
      #expect(failure?.kind == kind, "\(format): \(failure?.message.string ?? "")")
    }
  }
}
