import Glibc

/// The log: what is in it is folded into the file while programs read and write, and it begins anew when nothing needs
/// what is in it.
///
/// SQLite would do the first in the midst of a save, and could not do the second: a moment that is held, be it the
/// newest one, keeps the log from beginning anew. All of it is done by a thread that lives for that time.
final class LogFolding: @unchecked Sendable {
  let thread = BackgroundThread()
  // For the thread that folds.
  var connection: Connection?
  // Under the store's lock.
  /// From so many pages on the next folding begins.
  var nextPageCount: Int
  /// The moments that kept the last folding from its end, and the commits that they had.
  var obstacles: [ObjectIdentifier: Int64] = [:]
  let firstPageCount: Int
  /// From so many on a folding has writers wait until moments have moved on.
  let insistentPageCount: Int
  /// From so many on moments of contexts in which no call runs are given up.
  let mostPageCount: Int
  let pageSize: Int

  /// The smallest limit of a log, in bytes. One of fewer pages would be folded after each commit.
  static let leastLimit = 64 << 10

  /// `limit` is in bytes; nil for the one that fits most programs.
  init(pageSize: Int, isInMemory: Bool, limit: Int?) {
    self.pageSize = pageSize
    firstPageCount = max((limit ?? (isInMemory ? 16 << 20 : 64 << 20)) / 16 / pageSize, 1)
    insistentPageCount = 4 * firstPageCount
    mostPageCount = 16 * firstPageCount
    nextPageCount = firstPageCount
  }
}

extension Store {
  /// So long writers wait for moments to move on: the time between two pictures, and a little.
  private static let longestPause = 25

  /// To be called after each commit, by the thread that has the lock.
  func foldIfLong() {
    assert(lock.isHeld)
    if connection.logPageCount < folding.nextPageCount || connection.isInTransaction { return }
    // The next one begins when this has not helped.
    folding.nextPageCount = connection.logPageCount + folding.firstPageCount / 2
    if folding.thread.isIdle { folding.thread.add(for: self) { [self] in fold() } }
  }

  private func fold() {
    guard let folder = try? connectionForFolding(), let state = folder.fold() else { return }
    // What is committed meanwhile is little, or comes next time.
    if state.pageCount - state.foldedCount > folding.insistentPageCount, !hasOlderMoments { return }
    if folding.thread.isToStop { return }
    lock.withLock { beginLogAnew(folder) }
  }

  private func connectionForFolding() throws(Failure) -> Connection {
    if let connection = folding.connection { return connection }
    try checkMayRead()
    let made = try connection.anotherBesideLog()
    _ = try made.schemaNumber()
    folding.connection = made
    return made
  }

  /// Has the next commit begin the log anew, if that can be.
  private func beginLogAnew(_ folder: Connection) {
    if isClosed || held != nil || connection.isInTransaction || connection.files?.absent != nil { return }
    // Beside a moment that is pinned the others are no matter: the log cannot begin anew in any case.
    let isTooLong = connection.logPageCount >= folding.mostPageCount && !olderMoments.contains(where: \.isPinned)
    if isTooLong { for moment in resting { moment.giveUp() } }
    // Writers wait for contexts that move, and not for those that do not.
    let mayWait = connection.logPageCount >= folding.insistentPageCount && resting.isEmpty
    let older = olderMoments
    folding.obstacles = Dictionary(
      older.compactMap { moment in moment.commit.map { (ObjectIdentifier(moment), $0) } }, uniquingKeysWith: { $1 })
    var waited = 0
    while true {
      // What waits for this thread does not move on meanwhile.
      let waiting = olderMoments.filter(\.waitsToWrite)
      if isTooLong { for moment in waiting { moment.giveUp() } }
      if !hasOlderMoments { break }
      if !mayWait || !isTooLong && !waiting.isEmpty || waited >= Store.longestPause { return }
      // Contexts move on without this lock.
      usleep(1000)
      waited += 1
    }
    // Other programs must not write while moments are let go of and begun anew.
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try connection.transaction { () throws(Failure) in
          guard let state = folder.fold(), state.pageCount == state.foldedCount, !hasOlderMoments else { return }
          for moment in allMoments { moment.beginAnew() }
          folding.nextPageCount = folding.firstPageCount
        }
      }
    } catch {
      // Another program writes, or the disk fails. A later commit tries again.
      return
    }
    // Each page of the log in memory is there twice.
    if connection.memory != nil { folder.truncateLog() }
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
  private var olderMoments: [SQLiteMoment] {
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
