import Glibc
import Synchronization

/// The log: what is in it is folded into the file while programs read and write, and it begins anew when nothing needs
/// what is in it.
///
/// SQLite would do the first in the midst of a save, and could not do the second: a moment that is held, be it the
/// newest one, keeps the log from beginning anew. All of it is done by a thread that lives for that time.
final class LogFolding: @unchecked Sendable {
  let thread = BackgroundThread()
  // For the thread that folds.
  var connection: Connection?
  /// From so many pages on the next folding begins.
  private let nextPageCount: Atomic<Int>
  /// How many the log had when that was last asked.
  private let lastPageCount = Atomic<Int>(0)
  // Under the store's lock.
  /// The moments that kept the last folding from its end, and the commits that they had.
  var obstacles: [ObjectIdentifier: Int64] = [:]
  /// For how long checkpoints have waited for contexts, in milliseconds, and the commits that these showed. For the
  /// thread that folds.
  var waits: [ObjectIdentifier: (commit: Int64?, milliseconds: Int)] = [:]
  /// In milliseconds, at the limit. Others than the usual number are for tests.
  let patienceWithPins = Atomic<Int>(500)
  /// How often a log that was too long could not begin anew since it last has.
  var failureCount = 0
  let firstPageCount: Int
  /// From so many on a folding has writers wait until moments have moved on.
  let insistentPageCount: Int
  /// From so many on moments of contexts in which no call runs are given up.
  let mostPageCount: Int
  /// From so many on also those of contexts whose objects or lists are in use. It leaves room for what is committed
  /// until the log begins anew, so that the log has less than eight times its limit.
  let hardPageCount: Int
  let pageSize: Int

  /// The smallest limit of a log, in bytes. One of fewer pages would be folded after each commit.
  static let leastLimit = 64 << 10

  /// `limit` is in bytes; nil for the one that fits most programs.
  init(pageSize: Int, isInMemory: Bool, limit: Int?) {
    self.pageSize = pageSize
    firstPageCount = max((limit ?? (isInMemory ? 16 << 20 : 64 << 20)) / 16 / pageSize, 1)
    insistentPageCount = 4 * firstPageCount
    mostPageCount = 16 * firstPageCount
    hardPageCount = 8 * mostPageCount - mostPageCount / 2
    nextPageCount = Atomic(firstPageCount)
  }

  /// Whether a log of so many pages is to be folded now. Any thread.
  func isDue(at pageCount: Int) -> Bool {
    let last = lastPageCount.load(ordering: .relaxed)
    if pageCount != last {
      lastPageCount.store(pageCount, ordering: .relaxed)
      // It has begun anew.
      if pageCount < last { nextPageCount.store(firstPageCount, ordering: .relaxed) }
    }
    if pageCount < nextPageCount.load(ordering: .relaxed) { return false }
    // The next one begins when this has not helped.
    nextPageCount.store(pageCount + firstPageCount / 2, ordering: .relaxed)
    return thread.isIdle
  }

  /// How many pages the log had when that was last asked. Any thread.
  var pageCount: Int { lastPageCount.load(ordering: .relaxed) }

  /// The next commit begins the log anew, unless something of another program still needs what is in it.
  func noteEnd(of pageCount: Int) { nextPageCount.store(pageCount + firstPageCount, ordering: .relaxed) }
}

extension Store {
  /// So many milliseconds writers wait for moments to move on: the time between two pictures, and a little.
  static let longestPause = 25
  /// After so many failures no moment is spared, and writers wait for the time that a large merge takes.
  private static let mostFailures = 8
  private static let longestPauseAtLast = 250

  /// To be called after each commit, by the thread that has the lock.
  func foldIfLong() {
    assert(lock.isHeld)
    // Without a page that was written nothing is known.
    if connection.logPageCount == 0 || connection.isInTransaction { return }
    if folding.isDue(at: connection.logPageCount) { beginFolding() }
  }

  /// The same for what reads at a moment. Other programs make the log longer, too, and cannot have it begin anew
  /// beside the moment.
  func foldIfLongByOthers() {
    guard !isReadOnly, let pages = connection.logPages, folding.isDue(at: pages.count) else { return }
    beginFolding()
  }

  private func beginFolding() { folding.thread.add(for: self) { [self] in fold() } }

  private func fold() {
    guard let folder = try? connectionForFolding(), var state = folder.fold() else { return }
    if awaitAdvancingContexts() { state = folder.fold() ?? state }
    // What is committed meanwhile is little, or comes next time.
    let isHeldUp = hasOlderMoments || commits.hasNews(at: folder.changeCount)
    if state.pageCount - state.foldedCount > folding.insistentPageCount, !isHeldUp { return }
    if folding.thread.isToStop { return }
    lock.withLock { beginLogAnew(folder, state.pageCount) }
  }

  private func connectionForFolding() throws(Failure) -> Connection {
    if let connection = folding.connection { return connection }
    try checkMayRead()
    let made = try connection.anotherBesideLog()
    _ = try made.schemaNumber()
    made.followCommits()
    folding.connection = made
    return made
  }

  /// Has the next commit begin the log anew, if that can be.
  private func beginLogAnew(_ folder: Connection, _ pageCount: Int) {
    if isClosed || held != nil || connection.isInTransaction || connection.files?.absent != nil { return }
    // Other programs must not write while moments are let go of and begun anew. What they have committed is known then.
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try connection.transaction { () throws(Failure) in
          let isTooLong = pageCount >= folding.mostPageCount
          folding.failureCount = isTooLong ? folding.failureCount + 1 : 0
          guard awaitMoments(pageCount), let state = folder.fold(), state.pageCount == state.foldedCount,
            !hasOlderMoments
          else { return }
          guard beginMomentsAnew(waits: folding.isLong) else { return }
          folding.noteEnd(of: state.pageCount)
          folding.failureCount = 0
        }
      }
    } catch {
      // Another program writes, or the disk fails. A later commit tries again.
      return
    }
    // Each page of the log in memory is there twice.
    if connection.memory != nil { folder.truncateLog() }
  }

  /// Waits until the moments lack no changes, as far as that is worth it. False when they do.
  private func awaitMoments(_ pageCount: Int) -> Bool {
    // Beside a moment that is pinned the others are no matter: the log cannot begin anew in any case.
    let isTooLong = pageCount >= folding.mostPageCount && !olderMoments.contains(where: \.isPinned)
    let isLast = folding.failureCount > Store.mostFailures
    let isKept = pageCount < folding.hardPageCount
    if isTooLong {
      for moment in isLast ? olderMoments : resting where !isKept || !moment.isInUse { moment.giveUp() }
    }
    // Writers wait for contexts that move, and not for those that do not.
    let mayWait = pageCount >= folding.insistentPageCount && (isTooLong || resting.isEmpty)
    let older = olderMoments
    folding.obstacles = Dictionary(
      older.compactMap { moment in moment.commit.map { (ObjectIdentifier(moment), $0) } }, uniquingKeysWith: { $1 })
    let longest = isTooLong && isLast ? Store.longestPauseAtLast : Store.longestPause
    var waited = 0
    while true {
      // What waits for this thread does not move on meanwhile.
      let waiting = olderMoments.filter(\.waitsToWrite)
      if isTooLong { for moment in waiting { moment.giveUp() } }
      if !hasOlderMoments { return true }
      if !mayWait || !isTooLong && !waiting.isEmpty || waited >= longest { return false }
      if !olderMoments.contains(where: mayAdvance) { return false }
      // Contexts move on without this lock.
      usleep(1000)
      waited += 1
    }
  }

  /// Has moments that lack no changes contain commits that changed nothing for them, as that of an index.
  func renewMoments() {
    assert(lock.isHeld)
    let newest = commits.newestChange
    for moment in allMoments where moment.commit.map({ $0 >= newest }) ?? false { moment.beginAnew() }
  }

  /// The file is not where it was: closes all connections to it that are not in use, but for the one that writes.
  func letGoOfFile() {
    assert(lock.isHeld)
    folding.connection?.close()
    folding.connection = nil
    pool.closeIdle()
    for moment in allMoments { moment.letGoOfFile() }
  }

  /// The moments that lack changes of others.
  var olderMoments: [SQLiteMoment] {
    let newest = commits.newestChange
    return allMoments.filter { moment in moment.commit.map { $0 < newest } ?? false }
  }

  private var hasOlderMoments: Bool { !olderMoments.isEmpty }

  /// Those of them that have not moved since the last folding.
  private var resting: [SQLiteMoment] {
    olderMoments.filter { moment in
      moment.commit.map { folding.obstacles[ObjectIdentifier(moment)] == $0 } ?? false
    }
  }
}
