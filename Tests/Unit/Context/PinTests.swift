import Testing

@testable import QuireCore

/// Contexts that stay at one moment, beyond what the tests in C see.
@Suite("Pins")
struct PinTests {
  private let library: LibraryFixture
  private var store: Store { library.store }

  init() throws { library = try LibraryFixture() }

  private func book(_ title: String, in context: Context) throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try book.set(.text(Text(title)), for: book.entity.property(named: "title"))
    return book
  }

  private func insert(_ title: String) throws {
    let writer = Context(store: store)
    _ = try book(title, in: writer)
    try writer.save()
  }

  private func count(_ context: Context) throws -> Int { try context.count(FetchRequest(entityName: "Book")) }

  private func title(_ object: ManagedObject) throws -> Value { try object.value(forKey: "title") }

  private func run(_ sql: String) throws {
    try store.withConnection { connection throws(Failure) in try connection.execute(sql) }
  }

  @Test("A move that fails leaves the context, its inbox and its pin as they were", arguments: [true, false])
  func failing(isBack: Bool) throws {
    try insert("a")
    func holder() throws -> (Context, ManagedObject) {
      let context = Context(store: store), book = try context.existingObject(entityNamed: "Book", id: 1)
      #expect(try title(book).isIdentical(to: .text("a")))
      return (context, book)
    }
    let before = isBack ? nil : try holder()
    // A price that is no number cannot be read.
    try run("UPDATE ZBOOK SET ZPRICE = 'much', Z_OPT = Z_OPT + 1")
    let aim = Context(store: store)
    #expect(try count(aim) == 1)
    try run("UPDATE ZBOOK SET ZPRICE = 1, Z_OPT = Z_OPT + 1")
    let (context, book) = try before ?? holder()
    try insert("b")
    let commit = context.source.moment.commit, token = try aim.momentToken()
    #expect(failure { try context.pin(at: token) }?.kind == .database)
    #expect(try context.source.moment.commit == commit && count(context) == 1 && !context.source.isPinned)
    #expect(try title(book).isIdentical(to: .text("a")))
    #expect(try !context.inbox.isEmpty && count(aim) == 1)
    try context.merge()
    #expect(try count(context) == 2 && book.value(forKey: "price").isIdentical(to: .double(1)))
    #expect(context.inbox.isEmpty)
  }

  @Test("Going back files what lies between as unknown, and going on takes what is kept apart")
  func inboxes() throws {
    try insert("a")
    let context = Context(store: store), other = Context(store: store)
    #expect(try count(context) == 1)
    try insert("b")
    #expect(try count(other) == 2)
    let later = try other.momentToken(), earlier = try context.momentToken()
    try insert("c")
    var move = try context.source.beginMove(context.inbox, to: later)
    #expect(move.change?.inserted.count == 1 && move.change?.isUnknown == false)
    move.cancel()
    try context.pin(at: later)
    #expect(context.inbox.take()?.inserted.count == 1)
    // What was taken is lost to this context now, so that it is not asked any more.
    let third = Context(store: store)
    #expect(try count(third) == 3)
    let back = Context(store: store)
    #expect(failure { try back.pin(at: earlier) }?.kind == .notFound)
    move = try third.source.beginMove(third.inbox, to: later)
    #expect(move.change?.isUnknown == true && third.inbox.isEmpty)
    move.cancel()
    #expect(third.inbox.isEmpty)
    try third.pin(at: later)
    #expect(try count(third) == 2 && !third.inbox.isEmpty)
    #expect(third.inbox.take()?.isUnknown == true)
  }

  @Test("Where commits are not kept apart any more, a moment before the last of them is gone to as if nothing told")
  func foldedInbox() {
    let inbox = ChangeInbox()
    #expect(inbox.keepsApart(upTo: 0))
    for number in 1...70 as ClosedRange<Int64> {
      var change = StoreChange()
      change.updated = [RowIdentifier(id: number, entity: 1)]
      inbox.post([change], of: number)
    }
    #expect(!inbox.keepsApart(upTo: 64) && inbox.keepsApart(upTo: 65) && inbox.keepsApart(upTo: 70))
    #expect(inbox.take(upTo: 66)?.updated.count == 66)
    #expect(inbox.keepsApart(upTo: 1))
    inbox.loseTrack()
    let left = inbox.take()
    #expect(left?.isUnknown == true && left?.updated.isEmpty == true && inbox.isEmpty)
  }

  @Test("An object that is gone at an earlier moment is the same object when its row is there again")
  func returning() throws {
    try insert("a")
    let early = Context(store: store), context = Context(store: store)
    #expect(try count(early) == 1)
    let mine = try book("b", in: context)
    try context.save()
    try context.pin(at: early.momentToken())
    #expect(try !mine.isLive && count(context) == 1)
    try context.merge()
    #expect(try mine.isLive && title(mine).isIdentical(to: .text("b")))
    #expect(try context.existingObject(entityNamed: "Book", id: mine.id) === mine && count(context) == 2)
  }

  @Test("A hook, an undo and a merge handler move no context")
  func withinCalls() throws {
    try insert("a")
    let early = Context(store: store), context = Context(store: store)
    #expect(try count(early) == 1)
    try insert("b")
    #expect(try count(context) == 2)
    let aim = try early.momentToken()
    let kinds = try context.during(.inHook) { () throws(Failure) in failure { try context.pin(at: aim) }?.kind }
    #expect(kinds == .invalidState)
    #expect(context.during(.askingHandler) { failure { try context.pin() }?.kind } == .invalidState)
    #expect(context.during(.askingHandler) { failure { _ = try context.momentToken() }?.kind } == .invalidState)
    #expect(try !context.source.isPinned && count(context) == 2)
  }

  @Test("A moment that was given up can neither be named nor kept, until a merge")
  func givenUp() throws {
    try insert("a")
    let context = Context(store: store)
    #expect(try count(context) == 1)
    try insert("b")
    try context.momentOnSQLite.giveUp()
    #expect(context.readsAhead && failure { try context.pin() }?.kind == .invalidState)
    #expect(failure { _ = try context.momentToken() }?.kind == .invalidState && !context.source.isPinned)
    try context.merge()
    try context.pin()
    #expect(try !context.readsAhead && count(context) == 2)
    try insert("c")
    try context.momentOnSQLite.giveUp()
    #expect(try !context.readsAhead && count(context) == 2)
    try context.unpin()
    try context.momentOnSQLite.giveUp()
    #expect(try context.readsAhead && count(context) == 3)
    try context.merge()
    let token = try context.momentToken()
    #expect(try token.changes == store.commits.newestState.changes && count(context) == 3)
  }

  @Test("A commit that changes no objects is the same moment")
  func commitsWithoutChanges() throws {
    try insert("a")
    let context = Context(store: store)
    let before = try context.momentToken()
    try store.withConnection { connection throws(Failure) in
      try connection.transaction { () throws(Failure) in
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
      }
    }
    let other = Context(store: store), after = try other.momentToken()
    #expect(before.isEqual(to: after) && context.source.moment.commit != other.source.moment.commit)
    try other.pin(at: before)
    #expect(try other.source.isPinned && count(other) == 1)
  }

  @Test("Commits of another program lie between moments")
  func otherPrograms() throws {
    try insert("a")
    let early = Context(store: store), context = Context(store: store)
    #expect(try count(early) == 1)
    let number = try library.number("Book")
    try store.withConnection { connection throws(Failure) in
      try connection.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (77, \(number), 1, 'b')")
    }
    #expect(try count(context) == 2)
    let late = try context.momentToken()
    try context.pin(at: early.momentToken())
    #expect(try count(context) == 1)
    // It is the newest one still.
    try context.pin(at: late)
    #expect(try count(context) == 2)
  }

  @Test("Without a write-ahead log there are no moments")
  func withoutLog() throws {
    let folder = try TemporaryFolder(), path = LibraryFixture.path(in: folder)
    let made = try Store.open(path: path, model: LibraryFixture.makeModel())
    try made.close()
    let outside = try Connection.opened(path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    defer { outside.close() }
    try outside.execute("PRAGMA journal_mode = DELETE")
    try outside.execute("BEGIN")
    _ = try outside.schemaNumber()
    let store = try Store.open(path: path, model: LibraryFixture.makeModel())
    #expect(!store.holdsMoments)
    let context = Context(store: store)
    #expect(failure { try context.pin() }?.kind == .unsupported)
    #expect(failure { _ = try context.momentToken() }?.kind == .unsupported)
    let token = try Context(store: self.store).momentToken()
    #expect(failure { try context.pin(at: token) }?.kind == .unsupported)
    #expect(!context.source.isPinned)
    try context.unpin()
  }
}
