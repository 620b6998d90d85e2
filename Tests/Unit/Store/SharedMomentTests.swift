import Glibc
import Testing

@testable import QuireCore

/// Moments that read by one transaction, and those that are pinned.
@Suite("Shared moments")
struct SharedMomentTests {
  private let library: LibraryFixture
  private var store: Store { library.store }

  init() throws { library = try LibraryFixture() }

  private func insert(_ word: String) throws {
    let writer = Context(store: store), tag = try writer.insert(entityNamed: "Tag")
    try tag.set(.text(Text(word)), for: tag.entity.property(named: "word"))
    try writer.save()
  }

  private func count(_ moment: SQLiteMoment) throws(Failure) -> Int { try SharedMomentTests.count(moment) }

  private static func count(_ moment: SQLiteMoment) throws(Failure) -> Int {
    try moment.count(FetchPlan(entity: moment.model.entity(named: "Tag")))
  }

  /// No call of its context is ever under way.
  private let free = MomentHolder(whileFree: { $0() }, isInUse: { false })

  private func connection(_ moment: SQLiteMoment) throws -> ObjectIdentifier {
    try moment.withConnection { connection throws(Failure) in ObjectIdentifier(connection) }
  }

  /// Two moments of one state with one tag, which is not the newest.
  private func pair() throws -> (first: SQLiteMoment, second: SQLiteMoment) {
    try insert("a")
    let first = SQLiteMoment(of: store, for: free), second = SQLiteMoment(of: store)
    try first.begin()
    try insert("b")
    #expect(second.begin(with: first, at: try first.begin().changes))
    #expect(try count(first) == 1 && count(second) == 1 && connection(first) == connection(second))
    return (first, second)
  }

  @Test("What one of them does leaves the other one where it is", arguments: ["end", "renew", "give up", "free"])
  func leaving(way: String) throws {
    var (first, second) = try pair()
    let shared = try connection(first)
    switch way {
    case "end": first.end()
    case "renew": first.renew()
    case "give up": first.giveUp()
    default: first = SQLiteMoment(of: store)
    }
    #expect(first.isLost == (way == "give up") && !second.isLost)
    try insert("c")
    #expect(try count(second) == 1 && connection(second) == shared)
    #expect(try count(first) == (way == "renew" ? 2 : 3) && connection(first) != shared)
    // The last one has the transaction alone.
    second.renew()
    #expect(try count(second) == 3 && connection(second) == shared)
  }

  @Test("A connection is given back by the last of them")
  func givingBack() throws {
    let (first, second) = try pair()
    let shared = try connection(first)
    first.end()
    let other = SQLiteMoment(of: store)
    #expect(try connection(other) != shared)
    second.end()
    #expect(try connection(first) == shared)
    withExtendedLifetime(other) {}
  }

  @Test("A moment that is elsewhere, or has not begun, cannot be shared")
  func elsewhere() throws {
    let (first, second) = try pair()
    let changes = try first.begin().changes, third = SQLiteMoment(of: store)
    #expect(!third.begin(with: first, at: changes + 1) && !third.begin(with: SQLiteMoment(of: store), at: changes))
    #expect(third.contents == nil)
    first.renew()
    #expect(!third.begin(with: first, at: changes))
    #expect(third.begin(with: second, at: changes))
    #expect(try count(third) == 1)
  }

  @Test("Moments at the newest commit take hold of it again together, unless one of them is in use")
  func beginningAnew() throws {
    try insert("a")
    let first = SQLiteMoment(of: store), second = SQLiteMoment(of: store)
    let changes = try first.begin().changes
    #expect(second.begin(with: first, at: changes))
    // A commit that changes nothing for them.
    try store.withConnection { connection throws(Failure) in
      try connection.transaction { () throws(Failure) in
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
      }
    }
    let newest = store.commits.newest
    #expect(try #require(first.commit) < newest)
    try first.withConnection { (_) throws(Failure) in
      let folder = OtherThread { second.beginAnew() }
      folder.join()
      #expect(second.commit != newest)
    }
    second.beginAnew()
    #expect(first.commit == newest && second.commit == newest)
    #expect(try first.begin().changes == changes && connection(first) == connection(second))
    #expect(!first.isLost && !second.isLost)
  }

  @Test("A use waits for a use of what shares its transaction, and for no other")
  func waiting() throws {
    let (first, second) = try pair()
    let third = SQLiteMoment(of: store), order = Guarded<[String]>([])
    @Sendable func note(_ word: String) { order.withLock { $0.append(word) } }
    var waiter: OtherThread?
    try first.withConnection { (_) throws(Failure) in
      let free = OtherThread {
        _ = try? SharedMomentTests.count(third)
        note("third")
      }
      free.join()
      waiter = OtherThread {
        _ = try? SharedMomentTests.count(second)
        note("second")
      }
      waiter?.waitUntilAsleep()
      note("first")
    }
    waiter?.join()
    #expect(order.withLock { $0 } == ["third", "first", "second"])
  }

  @Test("A moment that goes on or ends waits for no use of what shares its transaction", arguments: [true, false])
  func leavingWithoutWaiting(renews: Bool) throws {
    let (first, second) = try pair()
    try second.withConnection { (_) throws(Failure) in
      let mover = OtherThread { if renews { first.renew() } else { first.end() } }
      mover.join()
      #expect(first.contents == (renews ? store.commits.newestState : nil))
      let third = SQLiteMoment(of: store)
      let joiner = OtherThread { _ = third.begin(with: second, at: 1) }
      joiner.join()
      #expect(third.contents == second.contents)
    }
    #expect(try count(first) == 2 && count(second) == 1)
  }

  @Test("A store is not closed while one of them is in use, and both fail then")
  func closing() throws {
    let (first, second) = try pair()
    try first.withConnection { (_) throws(Failure) in
      #expect(failure { try store.close() }?.kind == .invalidState)
    }
    #expect(try count(second) == 1)
    try store.close()
    for moment in [first, second] {
      #expect(failure { _ = try count(moment) }?.kind == .closed)
      #expect(moment.contents == nil)
    }
  }

  @Test("A pinned moment is not given up")
  func pinned() throws {
    let moment = SQLiteMoment(of: store, isPinned: true, for: free)
    try moment.begin()
    try insert("a")
    moment.giveUp()
    #expect(try !moment.isLost && count(moment) == 0)
    moment.isPinned = false
    moment.giveUp()
    #expect(try moment.isLost && count(moment) == 1)
  }

  @Test("Contexts on threads go to a moment of another one while it is there, and show it as a whole")
  func threads() throws {
    for number in 0..<10 { try insert("\(number)") }
    let store = store, offered = Guarded<(MomentToken, Int)?>(nil), problems = Guarded<[String]>([])
    let arrivals = Guarded(0), isDone = Guarded(false)
    @Sendable func count(in context: Context) throws -> Int { try context.count(FetchRequest(entityName: "Tag")) }
    let threads = (0..<3).map { number in
      OtherThread {
        do {
          let context = Context(store: store)
          var round = number
          while !isDone.withLock({ $0 }) {
            round += 1
            switch round % 4 {
            case 0: try context.merge()
            case 1:
              let before = try count(in: context), token = try context.momentToken()
              if try count(in: context) != before { problems.withLock { $0.append("a moment has moved") } }
              offered.withLock { $0 = (token, before) }
            default:
              guard let (token, expected) = offered.withLock({ $0 }) else { continue }
              do throws(Failure) { try context.pin(at: token) } catch {
                if error.kind != .notFound { throw error }
                continue
              }
              arrivals.withLock { $0 += 1 }
              let found = try count(in: context)
              if found != expected { problems.withLock { $0.append("\(found) and not \(expected)") } }
              if round % 3 == 0 { try context.unpin() }
            }
          }
        } catch { problems.withLock { $0.append("\(error)") } }
      }
    }
    var number = 0
    try OtherThread.wait {
      try insert("more \(number)")
      number += 1
      return number >= 60 && arrivals.withLock { $0 } >= 60
    }
    isDone.withLock { $0 = true }
    for thread in threads { thread.join() }
    #expect(problems.withLock { $0 } == [])
  }
}
