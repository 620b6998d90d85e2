import Testing

@testable import QuireCore

@Suite("The parts of a context")
struct ContextPartsTests {
  private let library: LibraryFixture
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    context = Context(store: library.store)
  }

  private func savedBook() throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try context.save()
    return book
  }

  /// In which of the sets an object is.
  private func places(_ object: ManagedObject) -> [String] {
    let pending = context.pending
    return [("inserted", pending.inserted), ("updated", pending.updated), ("deleted", pending.deleted)]
      .filter { $0.1.contains(object) }.map(\.0)
  }

  @Test("A deletion moves an object to the deleted, and back with its changes")
  func deletionAndBack() throws {
    let book = try savedBook()
    book.write(.text("Emma"), at: try book.entity.property(named: "title").slot)
    #expect(places(book) == ["updated"])
    context.pending.delete(book, isCancelledInsert: false)
    #expect(places(book) == ["deleted"] && book.state == .deleted)
    context.pending.takeBack(book)
    #expect(places(book) == ["updated"] && book.state == .saved)
    #expect(context.pending.takeAwaitingDeleteRules() == nil)
  }

  @Test("An inserted object that is deleted is gone, and is inserted when it is taken back")
  func deletionOfInsertion() throws {
    let book = try context.insert(entityNamed: "Book")
    context.pending.delete(book, isCancelledInsert: true)
    #expect(places(book).isEmpty && book.state == .gone && context.pending.isCancelledInsert(book))
    context.pending.takeBack(book)
    #expect(places(book) == ["inserted"] && book.state == .inserted)
    // A deletion by the program is another one.
    context.pending.delete(book, isCancelledInsert: false)
    #expect(!context.pending.isCancelledInsert(book))
    let awaiting = context.pending.takeAwaitingDeleteRules()
    #expect(awaiting?.count == 1 && awaiting?.first === book && context.pending.takeAwaitingDeleteRules() == nil)
  }

  @Test("Holders follow a reference that becomes another")
  func renamedHolders() throws {
    let book = try savedBook()
    let old = ObjectReference(root: 1, id: -7), new = ObjectReference(root: 1, id: 7)
    context.pending.noteHolder(book, of: old)
    context.pending.renameHolders(of: old, to: new)
    #expect(context.pending.holders(of: old).isEmpty && context.pending.holders(of: new).contains(book))
  }

  @Test("An object that is gone comes back with its row, without values")
  func readmission() throws {
    let book = try savedBook()
    let reference = book.reference
    #expect(context.table.goneObject(reference) == nil)
    #expect(context.table.noteMissing(reference) && !context.table.noteMissing(reference))
    context.markGone(book)
    #expect(context.registeredObject(reference) == nil && context.table.goneObject(reference) === book)
    #expect(context.table.readmit(reference) === book && context.registeredObject(reference) === book)
    #expect(book.state == .saved && book.isFault && context.table.noteMissing(reference))
    #expect(context.table.readmit(reference) == nil)
  }

  @Test("Activities end with what they stand for, failed or not")
  func activities() throws {
    #expect(context.activity.isEmpty)
    let failed = failure {
      try context.during(.inHook) { () throws(Failure) in
        try context.during(.notifying) { () throws(Failure) in
          #expect(context.activity == [.inHook, .notifying])
          #expect(failure(of: { try context.checkMayReset() })?.kind == .invalidState)
          #expect(failure(of: { try context.checkMayChange() }) == nil)
          try context.during(.inHook, context.checkMayReset)
        }
      }
    }
    #expect(failed?.kind == .invalidState && context.activity.isEmpty)
  }

  @Test("The clock counts changes apart from new values")
  func clock() {
    var clock = ContextClock()
    #expect(clock.noteChange() == 1 && clock.change == 1 && clock.generation == 0)
    clock.noteNewValues()
    #expect(clock.change == 1 && clock.generation == 1)
  }

  @Test("A child knows what it has read before it was told, until it takes that over")
  func earlyReading() throws {
    let parent = Context(store: try LibraryFixture().store)
    let child = Context(parent: parent)
    let books = try (0..<2).map { _ in try parent.insert(entityNamed: "Book") }
    try parent.save()
    try child.merge()
    let list = try ResultsController(
      context: child, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: true)
    func read(_ place: Int) throws -> ManagedObject {
      let object = try child.existingObject(entityNamed: "Book", id: books[place].id)
      try child.fulfil([object])
      return object
    }
    let early = child.earlyReading
    let first = try read(0)
    #expect(!early.mayContain(first))
    try books[1].set(.text("Anna"), for: books[1].entity.property(named: "title"))
    let second = try read(1)
    #expect(early.mayContain(second) && !early.mayContain(first))
    try list.performFetch()
    #expect(early.mayContain(first))
    try parent.process()
    try child.merge()
    #expect(!early.mayContain(first) && !early.mayContain(second))
    #expect(parent.earlyReading.isEmpty)
  }

  @Test("A context that comes to its end while the store looks at it ends after that", .timeLimit(.minutes(1)))
  func endWhileVisited() throws {
    let context = Context(store: try LibraryFixture().store)
    _ = try context.insert(entityNamed: "Tag")
    context.retainExternally()
    let isVisited = context.confinement.whileFree {
      context.releaseExternally()
      #expect(context.hasChanges && failure { try context.confinement.enter() }?.kind == .wrongThread)
    }
    #expect(isVisited && !context.hasChanges)
    try context.confinement.enter()
    context.confinement.leave()
  }

  @Test("What the program gave is let go of by a call of the program, not while the store looks at a context")
  func lettingGoWhileVisited() throws {
    let context = Context(store: try LibraryFixture().store), confinement = context.confinement
    let count = Guarded(0)
    func letGo() { confinement.asProgram { count.withLock { $0 += 1 } } }
    letGo()
    #expect(count.withLock { $0 } == 1)
    #expect(confinement.whileFree(letGo) && count.withLock { $0 } == 1)
    try confinement.enter()
    #expect(count.withLock { $0 } == 1)
    confinement.leave()
    #expect(count.withLock { $0 } == 2)
  }
}
