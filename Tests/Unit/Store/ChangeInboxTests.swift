import Glibc
import Testing

@testable import QuireCore

/// What comes into the inbox of a context, commit by commit.
@Suite("Changes by commit")
struct ChangeInboxTests {
  private let inbox = ChangeInbox()

  private func row(_ id: Int64) -> RowIdentifier { RowIdentifier(id: id, entity: 1) }

  private func change(_ body: (inout StoreChange) -> Void) -> StoreChange {
    var change = StoreChange()
    body(&change)
    return change
  }

  private func inserted(_ ids: Int64...) -> StoreChange { change { $0.inserted = ContiguousArray(ids.map(row)) } }
  private func updated(_ ids: Int64...) -> StoreChange { change { $0.updated = ContiguousArray(ids.map(row)) } }
  private func deleted(_ ids: Int64...) -> StoreChange { change { $0.deleted = ContiguousArray(ids.map(row)) } }

  /// What is taken, in short: the ids that came, changed, went and came back.
  private func take(upTo commit: Int64 = .max) -> String? {
    inbox.take(upTo: commit).map { change in
      zip("+~-", [change.inserted, change.updated, change.deleted]).map { sign, rows in
        rows.map { "\(sign)\($0.id)\(change.returned.contains($0) ? "!" : "")" }.joined()
      }.joined() + (change.isUnknown ? "?" : "")
    }
  }

  private var pollsReadable: Bool {
    get throws {
      var waiting = pollfd(fd: try inbox.descriptor(with: nil), events: Int16(POLLIN), revents: 0)
      return poll(&waiting, 1, 0) == 1
    }
  }

  @Test("What is taken up to a commit is what came with that one and those before it")
  func upToACommit() {
    inbox.post([inserted(1, 2)], of: 1)
    inbox.post([updated(1), inserted(3)], of: 2)
    inbox.post([deleted(1)], of: 4)
    #expect(!inbox.hasChanges(upTo: 0) && inbox.hasChanges(upTo: 1))
    #expect(take(upTo: 0) == nil && !inbox.isEmpty)
    #expect(take(upTo: 1) == "+1+2")
    #expect(!inbox.hasChanges(upTo: 1) && inbox.hasChanges(upTo: 2))
    #expect(take(upTo: 1) == nil)
    #expect(take(upTo: 3) == "+3~1")
    #expect(take(upTo: 3) == nil && !inbox.isEmpty)
    #expect(take() == "-1")
    #expect(take() == nil && inbox.isEmpty)
  }

  @Test("Of several commits the end of each row is taken")
  func endsOfRows() {
    inbox.post([inserted(1), inserted(2), updated(3, 4), deleted(5)], of: 1)
    inbox.post([deleted(1, 3)], of: 2)
    inbox.post([.unknown], of: 3)
    inbox.post([inserted(5)], of: 4)
    inbox.post([inserted(9)], of: 5)
    #expect(take(upTo: 4) == "+2~4~5!-1-3?")
    #expect(take(upTo: 5) == "+9")
  }

  @Test("Commits are kept apart up to sixty-four, and beyond that folded together")
  func foldingBeyondTheLimit() {
    for number in Int64(1)...64 { inbox.post([inserted(number)], of: number) }
    #expect(take(upTo: 1) == "+1")
    for number in Int64(65)...66 { inbox.post([inserted(number)], of: number) }
    #expect(inbox.take(upTo: 2)?.inserted.map(\.id) == (2...66).map(Int64.init))
    // However many there are, a row that changes with each has one end.
    for number in Int64(67)...1000 { inbox.post([updated(7)], of: number) }
    #expect(take() == "~7" && inbox.isEmpty)
  }

  @Test("Nothing is folded while the context is about to say up to which commit it takes")
  func noFoldingWhileTaking() {
    inbox.prepareToTake()
    for number in Int64(1)...200 { inbox.post([inserted(number)], of: number) }
    #expect(inbox.take(upTo: 30)?.inserted.map(\.id) == (1...30).map(Int64.init))
    inbox.prepareToTake()
    inbox.post([inserted(201)], of: 201)
    #expect(inbox.take(upTo: 100)?.inserted.map(\.id) == (31...100).map(Int64.init))
    // From now on it is folded again.
    inbox.post([inserted(202)], of: 202)
    #expect(inbox.take(upTo: 101)?.inserted.map(\.id) == (101...202).map(Int64.init))
    inbox.prepareToTake()
    for number in Int64(203)...300 { inbox.post([inserted(number)], of: number) }
    inbox.takeNothing()
    inbox.post([inserted(301)], of: 301)
    #expect(inbox.take(upTo: 203)?.inserted.map(\.id) == (203...301).map(Int64.init))
    #expect(inbox.isEmpty)
  }

  @Test("What is put back is taken with the next, as if it had not been taken", arguments: [true, false])
  func puttingBack(isFolded: Bool) throws {
    inbox.post([inserted(1), updated(2), deleted(3, 4)], of: 1)
    inbox.post([.unknown], of: 1)
    inbox.prepareToTake()
    let taken = try #require(inbox.take(upTo: 1))
    // Others commit meanwhile, and perhaps so much that it is folded.
    inbox.post([deleted(1, 2), inserted(3, 5)], of: 2)
    if isFolded { for number in Int64(3)...80 { inbox.post([updated(6)], of: number) } }
    inbox.putBack(taken)
    #expect(inbox.hasChanges(upTo: 1))
    if !isFolded { #expect(take(upTo: 1) == "+1~2-3-4?") } else { #expect(take() == "+5~3!~6-1-2-4?") }
    if !isFolded {
      inbox.putBack(taken)
      #expect(take() == "+5~3!-1-2-4?")
    }
    #expect(inbox.isEmpty)
  }

  @Test("Owners whose members are others are taken by commit, and put back")
  func memberships() throws {
    let library = try LibraryFixture(), books = try library.relationship("Person", "books")
    func members(_ ids: Int64...) -> StoreChange { change { $0.membershipChanges = [(books, ids.map(row))] } }
    inbox.post([members(1)], of: 1)
    inbox.post([members(2, 1)], of: 2)
    inbox.post([members(3)], of: 3)
    let first = try #require(inbox.take(upTo: 2))
    #expect(first.membershipChanges.map(\.owners) == [[row(1), row(2)]])
    inbox.putBack(first)
    #expect(inbox.take()?.membershipChanges.map(\.owners) == [[row(1), row(2), row(3)]])
    #expect(inbox.isEmpty)
  }

  @Test("Its descriptor polls readable for as long as there is something to take, of whatever commit")
  func descriptors() throws {
    #expect(try !pollsReadable)
    inbox.post([inserted(1)], of: 1)
    inbox.post([inserted(2)], of: 2)
    #expect(try pollsReadable)
    let taken = try #require(inbox.take(upTo: 1))
    #expect(try pollsReadable)
    #expect(take(upTo: 2) == "+2")
    #expect(try !pollsReadable)
    inbox.putBack(taken)
    #expect(try pollsReadable)
    inbox.close()
    #expect(try !pollsReadable)
    inbox.post([inserted(3)], of: 3)
    #expect(try !pollsReadable && inbox.isEmpty)
  }

  @Test("A context is told of what others commit, and not of its own commits")
  func writers() throws {
    let library = try LibraryFixture()
    let mine = Context(store: library.store), other = Context(store: library.store)
    _ = try mine.insert(entityNamed: "Tag")
    try mine.save()
    #expect(mine.inbox.isEmpty && !other.inbox.isEmpty)
    _ = try other.update(FetchRequest(entityName: "Tag"), [("word", .text("a"))], merges: true)
    #expect(!mine.inbox.isEmpty && other.inbox.isEmpty)
    // A batch request that is not merged is told to others alone. What others committed before it is taken over.
    _ = try mine.update(FetchRequest(entityName: "Tag"), [("word", .text("b"))], merges: false)
    #expect(mine.inbox.isEmpty && !other.inbox.isEmpty)
  }

  /// Has done with the inbox as soon as it begins.
  private final class QuickReader: InboxReader {
    private let inbox: ChangeInbox
    let beginnings = Guarded(0)

    init(_ inbox: ChangeInbox) { self.inbox = inbox }

    func look(isEmpty: Bool, rowCount: Int) -> (isToTell: Bool, begins: Bool) {
      (!isEmpty, !isEmpty && beginnings.withLock { $0 == 0 })
    }

    func begin() {
      beginnings.withLock { $0 += 1 }
      inbox.noteRead()
    }
  }

  @Test("What is worked out of an inbox may end as soon as it begins", .timeLimit(.minutes(1)))
  func quickReader() throws {
    let reader = QuickReader(inbox)
    inbox.follow(by: reader)
    inbox.post([inserted(1)], of: 1)
    #expect(try reader.beginnings.withLock { $0 } == 1 && pollsReadable)
    #expect(take() == "+1")
  }

  @Test("A context that comes and reads while another one writes is told that something has changed")
  func contextThatComes() throws {
    let store = try LibraryFixture().store, request = FetchRequest(entityName: "Tag")
    var late: Context?
    let tag = try store.model.entity(named: "Tag")
    var save = SaveRequest()
    save.inserts.append(
      SaveRequest.Insert(
        entity: tag, id: try store.allocateIDs(root: tag, count: 1),
        values: ContiguousArray(repeating: .nil, count: tag.properties.count)))
    _ = try store.save(save) { _ throws(Failure) in
      // No context follows by then.
      store.publish(Publication(changes: [], writer: ChangeInbox()))
      let context = Context(store: store)
      if try context.count(request) == 0 { late = context }
    }
    let context = try #require(late)
    #expect(try context.count(request) == 0 && !context.inbox.isEmpty)
    try context.merge()
    #expect(try context.count(request) == 1)
  }
}
