import Testing

@testable import QuireCore

@Suite("Contexts")
struct ContextTests {
  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try context.insert(entityNamed: entity)
    for (key, value) in values { try object.set(value, for: object.entity.property(named: key)) }
    return object
  }

  private func twin(_ object: ManagedObject, in other: Context) throws -> ManagedObject {
    try other.existingObject(entityNamed: object.entity.name, id: object.id)
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  // MARK: Two contexts

  @Test func theSecondOfTwoChangesOfOneRowIsAConflictAndChangesNothing() throws {
    let book = try insert("Book", ["title": .text("a")]), shelf = try insert("Shelf")
    try context.save()
    let other = Context(store: library.store)
    let mine = try twin(book, in: other)
    try set(mine, "title", .text("theirs"))
    try set(twin(shelf, in: other), "place", .text("new"))
    try set(book, "title", .text("ours"))
    try context.save()
    #expect(failure(of: { try other.save() })?.kind == .conflict)
    #expect(other.hasChanges && mine.isUpdated)
    #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == ["ours|2"])
    #expect(try library.sql("SELECT ZPLACE FROM ZSHELF") == ["-"])
    try other.rollback()
    #expect(!other.hasChanges)
  }

  @Test func changingOrDeletingARowThatIsGoneIsAConflict() throws {
    let first = try insert("Book"), second = try insert("Book")
    try context.save()
    for delete in [true, false] {
      let other = Context(store: library.store)
      let mine = try twin(delete ? first : second, in: other)
      try context.delete(delete ? first : second)
      try context.save()
      if delete { try other.delete(mine) } else { try set(mine, "title", .text("late")) }
      #expect(failure(of: { try other.save() })?.kind == .conflict)
    }
  }

  @Test func twoContextsMayAddToTheSameOwner() throws {
    let person = try insert("Person")
    try context.save()
    let other = Context(store: library.store)
    let theirs = try twin(person, in: other)
    for (context, owner) in [(context, person), (other, theirs)] {
      let books = try library.relationship("Person", "books")
      _ = try owner.objects(of: books)
      try owner.add(context.insert(entityNamed: "Book"), to: books)
      try context.save()
    }
    #expect(try library.sql("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = 1") == ["2"])
    #expect(try library.sql("SELECT Z_OPT FROM ZPARTY") == ["1"])
  }

  @Test func relatingToARowThatIsGoneFailsAndChangesNothing() throws {
    let person = try insert("Person"), passport = try insert("Passport")
    try context.save()
    let other = Context(store: library.store)
    let fault = other.object(passport.reference, entity: passport.entity)
    try context.delete(passport)
    try context.save()
    let mine = try twin(person, in: other)
    #expect(failure(of: { try set(mine, "passport", .object(fault.reference)) })?.kind == .notFound)
    #expect(!other.hasChanges)
    #expect(fault.isDeleted)
  }

  // MARK: What counts as a change

  @Test func aValueThatCameBackIsNotSaved() throws {
    let book = try insert("Book", ["title": .text("a")]), tag = try insert("Tag"), person = try insert("Person")
    try context.save()
    let tags = try library.relationship("Book", "tags")
    try set(book, "title", .text("b"))
    try book.add(tag, to: tags)
    #expect(book.isUpdated && tag.isUpdated)
    try set(book, "title", .text("a"))
    try book.remove(tag, from: tags)
    #expect(!book.isUpdated && !tag.isUpdated && !context.hasChanges)
    // Also when the members were first read while the change was pending.
    let books = try library.relationship("Person", "books")
    try set(book, "author", .object(person.reference))
    #expect(try person.objects(of: books).count == 1)
    try set(book, "author", .nil)
    #expect(!context.hasChanges)
    try context.save()
    #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == ["1"])
    #expect(try person.objects(of: books).isEmpty)
  }

  @Test func anObjectThatWasInsertedAndDeletedIsForgotten() throws {
    let book = try insert("Book")
    try context.delete(book)
    try context.delete(book)
    #expect(!context.hasChanges && book.isDeleted)
    #expect(failure(of: { try set(book, "title", .text("x")) })?.kind == .invalidState)
    #expect(failure(of: { _ = try book.value(forKey: "title") })?.kind == .invalidState)
    try context.save()
    #expect(try library.sql("SELECT count(*) FROM ZBOOK") == ["0"])
  }

  @Test func aTransientRelationshipHoldsItsObjectsInMemory() throws {
    let book = try insert("Book"), label = try insert("Label")
    try set(book, "draft", .object(label.reference))
    try context.save()
    #expect(try book.value(forKey: "draft").isIdentical(to: .object(label.reference)))
    #expect(try twin(book, in: Context(store: library.store)).value(forKey: "draft").isNil)
  }

  // MARK: Identity

  @Test func thereIsOneObjectForEachId() throws {
    let book = try library.store.withoutReservedIDs { () throws(Failure) in try context.insert(entityNamed: "Book") }
    #expect(try context.existingObject(entityNamed: "Book", id: -1) === book)
    #expect(try context.existingObject(uri: book.uriText()) === book)
    try context.save()
    #expect(try context.existingObject(entityNamed: "Book", id: 1) === book)
    #expect(try context.fetch(FetchRequest(entityName: "Book")).object(at: 0) === book)
    #expect(try context.existingObject(uri: book.uriText()) === book)
    #expect(failure(of: { _ = try context.existingObject(entityNamed: "Book", id: -1) })?.kind == .notFound)
    #expect(failure(of: { _ = try context.existingObject(entityNamed: "Person", id: 1) })?.kind == .notFound)
    #expect(failure(of: { _ = try context.existingObject(entityNamed: "Book", id: 0) })?.kind == .notFound)
    #expect(failure(of: { _ = try context.existingObject(entityNamed: "Book", id: .min) })?.kind == .notFound)
  }

  @Test func permanentIdsFollowTheOrderOfInsertionAlsoWhenObtainedEarly() throws {
    var objects: [ManagedObject] = []
    try library.store.withoutReservedIDs { () throws(Failure) in
      for name in ["Person", "Author", "Book", "Company", "Person"] {
        objects.append(try context.insert(entityNamed: name))
      }
    }
    let uri = objects[0].uriText().string
    #expect(objects.map(\.id) == [-1, -2, -3, -4, -5] && uri.hasPrefix("x-coredata:///Person/t"))
    try context.obtainPermanentIDs()
    #expect(objects.map(\.id) == [1, 2, 1, 3, 4])
    #expect(objects[0].uriText().string != uri && objects.allSatisfy { $0.state == .inserted })
    let late = try insert("Author")
    try context.save()
    #expect(objects.map(\.id) + [late.id] == [1, 2, 1, 3, 4, 5])
    #expect(try library.sql("SELECT Z_PK FROM ZPARTY") == ["1", "2", "3", "4", "5"])
  }

  @Test func idsThatWereObtainedAndRolledBackAreNotGivenAgain() throws {
    let book = try insert("Book")
    try context.obtainPermanentIDs()
    try context.rollback()
    #expect(book.isDeleted && !context.hasChanges)
    let next = try insert("Book")
    try context.save()
    #expect(next.id == 2)
    #expect(failure(of: { _ = try context.existingObject(entityNamed: "Book", id: 1) })?.kind == .notFound)
  }

  @Test func objectsOfAnotherContextOrEntityAreRefused() throws {
    let book = try insert("Book"), stranger = try Context(store: library.store).insert(entityNamed: "Person")
    let company = try insert("Company")
    let author = try library.relationship("Book", "author"), books = try library.relationship("Person", "books")
    #expect(failure(of: { try stranger.add(book, to: books) })?.kind == .invalidArgument)
    #expect(failure(of: { try context.delete(stranger) })?.kind == .invalidArgument)
    #expect(failure(of: { try book.set(.object(company.reference), for: author) })?.kind == .invalidArgument)
    #expect(failure(of: { try book.set(.text("Ann"), for: author) })?.kind == .invalidArgument)
    let person = try insert("Person")
    try context.delete(person)
    #expect(failure(of: { try book.set(.object(person.reference), for: author) }) != nil)
    #expect(failure(of: { _ = try context.insert(entityNamed: "Party") })?.kind == .invalidArgument)
  }

  @Test func rowsAreInsertedAllOrNotAtAll() throws {
    let refused = failure(of: {
      _ = try context.insert(entityNamed: "Book", keys: ["price"], rowCount: 3) { (_, row) throws(Failure) in
        row == 2 ? .text("dear") : .double(1)
      }
    })
    #expect(refused?.kind == .invalidArgument && !context.hasChanges)
    let first = try context.insert(entityNamed: "Book", keys: ["title", "price"], rowCount: 3) {
      (column, row) throws(Failure) in column == 0 ? .text("t\(row)") : .double(Double(row))
    }
    #expect(first == 1)
    try context.save()
    #expect(try library.sql("SELECT Z_PK, ZTITLE, ZPRICE FROM ZBOOK") == ["1|t0|0.0", "2|t1|1.0", "3|t2|2.0"])
    for keys in [["title", "title"], ["author"], ["nothing"]] {
      #expect(
        failure(of: {
          _ = try context.insert(entityNamed: "Book", keys: keys, rowCount: 1) { (_, _) throws(Failure) in .nil }
        })?.kind == .invalidArgument)
    }
  }

  // MARK: Life

  @Test func aContextThatIsReleasedWithPendingChangesLeaksNothing() throws {
    weak var released: Context?
    weak var insertedObject: ManagedObject?
    weak var controller: ResultsController?
    do {
      let book = try insert("Book"), person = try insert("Person")
      try set(book, "author", .object(person.reference))
      try context.save()
      let other = Context(store: library.store)
      other.retainExternally()
      let results = try ResultsController(
        context: other, request: FetchRequest(entityName: "Book"), sectionKeyPath: "author.name", queuesChanges: true)
      try results.performFetch()
      let inserted = try other.insert(entityNamed: "Book")
      let mine = try twin(book, in: other)
      let author = try twin(person, in: other)
      try set(inserted, "author", .object(author.reference))
      _ = try author.objects(of: library.relationship("Person", "books"))
      try set(mine, "title", .text("changed"))
      try other.process()
      try other.delete(mine)
      (released, insertedObject, controller) = (other, inserted, results)
      #expect(other.hasChanges)
      other.releaseExternally()
    }
    #expect(released == nil && insertedObject == nil && controller == nil)
  }

  @Test func cleanObjectsAreLetGoOfAndPendingOnesAreKept() throws {
    for _ in 0..<3000 { _ = try insert("Tag") }
    try context.save()
    #expect(context.registeredObjects.isEmpty)
    weak var weakly: ManagedObject?
    do {
      let tag = try context.existingObject(entityNamed: "Tag", id: 7)
      weakly = tag
      try set(tag, "word", .text("kept"))
    }
    #expect(weakly != nil)
    try context.rollback()
    #expect(weakly == nil)
    #expect(try context.existingObject(entityNamed: "Tag", id: 7).value(forKey: "word").isNil)
  }

  @Test func negativeZeroIsZeroFromTheBeginningAndNotOnlyWhenItIsSaved() throws {
    let book = try insert("Book")
    for value: Value in [.double(-0.0), .float(-0.0)] {
      try set(book, "price", value)
      guard case .double(let price) = try book.value(forKey: "price") else { return #expect(Bool(false)) }
      #expect(price.sign == .plus)
    }
  }

  @Test func membersOfAnObjectThatWasNotReadCanBeChanged() throws {
    let book = try insert("Book"), shelf = try insert("Shelf"), tag = try insert("Tag")
    try set(book, "shelf", .object(shelf.reference))
    try tag.add(book, to: library.relationship("Tag", "books"))
    try context.save()
    for (key, inverse) in [("shelf", "books"), ("tags", "books")] {
      let other = Context(store: library.store)
      let same = try other.existingObject(entityNamed: "Book", id: book.id)
      let relationship = try library.relationship("Book", key)
      let held = try relationship.isToMany ? same.objects(of: relationship).first : same.object(of: relationship)
      let holder = try #require(held)
      // It is known by its id alone, and so is the version of its row.
      #expect(holder.isFault)
      let back = try #require(try holder.entity.property(named: inverse) as? Relationship)
      try holder.remove(same, from: back)
      try other.save()
      #expect(try holder.objects(of: back).isEmpty)
    }
  }

  @Test func aClosedStoreFailsEveryCallAndCrashesNone() throws {
    let book = try insert("Book")
    let results = try ResultsController(
      context: context, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: false)
    try library.store.close()
    for body: () throws -> Void in [
      { try context.save() }, { try context.rollback() }, { try context.obtainPermanentIDs() },
      { _ = try context.insert(entityNamed: "Book") }, { try context.delete(book) }, { try results.performFetch() },
      { _ = try context.fetch(FetchRequest(entityName: "Book")) }, { try set(book, "title", .text("x")) },
      { _ = try context.existingObject(entityNamed: "Book", id: 1) },
    ] {
      #expect(failure(of: body)?.kind == .closed)
    }
  }
}
