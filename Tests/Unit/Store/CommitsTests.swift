import CSQLite
import Glibc
import Testing

@testable import QuireCore

/// The numbers of commits, and which states of the file they are told for.
@Suite("Numbers of commits")
struct CommitsTests {
  private final class Filed: CommitFiler {
    private let all = Guarded<[String]>([])
    func file(_ number: Int64) -> Bool { add("\(number)") }
    func fileOthers(_ number: Int64, on connection: Connection?, commitCount: Int?) -> Bool {
      add("\(number) of others")
    }
    func announce(on connection: Connection?) {}
    func endAnnouncement(isMade: Bool) {}

    private func add(_ entry: String) -> Bool {
      all.withLock { $0.append(entry) }
      return true
    }
    func take() -> [String] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private let commits = Commits()
  private let filed = Filed()

  private func start(at count: UInt32?) {
    commits.start(at: count, filed)
  }

  private func commit(after count: UInt32) {
    commits.announce(count, on: nil)
    commits.file(hasWritten: true)
  }

  // MARK: By counts alone

  @Test("A commit has the next number, and its state is told by SQLite's count")
  func ownCommits() {
    start(at: 7)
    #expect(commits.newest == 0 && commits.state(at: 7, on: nil)?.commit == 0 && !commits.hasNews(at: 7))
    for count in UInt32(7)..<10 { commit(after: count) }
    #expect(filed.take() == ["1", "2", "3"])
    #expect(commits.newest == 3 && commits.newestOfOthers == 0)
    #expect((7...10).map { commits.state(at: $0, on: nil)?.commit } == [0, 1, 2, 3])
    #expect(commits.hasNews(at: 9) && !commits.hasNews(at: 10) && commits.hasNews(at: 11))
    #expect(filed.take() == [])
  }

  @Test("A transaction that has written nothing, and a commit that has failed, have no number")
  func nothingToFile() {
    start(at: 0)
    commits.announce(0, on: nil)
    commits.file(hasWritten: false)
    commits.announce(0, on: nil)
    commits.withdraw()
    #expect(commits.newest == 0 && filed.take() == [])
    #expect(commits.state(at: 0, on: nil)?.commit == 0)
    commit(after: 0)
    #expect(commits.newest == 1 && filed.take() == ["1"] && commits.state(at: 1, on: nil)?.commit == 1)
  }

  @Test("A state with a lower count than was known before it is of others: SQLite has begun to count anew")
  func countingAnew() {
    start(at: 7)
    for count in UInt32(7)..<10 { commit(after: count) }
    let former = commits.count
    // Older ones that were taken before the last commit are known.
    #expect(former == 10 && commits.state(at: 8, on: nil, after: 8)?.commit == 1)
    #expect(commits.state(at: 8, on: nil, after: former)?.commit == 4 && commits.count == 8)
    #expect(filed.take() == ["1", "2", "3", "4 of others"])
    commit(after: 8)
    #expect(commits.state(at: 9, on: nil, after: 9)?.commit == 5)
  }

  @Test("What other programs have committed counts as one when it is noticed, by what reads or by what writes")
  func commitsOfOthers() {
    start(at: 0)
    #expect(commits.state(at: 3, on: nil)?.commit == 1)
    #expect(commits.state(at: 3, on: nil)?.commit == 1 && commits.newestOfOthers == 1)
    commits.noteOthers(3, on: nil)
    #expect(commits.newest == 1)
    commits.noteOthers(4, on: nil)
    commit(after: 4)
    #expect(filed.take() == ["1 of others", "2 of others", "3"])
    #expect(commits.newest == 3 && commits.newestOfOthers == 2)
    #expect(commits.state(at: 4, on: nil)?.commit == 2 && commits.state(at: 5, on: nil)?.commit == 3)
    // Its number is not known, and the state is an older one.
    #expect(commits.state(at: 1, on: nil)?.commit == nil && commits.state(at: 2, on: nil)?.commit == nil)
    #expect(filed.take() == [])
    // Where there is no newer one to be had, it is taken for one of others.
    #expect(commits.state(at: 2, on: nil, isLastTry: true)?.commit == 4)
    #expect(filed.take() == ["4 of others"])
  }

  @Test("States of the last commits are known, and those before are to be taken anew")
  func knownStates() {
    start(at: 0)
    for count in UInt32(0)..<500 { commit(after: count) }
    #expect(commits.newest == 500)
    for count in UInt32(480)...500 { #expect(commits.state(at: count, on: nil)?.commit == Int64(count)) }
    #expect(commits.state(at: 100, on: nil)?.commit == nil)
    #expect(filed.take().count == 500)
  }

  @Test("SQLite's count begins anew after the last number that it can be")
  func countsThatBeginAnew() {
    start(at: .max)
    commit(after: .max)
    #expect(commits.newest == 1 && commits.state(at: 0, on: nil)?.commit == 1)
    #expect(commits.state(at: .max, on: nil)?.commit == 0)
    #expect(!commits.hasNews(at: 0) && commits.hasNews(at: 1))
    #expect(commits.state(at: 1, on: nil)?.commit == 2)
    #expect(filed.take() == ["1", "2 of others"])
  }

  @Test("Without a count of SQLite each state is the newest")
  func noCounts() {
    start(at: nil)
    commits.noteOthers(nil, on: nil)
    commits.announce(nil, on: nil)
    commits.file(hasWritten: true)
    #expect(commits.newest == 1 && commits.state(at: nil, on: nil)?.commit == 1 && !commits.hasNews(at: nil))
    #expect(filed.take() == ["1"])
  }

  @Test("What sees a commit before its changes are filed waits for that", arguments: [true, false])
  func announcedCommits(isWithdrawn: Bool) {
    start(at: 0)
    commits.announce(0, on: nil)
    let found = Guarded<[Int64?]>([])
    let thread = OtherThread { [commits] in
      let number = commits.state(at: 1, on: nil)?.commit
      found.withLock { $0.append(number) }
    }
    thread.waitUntilAsleep()
    #expect(found.withLock { $0 } == [] && commits.newest == 0 && filed.take() == [])
    // The state before it is known all the while.
    #expect(commits.state(at: 0, on: nil)?.commit == 0)
    if isWithdrawn { commits.withdraw() } else { commits.file(hasWritten: true) }
    thread.join()
    #expect(found.withLock { $0 } == [1] && commits.newest == 1)
    // The count has advanced all the same: another program was faster.
    #expect(filed.take() == [isWithdrawn ? "1 of others" : "1"])
  }

  // MARK: By files

  /// A save that inserts the tag of that key, and tells of it.
  private static func insertTag(_ id: Int64, _ request: SaveRequest, in store: Store) throws(Failure) {
    let tag = try store.model.entity(named: "Tag")
    _ = try store.save(request) { (_) throws(Failure) in
      var change = StoreChange()
      change.inserted = [RowIdentifier(id: id, entity: Int32(tag.number))]
      store.publish(Publication(changes: [change]))
    }
  }

  private func insertTag(_ id: Int64, in library: LibraryFixture) throws {
    try CommitsTests.insertTag(id, SaveRequest(inserts: [library.new("Tag", -1)]), in: library.store)
  }

  @Test("Each save is a commit, in the order of their writing, whatever connection is asked", arguments: [true, false])
  func saves(isInFile: Bool) throws {
    let library = try LibraryFixture(in: isInFile ? TemporaryFolder() : nil), store = library.store
    #expect(store.commits.newest == 0)
    for number in 1...3 {
      try library.save(inserts: [library.new("Tag", -1)])
      #expect(store.commits.newest == Int64(number))
      #expect(try SQLiteMoment(of: store).begin().commit == Int64(number))
    }
    try library.save()
    try store.withConnection { connection throws(Failure) in try connection.transaction { () throws(Failure) in } }
    #expect(store.commits.newest == 3 && store.commits.newestOfOthers == 0)
    #expect(try SQLiteMoment(of: store).begin().commit == 3)
  }

  @Test("A commit that SQLite refuses is withdrawn: it has no number, is told to none, and nothing waits for it")
  func refusedCommits() throws {
    let library = try LibraryFixture(), store = library.store, inbox = ChangeInbox()
    store.add(inbox)
    let moment = SQLiteMoment(of: store)
    #expect(try moment.begin().commit == 0)
    func refuse(_ refuses: Bool) throws {
      try store.withConnection { connection throws(Failure) in
        _ = sqlite3_commit_hook(connection.handle, refuses ? { _ in 1 } : nil, nil)
      }
    }
    try refuse(true)
    #expect(failure { try insertTag(1, in: library) } != nil)
    #expect(store.commits.newest == 0 && inbox.isEmpty && !moment.hasNews)
    #expect(try SQLiteMoment(of: store).begin().commit == 0)
    try refuse(false)
    try insertTag(1, in: library)
    #expect(store.commits.newest == 1 && inbox.take(upTo: 1)?.inserted.count == 1)
    #expect(try moment.begin().commit == 0)
    #expect(try library.sql("SELECT count(*) FROM ZTAG") == ["1"])
  }

  @Test("Commits of another connection are noticed by the next moment, or by the next save, which comes after them")
  func commitsOfAnotherConnection() throws {
    let folder = try TemporaryFolder(), library = try LibraryFixture(in: folder), store = library.store
    let inbox = ChangeInbox(), moment = SQLiteMoment(of: store)
    store.add(inbox)
    #expect(try moment.begin().commit == 0)
    let program = try ForeignProgram(folder.file("library.sqlite"))
    let number = try library.number("Tag")
    func insert() throws { try program.run("INSERT INTO ZTAG (Z_ENT, Z_OPT) VALUES (\(number), 1)") }
    try insert()
    try insert()
    #expect(store.commits.newest == 0 && moment.hasNews && inbox.isEmpty)
    #expect(try SQLiteMoment(of: store).begin().commit == 1)
    // From now on it is in the inboxes, and no news any more.
    #expect(store.commits.newest == 1 && store.commits.newestOfOthers == 1 && !moment.hasNews)
    #expect(try moment.begin().commit == 0)
    #expect(inbox.take()?.isUnknown == true && inbox.isEmpty)
    try insert()
    try insertTag(4, in: library)
    #expect(store.commits.newest == 3 && store.commits.newestOfOthers == 2)
    let unknown = try #require(inbox.take(upTo: 2)), own = try #require(inbox.take(upTo: 3))
    #expect(unknown.isUnknown && unknown.inserted.isEmpty)
    #expect(!own.isUnknown && own.inserted.map(\.id) == [4] && inbox.isEmpty)
    try store.close()
  }

  @Test("Moments that begin while another thread saves contain what their numbers say", arguments: [true, false])
  func numbersUnderLoad(isInFile: Bool) throws {
    let library = try LibraryFixture(in: isInFile ? TemporaryFolder() : nil), store = library.store
    let inbox = ChangeInbox(), count = 300, problems = Guarded<[String]>([])
    store.add(inbox)
    let requests = try (0..<count).map { _ in SaveRequest(inserts: [try library.new("Tag", -1)]) }
    let tag = try library.entity("Tag")
    // Each save inserts the row whose key is its number.
    let writer = OtherThread {
      for (place, request) in requests.enumerated() {
        if let failure = failure(of: { try CommitsTests.insertTag(Int64(place + 1), request, in: store) }) {
          problems.withLock { $0.append("\(failure)") }
        }
      }
    }
    var last: Int64 = 0, taken: [Int64] = []
    var moment = SQLiteMoment(of: store)
    while last < count {
      inbox.prepareToTake()
      // Both ways to go on.
      if last % 2 == 0 { moment = SQLiteMoment(of: store) } else { moment.renew() }
      let number = try moment.begin().commit
      let change = inbox.take(upTo: number)
      taken += change?.inserted.map(\.id) ?? []
      let rows = try moment.ids(FetchPlan(entity: tag)).map(\.id)
      guard number >= last, rows.sorted() == Array(1..<(number + 1)), taken == rows.sorted() else {
        problems.withLock { $0.append("commit \(number) after \(last): \(rows.count) rows, told of \(taken.count)") }
        break
      }
      last = number
    }
    writer.join()
    #expect(problems.withLock { $0 } == [])
    #expect(store.commits.newest == Int64(count) && store.commits.newestOfOthers == 0)
  }
}
