import Testing

@testable import QuireCore

@Suite("Undo")
struct UndoTests {
  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try context.insert(entityNamed: entity)
    for (key, value) in values { try set(object, key, value) }
    return object
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func title(_ object: ManagedObject) throws -> String {
    guard case .text(let text) = try object.value(forKey: "title") else { return "nil" }
    return text.string
  }

  @Test func undoIsOffUntilItIsTurnedOn() throws {
    #expect(context.undoManager == nil)
    for body: () throws -> Void in [
      { try context.undo() }, { try context.redo() }, { try context.beginUndoGroup(named: nil) },
      { try context.endUndoGroup() }, { try context.setUndoRegistration(false) },
      { try context.removeAllUndoActions() },
    ] { #expect(failure(of: body)?.kind == .invalidState) }
    let book = try insert("Book", ["title": .text("before")])
    try context.enableUndo(levels: 0)
    try context.undo()
    #expect(try title(book) == "before")
    try context.disableUndo()
    #expect(context.undoManager == nil)
  }

  @Test func eachProcessingOfChangesEndsAGroup() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")])
    try context.process()
    // A fetch only reads, and ends no group.
    try set(book, "title", .text("before b"))
    _ = try context.fetch(FetchRequest(entityName: "Book"))
    try set(book, "title", .text("b"))
    try context.process()
    try set(book, "title", .text("c"))
    try context.save()
    try set(book, "title", .text("d"))
    var titles: [String] = []
    for _ in 0..<3 {
      try context.undo()
      titles.append(try title(book))
    }
    #expect(titles == ["c", "b", "a"] && book.isUpdated)
    try context.undo()
    #expect(book.isDeleted && context.undoManager?.canUndo == false)
    try context.undo()
    for _ in 0..<5 { try context.redo() }
    #expect(try title(book) == "d" && !book.isDeleted)
  }

  @Test func aGroupOfTheCallerHoldsWhatItsPartsDid() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")])
    try context.beginUndoGroup(named: nil)
    try set(book, "title", .text("b"))
    try context.process()
    try context.beginUndoGroup(named: Text("Rename"))
    try set(book, "title", .text("c"))
    try context.save()
    try context.endUndoGroup()
    #expect(failure(of: { try context.undo() })?.kind == .invalidState)
    try set(book, "price", .double(2))
    try context.endUndoGroup()
    #expect(context.undoManager?.undoName == Text("Rename"))
    try context.undo()
    #expect(try title(book) == "a" && book.value(forKey: "price").isNil)
    #expect(context.undoManager?.undoName == nil && context.undoManager?.redoName == Text("Rename"))
    try context.redo()
    #expect(try title(book) == "c" && context.undoManager?.undoName == Text("Rename"))
    #expect(failure(of: { try context.endUndoGroup() })?.kind == .invalidState)
  }

  @Test func whatDeleteRulesDidBelongsToTheDeletion() throws {
    try context.enableUndo(levels: 0)
    let person = try insert("Person"), book = try insert("Book")
    try set(book, "author", .object(person.reference))
    try context.save()
    try context.beginUndoGroup(named: Text("Delete"))
    try context.delete(person)
    try context.endUndoGroup()
    #expect(try book.value(forKey: "author").isNil)
    try context.undo()
    #expect(!person.isDeleted && !context.hasChanges)
    #expect(try book.value(forKey: "author").isIdentical(to: .object(person.reference)))
  }

  @Test func aSavedDeletionComesBackUnderItsIdWithAllThatItHeld() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")]), shelf = try insert("Shelf")
    let labels = try (0..<3).map { _ in try insert("Label") }, tag = try insert("Tag")
    try shelf.set(labels, for: library.relationship("Shelf", "pins"))
    try shelf.set([labels[1]], for: library.relationship("Shelf", "labels"))
    try set(book, "shelf", .object(shelf.reference))
    try book.add(tag, to: library.relationship("Book", "tags"))
    try context.save()
    for object in [book, labels[1], shelf, tag] { try context.delete(object) }
    try context.save()
    #expect(try library.sql("SELECT count(*) FROM ZBOOK") == ["0"])
    try context.undo()
    #expect(book.state == .inserted && context.pending.inserted.count == 4)
    try context.save()
    #expect(try library.sql("SELECT ZTITLE, ZSHELF FROM ZBOOK") == ["a|1"])
    #expect(try library.related("Shelf", "pins", of: shelf.id) == labels.map(\.id))
    #expect(try library.related("Shelf", "labels", of: shelf.id) == [labels[1].id])
    #expect(try library.related("Shelf", "books", of: shelf.id) == [book.id])
    #expect(try library.related("Book", "tags", of: book.id) == [tag.id])
    try context.undo()
    #expect(book.isDeleted && labels.allSatisfy(\.isDeleted))
    try context.save()
    #expect(try library.sql("SELECT count(*) FROM ZLABEL") == ["0"])
    #expect(context.undoManager?.canUndo == false)
  }

  @Test func holdersThatNobodyReadHoldAgainWhatComesBack() throws {
    let label: ManagedObject
    do {
      label = try insert("Label")
      try insert("Shelf").set([label], for: library.relationship("Shelf", "labels"))
      try insert("Shelf").set([insert("Label"), label], for: library.relationship("Shelf", "pins"))
      try context.save()
    }
    try context.enableUndo(levels: 0)
    #expect(context.registeredObjects.count == 1)
    try context.delete(label)
    try context.save()
    try context.undo()
    try context.save()
    let other = Context(store: library.store)
    let shelves = try (1...2).map { try other.existingObject(entityNamed: "Shelf", id: $0) }
    #expect(try shelves[0].objects(of: library.relationship("Shelf", "labels")).map(\.id) == [label.id])
    #expect(try shelves[1].objects(of: library.relationship("Shelf", "pins")).map(\.id) == [2, label.id])
  }

  @Test func whatIsNotRegisteredIsForGood() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")]), person = try insert("Person")
    try set(book, "author", .object(person.reference))
    try context.save()
    try set(book, "title", .text("b"))
    try context.setUndoRegistration(false)
    try set(book, "price", .double(7))
    try context.delete(person)
    try context.setUndoRegistration(true)
    try context.undo()
    #expect(try title(book) == "a" && book.value(forKey: "author").isNil && person.isDeleted)
    #expect(try book.value(forKey: "price").isIdentical(to: .double(7)))
  }

  @Test func onlyTheLatestLevelsAreKept() throws {
    try context.enableUndo(levels: 2)
    let book = try insert("Book")
    for title in ["a", "b", "c", "d"] {
      try set(book, "title", .text(title))
      try context.process()
    }
    for _ in 0..<4 { try context.undo() }
    #expect(try title(book) == "b")
    try context.redo()
    try context.redo()
    try context.enableUndo(levels: 1)
    for _ in 0..<4 { try context.undo() }
    #expect(try title(book) == "c")
  }

  @Test func aNewChangeEndsWhatCouldBeRedoneAndARollbackEverything() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")])
    try context.save()
    try set(book, "title", .text("b"))
    try context.undo()
    #expect(context.undoManager?.canRedo == true)
    try context.save()
    #expect(context.undoManager?.canRedo == true)
    try set(book, "title", .text("c"))
    #expect(context.undoManager?.canRedo == false)
    try context.rollback()
    #expect(context.undoManager?.canUndo == false)
    try context.undo()
    #expect(try title(book) == "a")
    try set(book, "title", .text("d"))
    try context.removeAllUndoActions()
    try context.undo()
    #expect(try title(book) == "d")
  }

  @Test func changesThatWereTakenBackAreNoGroup() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")])
    try context.process()
    try set(book, "title", .text("b"))
    try set(book, "title", .text("a"))
    try context.delete(insert("Tag"))
    try context.process()
    try context.undo()
    #expect(book.isDeleted)
  }

  @Test func anObjectWhoseRowIsGoneIsLeftOut() throws {
    try context.enableUndo(levels: 0)
    let first = try insert("Book", ["title": .text("a")]), second = try insert("Book", ["title": .text("a")])
    try context.save()
    for book in [first, second] { try set(book, "title", .text("b")) }
    try context.save()
    let other = Context(store: library.store)
    try other.delete(other.existingObject(entityNamed: "Book", id: first.id))
    try other.save()
    try context.merge()
    try context.undo()
    #expect(first.isDeleted)
    #expect(try title(second) == "a")
    try context.save()
    try context.redo()
    #expect(try title(second) == "b")
  }

  @Test func aValueThatAnotherChangedMeanwhileIsAConflictOfTheNextSave() throws {
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a")])
    try context.save()
    try set(book, "title", .text("b"))
    try context.save()
    let other = Context(store: library.store)
    let theirs = try other.existingObject(entityNamed: "Book", id: book.id)
    try theirs.set(.text("theirs"), for: theirs.entity.property(named: "title"))
    try other.save()
    try context.undo()
    #expect(try title(book) == "a")
    #expect(failure(of: { try context.save() })?.kind == .conflict)
  }

  @Test func anUndoThatFailsInItsMidstChangesNothing() throws {
    try context.enableUndo(levels: 0)
    let person = try insert("Person"), book = try insert("Book", ["title": .text("a")]), tag = try insert("Tag")
    try context.save()
    try set(person, "name", .text("Ann"))
    try set(book, "title", .text("b"))
    try set(book, "author", .object(person.reference))
    try book.add(tag, to: library.relationship("Book", "tags"))
    try context.delete(insert("Shelf"))
    let shelf = try insert("Shelf")
    try set(book, "shelf", .object(shelf.reference))
    try context.save()
    // What was read of it is forgotten, and cannot be read any more.
    tag.forgetValues()
    _ = try library.store.withConnection { connection throws(Failure) in
      try connection.statement("ALTER TABLE ZTAG RENAME TO HIDDEN").step()
    }
    context.source.moment.end()
    #expect(failure(of: { try context.undo() }) != nil)
    #expect(!context.hasChanges && !shelf.isDeleted && context.undoManager?.canRedo == false)
    #expect(try title(book) == "b" && book.object(of: library.relationship("Book", "author")) === person)
    _ = try library.store.withConnection { connection throws(Failure) in
      try connection.statement("ALTER TABLE HIDDEN RENAME TO ZTAG").step()
    }
    context.source.moment.end()
    try context.undo()
    #expect(try title(book) == "a" && book.value(forKey: "author").isNil && shelf.isDeleted)
    #expect(try book.objects(of: library.relationship("Book", "tags")).isEmpty)
  }

  private final class Meddler: ContextObserver {
    var act: (() throws -> Void)?
    var problem: Failure?
    func loseTrack() {}
    func tellRest() {}
    func preparation() -> (any PreparedObserver)? { nil }
    func follows(_ entity: Entity) -> Bool { true }
    func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {}
    func contextDidChange(_ batch: ChangeBatch) {
      guard let act else { return }
      self.act = nil
      problem = failure(of: act)
    }
  }

  @Test func whatObserversDoWhenTheyAreToldOfAnUndoIsUndoneWithItsRedo() throws {
    let meddler = Meddler()
    context.announcer.add(meddler)
    try context.enableUndo(levels: 0)
    let book = try insert("Book", ["title": .text("a"), "price": .double(1)])
    try context.process()
    try set(book, "title", .text("b"))
    try context.process()
    meddler.act = { try set(book, "price", .double(2)) }
    try context.undo()
    #expect(try title(book) == "a" && book.value(forKey: "price").isIdentical(to: .double(2)))
    try context.redo()
    #expect(try title(book) == "b" && book.value(forKey: "price").isIdentical(to: .double(1)))
    for body: () throws -> Void in [
      { try context.undo() }, { try context.beginUndoGroup(named: nil) }, { try context.disableUndo() },
      { try context.reset() },
    ] {
      meddler.act = body
      try context.undo()
      #expect(meddler.problem?.kind == .invalidState)
      try context.redo()
    }
  }

  @Test func redoingAnInsertionGivesTheSameObjectAndId() throws {
    try context.enableUndo(levels: 0)
    let book = try library.store.withoutReservedIDs { () throws(Failure) in try context.insert(entityNamed: "Book") }
    let later = try insert("Book")
    try set(later, "title", .text("later"))
    try context.undo()
    #expect(book.isDeleted && !context.hasChanges)
    try context.redo()
    #expect(book.id == -1 && context.pending.inserted.contains(book))
    try context.save()
    let id = book.id
    try context.undo()
    try context.save()
    try context.redo()
    try context.save()
    #expect(id > 0 && book.id == id)
    #expect(try context.existingObject(entityNamed: "Book", id: id) === book)
  }

  @Test func aStrangerAtTheIdOfADeletedObjectGivesWay() throws {
    try context.enableUndo(levels: 0)
    let company = try insert("Company", ["name": .text("a")]), book = try insert("Book")
    try set(book, "publisher", .object(company.reference))
    try context.save()
    try context.delete(company)
    try context.save()
    let stranger = context.object(company.reference, entity: company.entity)
    #expect(stranger !== company)
    try context.undo()
    #expect(try context.existingObject(entityNamed: "Company", id: company.id) === company && stranger.isDeleted)
    #expect(try book.object(of: library.relationship("Book", "publisher")) === company)
  }

  @Test func whatCanBeUndoneGoesWithTheContext() throws {
    weak var released: Context?
    weak var held: ManagedObject?
    do {
      let other = Context(store: library.store)
      other.retainExternally()
      try other.enableUndo(levels: 0)
      let book = try other.insert(entityNamed: "Book")
      try other.save()
      try other.delete(book)
      try other.save()
      (released, held) = (other, book)
      other.releaseExternally()
    }
    #expect(released == nil && held == nil)
  }

  @Test func aBatchRequestThatTakesOverWhatRefersToADeletedObjectLeavesWhatCanBeRedone() throws {
    try context.enableUndo(levels: 0)
    let other = Context(store: library.store)
    let theirs = try other.insert(entityNamed: "Book")
    try other.save()
    let person = try insert("Person")
    try context.save()
    _ = try insert("Tag")
    for _ in 0..<2 { try context.undo() }
    try other.merge()
    let author = try other.existingObject(entityNamed: "Person", id: person.id)
    try theirs.set(.object(author.reference), for: theirs.entity.property(named: "author"))
    try other.save()
    let mine = try context.existingObject(entityNamed: "Book", id: theirs.id)
    _ = try context.insertIntoStore(entityNamed: "Label", keys: ["text"], rowCount: 1, merges: true) { _, _ in
      .text("a")
    }
    #expect(try mine.value(forKey: "author").isNil)
    #expect(context.undoManager?.canRedo == true)
    try context.redo()
    #expect(person.isLive)
  }
}
