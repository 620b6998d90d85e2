import Testing

@testable import QuireCore

/// A source that asks another one, and counts what it is asked.
private final class CountingSource: SavedSource {
  private let source: any SavedSource
  private(set) var count = 0

  init(_ source: any SavedSource) { self.source = source }

  private var counted: any SavedSource {
    count += 1
    return source
  }

  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row] { try counted.rows(root: root, ids: ids) }

  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> Set<Int64> { try counted.usedIDs(ids, root: root) }

  func usedIDs(_ ids: [Int64], of entity: Entity) throws(Failure) -> Set<Int64> {
    try counted.usedIDs(ids, of: entity)
  }

  func members(of relationship: Relationship, owner: Int64) throws(Failure) -> [RowIdentifier] {
    try counted.members(of: relationship, owner: owner)
  }

  func readMembers(
    of relationship: Relationship, _ owners: [ManagedObject], in context: Context
  ) throws(Failure) -> [ManagedObject] {
    try counted.readMembers(of: relationship, owners, in: context)
  }

  func owners(
    of members: [ObjectReference], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [Int64] {
    try counted.owners(of: members, through: relationship, from: entity)
  }

  var moment: any Moment { counted.moment }
  var holdsObjects: Bool { counted.holdsObjects }

  func hasNews(for inbox: ChangeInbox) -> Bool { counted.hasNews(for: inbox) }

  func readsAhead(of inbox: ChangeInbox) -> Bool { counted.readsAhead(of: inbox) }

  func giveUpIfAsked() { counted.giveUpIfAsked() }

  func beginMove(_ inbox: ChangeInbox) throws(Failure) -> Move { try counted.beginMove(inbox) }

  func mergeIfAutomatic() throws(Failure) { try counted.mergeIfAutomatic() }

  func save(_ request: SaveRequest, of context: Context) throws(Failure) -> SaveResult? {
    try counted.save(request, of: context)
  }

  var hasPropertiesToSave: Bool { counted.hasPropertiesToSave }

  func batch(
    in context: Context, merges: Bool,
    _ body: (any BatchWriter) throws(Failure) -> ContiguousArray<RowIdentifier>
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try counted.batch(in: context, merges: merges, body)
  }

  func saveProperties(of context: Context) throws(Failure) { try counted.saveProperties(of: context) }

  func announceSave() { counted.announceSave() }

  func obtainPermanentIDs() throws(Failure) { try counted.obtainPermanentIDs() }

  func readNewest(_ body: () throws(Failure) -> Void) throws(Failure) { try counted.readNewest(body) }

  func beginTransaction() { counted.beginTransaction() }

  func endTransaction() { counted.endTransaction() }

  func token() throws(Failure) -> MomentToken { try counted.token() }

  var isPinned: Bool { counted.isPinned }

  func setPinned(_ isPinned: Bool) throws(Failure) { try counted.setPinned(isPinned) }

  func beginMove(_ inbox: ChangeInbox, to token: MomentToken) throws(Failure) -> Move {
    try counted.beginMove(inbox, to: token)
  }

  func checkHasTransactions() throws(Failure) { try counted.checkHasTransactions() }

  func checkHasBatchRequests() throws(Failure) { try counted.checkHasBatchRequests() }

  var noTransaction: Failure { counted.noTransaction }
}

@Suite("What a context reads through")
struct SavedSourceTests {
  private let library: LibraryFixture
  private let source: CountingSource
  private let context: Context

  init() throws {
    library = try LibraryFixture()
    let inbox = ChangeInbox()
    source = CountingSource(StoreSource(library.store, inbox))
    context = Context(store: library.store, source: source, inbox)
  }

  private func book() throws -> (book: ManagedObject, author: ManagedObject) {
    let book = try context.insert(entityNamed: "Book"), author = try context.insert(entityNamed: "Author")
    try book.set(.text("Faust"), for: book.entity.property(named: "title"))
    try book.set(.object(author.reference), for: book.entity.property(named: "author"))
    return (book, author)
  }

  private func asked(by body: () throws -> Void) rethrows -> Int {
    let before = source.count
    try body()
    return source.count - before
  }

  @Test("Values that are there, and changes of them, do not ask the source")
  func valuesThatAreThere() throws {
    let (book, author) = try book()
    try context.save()
    let title = try book.entity.property(named: "title"), writer = try library.relationship("Book", "author")
    let count = try asked {
      for number in 0..<100 {
        let isThere = try !book.value(of: title).isNil && !book.value(of: writer).isNil
        let found = try book.object(of: writer)
        #expect(isThere && found === author)
        try book.set(.text(Text("Faust \(number)")), for: title)
      }
    }
    #expect(count == 0)
  }

  @Test("Faults that are read together ask the source once")
  func faultsThatAreReadTogether() throws {
    for _ in 0..<50 { _ = try book() }
    try context.save()
    let ids = try context.fetch(FetchRequest(entityName: "Book")).rows
    let others = Context(store: library.store, source: source)
    let entity = try library.entity("Book")
    let books = ids.map { others.object(ObjectReference(root: entity.rootNumber, id: $0.id), entity: entity) }
    let count = try asked { try others.fulfil(books) }
    #expect(count == 1)
    #expect(books.count == 50 && books.allSatisfy { !$0.isFault })
  }

  @Test("Everything that is saved comes through the source, and everything that is pending goes to it")
  func everythingGoesThroughTheSource() throws {
    let (book, author) = try book()
    let relationship = try library.relationship("Author", "books")
    let saving = try asked { try context.save() }
    #expect(saving >= 2)
    let other = Context(store: library.store, source: source)
    let found = try other.existingObject(entityNamed: "Author", id: author.id)
    var books: [Int64] = [], count = 0
    let reading = try asked { books = try found.objects(of: relationship).map(\.id) }
    let counting = try asked { count = try other.count(FetchRequest(entityName: "Book")) }
    #expect(reading > 0 && books == [book.id])
    #expect(counting > 0 && count == 1)
    try book.set(.text("Egmont"), for: book.entity.property(named: "title"))
    try context.save()
    let merging = try asked { try other.merge() }
    #expect(merging > 0)
  }

  @Test("What a context above has is what a child finds saved")
  func whatAParentHas() throws {
    let (book, author) = try book()
    let relationship = try library.relationship("Author", "books")
    let saved = ParentSource(context)
    #expect(saved.holdsObjects && saved.moment === context.source.moment)
    #expect(try saved.rows(root: book.entity.root, ids: [book.id, book.id + 1000]).map(\.id) == [book.id])
    #expect(try saved.usedIDs([book.id, book.id + 1000], of: book.entity) == [book.id])
    #expect(try saved.members(of: relationship, owner: author.id).map(\.id) == [book.id])
    let inverse = try library.relationship("Book", "author")
    #expect(try saved.owners(of: [author.reference], through: inverse, from: book.entity) == [book.id])
    #expect(try library.store.newest.rows(root: book.entity.root, ids: [book.id]).isEmpty)
    try context.delete(book)
    #expect(try saved.rows(root: book.entity.root, ids: [book.id]).isEmpty)
    #expect(throws: Failure.self) { try saved.checkHasTransactions() }
    #expect(throws: Failure.self) { try saved.checkHasBatchRequests() }
  }
}
