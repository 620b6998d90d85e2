import Glibc
import Testing

@testable import QuireCore

/// The limit of the write-ahead log, and what is told of the log.
@Suite("The state of the log")
struct LogStateTests {
  private static let limit = 64 << 10

  private func open(
    limit: Int?, in folder: TemporaryFolder? = nil, busyTimeout: Int32 = 5000
  ) throws -> Store {
    try Store.open(
      path: folder.map(LibraryFixture.path) ?? ":memory:", model: LibraryFixture.makeModel(),
      options: Store.Options(busyTimeoutMilliseconds: busyTimeout, logLimit: limit))
  }

  private func insert(in store: Store, text: String = "a") throws {
    let writer = Context(store: store), tag = try writer.insert(entityNamed: "Tag")
    try tag.set(.text(Text(text)), for: tag.entity.property(named: "word"))
    try writer.save()
  }

  private func count(_ context: Context) throws -> Int { try context.count(FetchRequest(entityName: "Tag")) }

  /// Waits for the end of the folding that the last commit may have begun, and does this meanwhile.
  private func awaitFolding(of store: Store, _ meanwhile: () -> Void = {}) {
    OtherThread.wait {
      meanwhile()
      return store.folding.thread.isIdle
    }
  }

  /// Commits of a page and more, with the foldings that they begin.
  private func fill(_ store: Store, _ times: Int, _ meanwhile: () -> Void = {}) throws {
    for _ in 0..<times {
      try insert(in: store, text: String(repeating: "a", count: 5000))
      awaitFolding(of: store, meanwhile)
    }
  }

  /// Commits until that is so, and returns how many it took. Each fills two pages, so that a thousand are far more than
  /// any limit here.
  private func fill(_ store: Store, _ meanwhile: () -> Void = {}, until isSo: () throws -> Bool) throws -> Int {
    for count in 0..<1000 {
      if try isSo() { return count }
      try fill(store, 1, meanwhile)
    }
    Issue.record("It has not happened within a thousand commits.")
    return 1000
  }

  @Test("Foldings begin at a sixteenth of the limit and insist from a quarter on", arguments: [nil, 64 << 10, 10 << 20])
  func limits(limit: Int?) throws {
    let folding = try open(limit: limit).folding, pages = (limit ?? 16 << 20) / 4096
    #expect(folding.firstPageCount == pages / 16 && folding.insistentPageCount == pages / 4)
    #expect(folding.mostPageCount == pages)
    #expect(LogFolding(pageSize: 4096, isInMemory: false, limit: nil).mostPageCount == 64 << 8)
    // A file may have larger pages than that.
    let least = LogFolding(pageSize: 65536, isInMemory: false, limit: limit)
    #expect(least.firstPageCount >= 1 && least.mostPageCount == 16 * least.firstPageCount)
  }

  @Test("A limit that is too small is refused", arguments: [-1, 1, (64 << 10) - 1])
  func tooSmall(limit: Int) throws {
    let folder = try TemporaryFolder()
    #expect(failure { _ = try open(limit: limit, in: folder) }?.kind == .invalidArgument)
    #expect(access(LibraryFixture.path(in: folder).string, F_OK) != 0)
    #expect(failure { _ = try open(limit: limit) }?.kind == .invalidArgument)
  }

  @Test("Beyond the limit the moment of a context is given up, and the log begins anew", arguments: [true, false])
  func givingUp(isInFile: Bool) throws {
    let folder = isInFile ? try TemporaryFolder() : nil
    let store = try open(limit: LogStateTests.limit, in: folder), reader = Context(store: store)
    #expect(try count(reader) == 0)
    try fill(store, 1)
    #expect(try !reader.readsAhead && store.logState().olderCount == 1)
    let more = try fill(store) { reader.readsAhead }
    #expect(try store.logState().olderCount == 0)
    let rest = try fill(store) { try store.logState().size < LogStateTests.limit }
    try reader.process()
    #expect(try count(reader) == 1 + more + rest)
  }

  @Test("A context in which a call always runs shows what it showed until its next call gives the moment up")
  func askingBusyContexts() throws {
    let folder = try TemporaryFolder(), store = try open(limit: LogStateTests.limit, in: folder)
    // A store that nothing uses is about to be closed, and folds nothing.
    let context = Context(store: store)
    defer { withExtendedLifetime(context) {} }
    // Its context is never found free.
    let moment = SQLiteMoment(of: store), plan = FetchPlan(entity: try store.model.entity(named: "Tag"))
    #expect(try moment.begin().commit == 0)
    _ = try fill(store) {
      let isEmpty = try moment.ids(plan).isEmpty
      #expect(!moment.isLost && moment.commit == 0 && isEmpty)
      moment.giveUpIfAsked()
      return moment.isLost
    }
    #expect(try !moment.ids(plan).isEmpty)
    moment.renew()
    #expect(!moment.isLost && moment.commit == store.commits.newest)
    // A folding waits for it then.
    _ = try fill(store, moment.renew) { try store.logState().size < LogStateTests.limit / 2 }
  }

  /// The largest log while another program makes so many commits, each of which some call follows.
  private func largestLog(
    _ store: Store, in folder: TemporaryFolder, after commits: Int, _ follow: () throws -> Void
  ) throws -> Int {
    let other = try Connection(
      path: LibraryFixture.path(in: folder), access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 5000)
    defer { other.close() }
    var largest = 0
    let word = String(repeating: "a", count: 5000), number = try store.model.entity(named: "Tag").number
    for _ in 0..<commits {
      try other.execute("INSERT INTO ZTAG (Z_ENT, Z_OPT, ZWORD) VALUES (\(number), 1, '\(word)')")
      try follow()
      largest = max(largest, try store.logState().size)
      awaitFolding(of: store)
    }
    return largest
  }

  @Test("Commits of another program make the log no longer than those of the store do, beside a context that merges")
  func othersBesideMergingContexts() throws {
    let folder = try TemporaryFolder(), store = try open(limit: 1 << 20, in: folder), reader = Context(store: store)
    #expect(try count(reader) == 0)
    let largest = try largestLog(store, in: folder, after: 1000) {
      try reader.mergeInbox()
      _ = try count(reader)
    }
    #expect(try count(reader) == 1000 && largest < 2 << 20, "\(largest)")
  }

  @Test("Beside one that only reads, and has nothing in use, its moment is given up")
  func othersBesideReadingContexts() throws {
    let folder = try TemporaryFolder(), store = try open(limit: 1 << 20, in: folder), reader = Context(store: store)
    #expect(try count(reader) == 0)
    var counts: [Int] = []
    let largest = try largestLog(store, in: folder, after: 1500) { counts.append(try count(reader)) }
    #expect(largest < 3 << 20 && Set(counts).count > 1 && counts == counts.sorted(), "\(largest), \(Set(counts).count)")
  }

  @Test("A context whose objects or lists are in use keeps its moment up to eight times the limit")
  func inUse() throws {
    let store = try open(limit: LogStateTests.limit), reader = Context(store: store)
    reader.retainExternally()
    defer { reader.releaseExternally() }
    #expect(try count(reader) == 0)
    reader.retainExternally(isPart: true)
    _ = try fill(store) { try store.logState().size > 7 * LogStateTests.limit }
    #expect(try !reader.readsAhead && count(reader) == 0 && store.logState().lostCount == 0)
    let more = try fill(store) { reader.readsAhead }
    #expect(more < 64)
    #expect(try store.logState().lostCount == 1 && count(reader) > 0)
    // Its moment is worth nothing any more.
    _ = try fill(store) { try store.logState().size < LogStateTests.limit }
    reader.releaseExternally(isPart: true)
    try reader.merge()
    #expect(try !reader.readsAhead && store.logState().lostCount == 0)
    _ = try fill(store) { reader.readsAhead }
    #expect(try store.logState().size < 4 * LogStateTests.limit)
  }

  @Test("What is pending is in conflict with what others have saved before the moment was given up", arguments: [
    LogStateTests.limit, nil,
  ])
  func pendingBeyondTheLimit(limit: Int?) throws {
    let store = try open(limit: limit), form = Context(store: store), other = Context(store: store)
    let tag = try other.insert(entityNamed: "Tag"), second = try other.insert(entityNamed: "Tag")
    let word = try tag.entity.property(named: "word")
    try other.save()
    func shown(_ tag: ManagedObject) throws -> ManagedObject {
      try form.existingObject(entityNamed: "Tag", id: tag.id)
    }
    let mine = try shown(tag), kept = try shown(second)
    #expect(try mine.value(of: word).isNil && kept.value(of: word).isNil)
    try mine.set(.text("mine"), for: word)
    for each in [tag, second] { try each.set(.text("theirs"), for: word) }
    try other.save()
    if limit != nil { _ = try fill(store) { form.readsAhead } }
    #expect(form.readsAhead == (limit != nil))
    #expect(failure { try form.save() }?.kind == .conflict)
    // What was read stays as it is shown until a call advances the context, and a save that fails does not.
    #expect(try kept.value(of: word).isNil)
    try form.rollback()
    #expect(try !kept.value(of: word).isNil && !form.readsAhead)
    #expect(try mine.value(of: word).isIdentical(to: .text("theirs")) && form.inbox.isEmpty)
    try mine.set(.text("mine"), for: word)
    try form.save()
  }

  @Test("The log begins anew while two save without a pause and never merge", arguments: [true, false])
  func writersWithoutPause(isInFile: Bool) throws {
    let folder = isInFile ? try TemporaryFolder() : nil, limit = 1 << 18
    let store = try open(limit: limit, in: folder), log = Guarded((size: 0, beginnings: 0, saves: 0, largest: 0))
    let writers = (0..<2).map { _ in
      OtherThread {
        let failed = failure {
          let context = Context(store: store)
          while log.withLock({ $0.beginnings < 3 && $0.saves < 10_000 }) {
            let tag = try context.insert(entityNamed: "Tag")
            try tag.set(.text(Text(String(repeating: "a", count: 12_000))), for: tag.entity.property(named: "word"))
            try context.save()
            try log.withLock { log in
              let size = try store.logState().size
              if size < log.size { log.beginnings += 1 }
              log.size = size
              log.largest = max(log.largest, size)
              log.saves += 1
            }
          }
        }
        #expect(failed == nil)
      }
    }
    for writer in writers { writer.join() }
    let (_, beginnings, saves, largest) = log.withLock { $0 }
    #expect(largest < 2 * limit, "\(largest) bytes")
    #expect(beginnings >= 3, "\(beginnings) after \(saves) saves")
    #expect(try count(Context(store: store)) == saves)
  }

  @Test("The log begins anew while two save without a pause beside pins that are short", arguments: [true, false])
  func writersBesideShortPins(isInFile: Bool) throws {
    let folder = isInFile ? try TemporaryFolder() : nil, limit = 1 << 18
    // On a machine that is busy a pin of a few reads may take long.
    let store = try open(limit: limit, in: folder, busyTimeout: 600_000)
    store.folding.patienceWithPins.store(.max >> 32, ordering: .relaxed)
    let largest = Guarded(0), savingCount = Guarded(2)
    let threads = (0..<2).map { _ in
      OtherThread {
        let failed = failure {
          let context = Context(store: store)
          for _ in 0..<200 {
            let tag = try context.insert(entityNamed: "Tag")
            try tag.set(.text(Text(String(repeating: "a", count: 12_000))), for: tag.entity.property(named: "word"))
            try context.save()
            let size = try store.logState().size
            largest.withLock { $0 = max($0, size) }
          }
        }
        savingCount.withLock { $0 -= 1 }
        #expect(failed == nil)
      }
    }
    let reader = Context(store: store)
    while savingCount.withLock({ $0 > 0 }) {
      try reader.mergeInbox()
      try reader.pin()
      let shown = try count(reader)
      for _ in 0..<20 { #expect(try count(reader) == shown) }
      try reader.unpin()
    }
    for thread in threads { thread.join() }
    #expect(largest.withLock { $0 } < 2 * limit, "\(largest.withLock { $0 }) bytes")
    try reader.mergeInbox()
    #expect(try count(reader) == 400)
  }

  @Test("A pinned context keeps its moment and the log, and no other loses its own then", arguments: [true, false])
  func pinned(isInFile: Bool) throws {
    let folder = isInFile ? try TemporaryFolder() : nil
    let store = try open(limit: LogStateTests.limit, in: folder)
    let reader = Context(store: store), other = Context(store: store)
    #expect(try count(reader) == 0 && count(other) == 0)
    try reader.pin()
    try fill(store, 60)
    #expect(try !reader.readsAhead && count(reader) == 0 && !other.readsAhead && count(other) == 0)
    var state = try store.logState()
    #expect(state.size > 2 * LogStateTests.limit && state.unfoldedSize > 0 && state.limit == LogStateTests.limit)
    #expect((state.olderCount, state.pinnedCount, state.lag) == (2, 1, 60))
    try reader.unpin()
    _ = try fill(store) { reader.readsAhead && other.readsAhead }
    _ = try fill(store) { try store.logState().size < LogStateTests.limit }
    state = try store.logState()
    #expect((state.olderCount, state.pinnedCount, state.lag) == (0, 0, 0) && state.unfoldedSize <= state.size)
  }

  @Test("The log is as long as its pages, and contexts lag behind by commits that changed something")
  func telling() throws {
    let folder = try TemporaryFolder(), store = try open(limit: nil, in: folder)
    #expect(try store.logState().limit == 64 << 20)
    let first = Context(store: store), second = Context(store: store), unused = Context(store: store)
    #expect(try count(first) == 0)
    try insert(in: store)
    #expect(try count(second) == 1)
    try insert(in: store)
    try insert(in: store)
    var state = try store.logState()
    #expect((state.olderCount, state.pinnedCount, state.lag) == (2, 0, 3))
    var status = stat()
    #expect(stat(store.path.string + "-wal", &status) == 0)
    let pages = (Int(status.st_size) - 32) / (4096 + 24)
    #expect(state.size == pages * 4096 && state.unfoldedSize == state.size)
    try first.merge()
    _ = store.connection.fold()
    state = try store.logState()
    #expect((state.olderCount, state.lag) == (1, 2) && state.unfoldedSize < state.size)
    try second.merge()
    _ = store.connection.fold()
    state = try store.logState()
    #expect((state.olderCount, state.lag, state.unfoldedSize) == (0, 0, 0) && state.size == pages * 4096)
    // Another program's commits, noticed or not.
    let outside = try Connection.opened(
      path: store.path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 1000)
    defer { outside.close() }
    try outside.execute("CREATE TABLE other (a)")
    try outside.execute("INSERT INTO other VALUES (1)")
    state = try store.logState()
    #expect((state.olderCount, state.lag) == (2, 1))
    try first.merge()
    state = try store.logState()
    #expect((state.olderCount, state.lag) == (1, 1))
    try store.close()
    #expect(failure { _ = try store.logState() }?.kind == .closed)
    withExtendedLifetime(unused) {}
  }

  @Test("A file without a log has none to tell of")
  func withoutLog() throws {
    let folder = try TemporaryFolder(), path = LibraryFixture.path(in: folder)
    try open(limit: nil, in: folder).close()
    let outside = try Connection.opened(path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    defer { outside.close() }
    try outside.execute("PRAGMA journal_mode = DELETE")
    try outside.execute("BEGIN")
    _ = try outside.schemaNumber()
    let store = try open(limit: LogStateTests.limit, in: folder), context = Context(store: store)
    #expect(try !store.holdsMoments && count(context) == 0 && store.logState() == LogState())
  }

  @Test("The state is told on any thread")
  func threads() throws {
    let store = try open(limit: LogStateTests.limit), problems = Guarded<[String]>([])
    let threads = (0..<2).map { _ in
      OtherThread {
        for _ in 0..<200 {
          do {
            let state = try store.logState()
            if state.unfoldedSize > state.size { problems.withLock { $0.append("\(state)") } }
          } catch { problems.withLock { $0.append("\(error)") } }
        }
      }
    }
    for _ in 0..<40 { try insert(in: store, text: String(repeating: "a", count: 5000)) }
    for thread in threads { thread.join() }
    #expect(problems.withLock { $0 } == [])
  }
}
