import Testing

@testable import QuireCore

@Suite("Changed and committed values, refresh and reset")
struct ChangeTrackingTests {
  private let library: LibraryFixture
  private let context: Context
  private let other: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
    other = Context(store: library.store)
  }

  private func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try context.insert(entityNamed: entity)
    for (key, value) in values { try set(object, key, value) }
    return object
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func twin(_ object: ManagedObject) throws -> ManagedObject {
    try other.existingObject(entityNamed: object.entity.name, id: object.id)
  }

  private func changed(_ object: ManagedObject) throws -> Set<String> {
    Set(try object.changedProperties().map(\.name))
  }

  private func committed(_ object: ManagedObject, _ key: String) throws -> Value {
    try object.committedValue(of: object.entity.property(named: key))
  }

  // MARK: Changed and committed values

  @Test func changedKeysAreThoseThatDifferFromWhatWasSaved() throws {
    let book = try insert("Book", ["title": .text("a")])
    #expect(try changed(book) == ["title"])
    try context.save()
    #expect(try changed(book).isEmpty)
    try set(book, "title", .text("b"))
    try set(book, "price", .double(1))
    #expect(try changed(book) == ["title", "price"])
    #expect(try committed(book, "title").isIdentical(to: .text("a")) && committed(book, "price").isNil)
    try set(book, "title", .text("a"))
    #expect(try changed(book) == ["price"])
    try context.save()
    #expect(try changed(book).isEmpty && committed(book, "price").isIdentical(to: .double(1)))
    try set(book, "price", .nil)
    try context.rollback()
    #expect(try changed(book).isEmpty)
  }

  @Test func anEqualValueIsNoChange() throws {
    let book = try insert("Book", ["title": .text("a")])
    try context.save()
    try set(book, "title", .text("a"))
    #expect(try changed(book).isEmpty && !book.isUpdated && !context.hasChanges)
  }

  @Test func aTransientChangeIsAChangeOfTheObjectButOfNoStoredValue() throws {
    let sample = try insert("Sample")
    try context.save()
    try set(sample, "note", .text("written"))
    #expect(context.hasChanges && sample.isUpdated)
    #expect(try changed(sample).isEmpty)
  }

  @Test func committedValuesAreNilBeforeTheFirstSave() throws {
    let book = try insert("Book", ["title": .text("a")]), tag = try insert("Tag")
    let tags = try library.relationship("Book", "tags")
    try book.add(tag, to: tags)
    #expect(try committed(book, "title").isNil && book.committedObjects(of: tags).isEmpty)
    #expect(try changed(book) == ["title", "tags"])
    #expect(failure(of: { _ = try committed(book, "tags") })?.kind == .invalidArgument)
  }

  @Test(arguments: [true, false])
  func bothSidesOfARelationshipAreChangedWhetherItsMembersWereReadOrNot(isRead: Bool) throws {
    let books = try library.relationship("Person", "books")
    let first = try insert("Person"), second = try insert("Person"), book = try insert("Book")
    try set(book, "author", .object(first.reference))
    try context.save()
    let (mine, old, new) = (try twin(book), try twin(first), try twin(second))
    if isRead { for person in [old, new] { _ = try person.objects(of: books) } }
    try set(mine, "author", .object(new.reference))
    #expect(try changed(mine) == ["author"] && changed(old) == ["books"] && changed(new) == ["books"])
    #expect(try committed(mine, "author").isIdentical(to: .object(old.reference)))
    #expect(
      try old.committedObjects(of: books).elementsEqual([mine], by: ===) && new.committedObjects(of: books).isEmpty)
    try set(mine, "author", .object(old.reference))
    for object in [mine, old, new] { #expect(try changed(object).isEmpty) }
    try other.delete(mine)
    try other.process()
    #expect(try changed(old) == ["books"])
    #expect(try old.committedObjects(of: books).elementsEqual([mine], by: ===))
  }

  @Test func committedMembersKeepTheirOrder() throws {
    let pins = try library.relationship("Shelf", "pins")
    let shelf = try insert("Shelf"), labels = try (0..<3).map { _ in try insert("Label") }
    try shelf.set(labels, for: pins)
    try context.save()
    try shelf.set(labels.reversed(), for: pins)
    #expect(try changed(shelf) == ["pins"])
    #expect(try shelf.committedObjects(of: pins).elementsEqual(labels, by: ===))
    try shelf.set(labels, for: pins)
    #expect(try changed(shelf).isEmpty)
  }

  // MARK: Refresh

  @Test func aMergingRefreshKeepsWhatWasChangedOnTopOfTheNewestRowAndNeverConflicts() throws {
    let book = try insert("Book", ["title": .text("a"), "price": .double(1)])
    let tags = try (0..<3).map { _ in try insert("Tag") }
    let relationship = try library.relationship("Book", "tags")
    try book.set([tags[0]], for: relationship)
    try context.save()
    let mine = try twin(book)
    try set(mine, "title", .text("mine"))
    try mine.add(twin(tags[1]), to: relationship)
    try set(book, "title", .text("theirs"))
    try set(book, "price", .double(2))
    try book.set([tags[2]], for: relationship)
    try context.save()
    #expect(failure(of: { try other.save() })?.kind == .conflict)
    for object in [mine, try twin(tags[0]), try twin(tags[1]), try twin(tags[2])] {
      try other.refresh(object, merges: true)
    }
    #expect(try mine.value(forKey: "title").isIdentical(to: .text("mine")))
    #expect(try mine.value(forKey: "price").isIdentical(to: .double(2)))
    #expect(try committed(mine, "title").isIdentical(to: .text("theirs")) && changed(mine).contains("title"))
    #expect(try Set(mine.objects(of: relationship).map(\.id)) == [tags[1].id, tags[2].id])
    try other.save()
    #expect(try library.sql("SELECT ZTITLE, ZPRICE FROM ZBOOK") == ["mine|2.0"])
    #expect(try Set(library.related("Book", "tags", of: book.id)) == [tags[1].id, tags[2].id])
  }

  @Test func aMergingRefreshLeavesTransientValues() throws {
    let sample = try insert("Sample", ["name": .text("a")])
    try context.save()
    try set(sample, "note", .text("written"))
    try context.save()
    try context.refresh(sample, merges: true)
    try context.refreshAll()
    #expect(try sample.value(forKey: "note").isIdentical(to: .text("written")))
    try context.refresh(sample, merges: false)
    #expect(sample.isFault)
    #expect(try sample.value(forKey: "note").isIdentical(to: .text("unwritten")))
  }

  @Test func aRefreshWithoutMergingTakesChangesBackOnBothSidesAndMakesAFault() throws {
    let first = try insert("Person"), second = try insert("Person"), book = try insert("Book", ["title": .text("a")])
    let shelf = try insert("Shelf"), labels = try (0..<2).map { _ in try insert("Label") }
    let books = try library.relationship("Person", "books"), pins = try library.relationship("Shelf", "pins")
    try set(book, "author", .object(first.reference))
    try shelf.set(labels, for: pins)
    try context.save()
    try set(book, "author", .object(second.reference))
    try set(book, "title", .text("b"))
    try shelf.set([labels[1]], for: pins)
    #expect(try second.objects(of: books).count == 1)
    for object in [book, shelf] {
      try context.refresh(object, merges: false)
      #expect(object.isFault && !object.isUpdated)
    }
    #expect(try !context.hasChanges && book.value(forKey: "title").isIdentical(to: .text("a")))
    #expect(try second.objects(of: books).isEmpty && first.objects(of: books).elementsEqual([book], by: ===))
    #expect(try shelf.objects(of: pins).elementsEqual(labels, by: ===))
    let fresh = try insert("Book")
    #expect(failure(of: { try context.refresh(fresh, merges: false) })?.kind == .invalidState)
    try context.refresh(fresh, merges: true)
    try context.delete(book)
    #expect(failure(of: { try context.refresh(book, merges: false) })?.kind == .invalidState)
    #expect(failure(of: { try other.refresh(book, merges: true) })?.kind == .invalidArgument)
  }

  @Test(arguments: [true, false])
  func refreshingARowThatIsGoneSaysSo(isChanged: Bool) throws {
    let book = try insert("Book", ["title": .text("a")])
    try context.save()
    try other.delete(twin(book))
    try other.save()
    if isChanged { try set(book, "title", .text("b")) }
    #expect(failure(of: { try context.refresh(book, merges: true) })?.kind == .notFound)
    #expect(book.isDeleted && !context.hasChanges)
    try context.refreshAll()
  }

  @Test func refreshingAllMakesFaultsOfWhatIsCleanAndLiveListsFollow() throws {
    let first = try insert("Book", ["title": .text("a")]), second = try insert("Book", ["title": .text("b")])
    try context.save()
    let (dirty, clean) = (try twin(first), try twin(second))
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    let results = try ResultsController(context: other, request: request, sectionKeyPath: nil, queuesChanges: true)
    try results.performFetch()
    try set(dirty, "price", .double(5))
    try set(first, "title", .text("z"))
    try set(second, "title", .text("y"))
    try context.save()
    try other.refreshAll()
    #expect(!dirty.isFault && clean.isFault)
    #expect(try dirty.value(forKey: "title").isIdentical(to: .text("z")) && dirty.isUpdated)
    try other.process()
    #expect(ControllerProbe.lists(results) == [[second.id, first.id]])
    #expect(try clean.value(forKey: "title").isIdentical(to: .text("y")))
    try other.save()
  }

  // MARK: Reset

  @Test func aResetForgetsAllObjectsAndWhoHoldsThemIsTold() throws {
    let book = try insert("Book", ["title": .text("a")]), kept = try insert("Book", ["title": .text("b")])
    let tags = try library.relationship("Book", "tags")
    try context.save()
    try context.enableUndo(levels: 0)
    let results = try ResultsController(
      context: context, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: true)
    try results.performFetch()
    let list = try context.fetch(FetchRequest(entityName: "Book"))
    #expect(try list.object(at: 0) === book)
    let fresh = try insert("Book")
    try context.delete(kept)
    try set(book, "title", .text("c"))
    try context.process()
    #expect(results.count == 2)
    try context.reset()
    #expect(!context.hasChanges && context.registeredObjects.isEmpty && context.undoManager?.canUndo == false)
    for object in [book, kept, fresh] {
      #expect(!object.isLive)
      for body: () throws -> Void in [
        { _ = try object.value(forKey: "title") }, { try set(object, "title", .text("x")) },
        { try context.delete(object) }, { try context.refresh(object, merges: true) },
        { _ = try object.objects(of: tags) }, { _ = try object.changedProperties() },
      ] { #expect(failure(of: body)?.kind == .invalidState || object === fresh) }
    }
    try context.save()
    #expect(ControllerProbe.lists(results) == [[book.id, kept.id]])
    let again = try context.existingObject(entityNamed: "Book", id: book.id)
    #expect(again !== book)
    #expect(try again.value(forKey: "title").isIdentical(to: .text("a")))
    #expect(try results.object(section: 0, row: 0) === again && list.object(at: 0) === again)
    let tag = try insert("Tag")
    #expect(failure(of: { try tag.add(book, to: library.relationship("Tag", "books")) })?.kind == .invalidState)
    #expect(failure(of: { try tag.set([book], for: library.relationship("Tag", "books")) })?.kind == .invalidState)
  }

  @Test func refreshAndResetNeedAnOpenStore() throws {
    let book = try insert("Book")
    try context.save()
    try library.store.close()
    for body: () throws -> Void in [
      { try context.refresh(book, merges: true) }, { try context.refreshAll() }, { try context.reset() },
      { try context.enableUndo(levels: 0) },
    ] { #expect(failure(of: body)?.kind == .closed) }
  }
}
