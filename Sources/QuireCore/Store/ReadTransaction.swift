import Synchronization

/// A transaction for reading on a connection from the pool, which shows one state until it ends.
///
/// Moments of one state may share it. They wait for each other then. It ends when the last of them leaves it. Any
/// thread.
final class ReadTransaction: @unchecked Sendable {
  private let pool: MomentPool
  private let lock = RecursiveLock()
  // Under the lock.
  /// nil once it has ended.
  private var connection: Connection? {
    didSet { if connection == nil { shown.withLock { $0 = nil } } }
  }
  /// How many uses are under way, each within the one before it.
  private var depth = 0

  /// The moments that have it. Asking that, joining and leaving wait for no use.
  private struct Sharing {
    var momentCount = 1
    /// Whether it goes on to another state, for the one moment that has it.
    var isMoving = false
  }
  private let sharing = Guarded(Sharing())
  /// What it shows; nil once it has ended. To be read without a wait for a use that is under way.
  private let shown: Guarded<MomentState?>
  /// Whether it has ended while moments were to go on reading what it showed.
  private let hasBeenLost = Atomic<Bool>(false)

  /// Begins one at the newest commit, for one moment.
  init(_ pool: MomentPool) throws(Failure) {
    self.pool = pool
    let (connection, state) = try pool.take()
    self.connection = connection
    shown = Guarded(state)
  }

  var contents: MomentState? { shown.withLock { $0 } }

  var isLost: Bool { hasBeenLost.load(ordering: .acquiring) }

  private func noteLoss() {
    hasBeenLost.store(true, ordering: .releasing)
    pool.noteLoss()
  }

  /// Runs `body` with the connection; nil where it has ended.
  func use<Result>(_ body: (Connection) throws(Failure) -> Result) throws(Failure) -> Result? {
    try lock.withLock { () throws(Failure) in
      guard let connection else { return nil }
      depth += 1
      defer { depth -= 1 }
      return try body(connection)
    }
  }

  /// Whether this thread is in the midst of a use.
  var isInUse: Bool { lock.withLock { depth > 0 } }

  func hasNews(_ commits: Commits) -> Bool {
    lock.withLock { connection.map { commits.hasNews(at: $0.changeCount) } ?? false }
  }

  // MARK: Sharing it

  /// Adds a moment, if so many commits that changed something are in what it shows.
  func share(at changes: Int64) -> Bool {
    sharing.withLock { sharing in
      if sharing.isMoving || sharing.momentCount == 0 || contents?.changes != changes { return false }
      sharing.momentCount += 1
      return true
    }
  }

  /// A moment does not need it any more.
  func leave() {
    let isLast = sharing.withLock { sharing in
      sharing.momentCount -= 1
      return sharing.momentCount == 0
    }
    if !isLast { return }
    let unused = lock.withLock { () -> Connection? in
      assert(depth == 0)
      defer { connection = nil }
      return connection
    }
    if let unused { pool.giveBack(unused) }
  }

  // MARK: Beginning anew

  /// Goes on to the newest commit, for the one moment that has it. False, and nothing happens, where several moments
  /// share it.
  func renew() throws(Failure) -> Bool {
    let isAlone = sharing.withLock { sharing in
      sharing.isMoving = sharing.momentCount == 1
      return sharing.isMoving
    }
    if !isAlone { return false }
    defer { sharing.withLock { $0.isMoving = false } }
    try lock.withLock { () throws(Failure) in try restart() }
    return true
  }

  /// Lets go of the state and takes hold of it again, for all its moments, unless it is in use. It must be the newest.
  ///
  /// Returns whether it is not in use.
  func beginAnew() -> Bool {
    lock.withFreeLock {
      if depth > 0 { return false }
      try? restart()
      return true
    } ?? false
  }

  private func restart() throws(Failure) {
    guard let connection else { return }
    assert(depth == 0)
    do throws(Failure) {
      if !connection.endReading() { throw connection.closedFailure }
      let state = try pool.beginReading(connection)
      shown.withLock { $0 = state }
    } catch {
      connection.close()
      self.connection = nil
      noteLoss()
      throw error
    }
  }

  // MARK: Ending it

  /// Ends it for all its moments, unless it is in use. It is lost to them if `newest` has more than it shows.
  func closeUnlessUsed(_ newest: MomentState) {
    _ = lock.withFreeLock {
      if depth > 0 { return }
      if let contents, contents.changes != newest.changes { noteLoss() }
      close()
    }
  }

  func close() {
    lock.withLock {
      connection?.close()
      connection = nil
    }
  }

  /// Replaces the log; returns what must be released without a lock.
  func setLog(_ log: SQLLog?) -> SQLTrace? { lock.withLock { connection?.setLog(log) } }
}
