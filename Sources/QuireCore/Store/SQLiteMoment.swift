import Glibc
import Synchronization

/// What is in a file as of one commit.
///
/// It holds a transaction for reading, which is begun by the first use. The exception is the moment that
/// `Store.newest` returns. That one reads by the connection that writes, and sees what it has written.
///
/// One thread at a time uses it, that of its context. The store ends or renews it on other threads, under its lock.
final class SQLiteMoment: Moment, @unchecked Sendable {
  let store: Store
  /// Whether it reads by the connection that writes.
  private var isNewest: Bool
  private let lock = RecursiveLock()
  // Under the lock.
  /// How many uses are under way, each within the one before it.
  private var depth = 0

  /// What it reads by. Changed under the lock alone, and read without it where a use that is under way is no matter.
  private struct Basis {
    var transaction: ReadTransaction?
    /// What the file contained when no other connection to it could be opened any more.
    var last: MomentState?
  }
  private let basis = Guarded(Basis())

  /// Whether it was given up. What is read since is newer than what the context knows.
  private let hasLost = Atomic<Bool>(false)
  /// Whether the store waits for the next call of the context, to give the moment up.
  private let isAsked = Atomic<Bool>(false)
  private let isKept: Atomic<Bool>
  private let isWaitingToWrite = Atomic<Bool>(false)
  private let usingThread = Atomic<UInt>(0)
  private let renewal = Atomic<Renewal>(.none)
  private let isTaken = Atomic<Bool>(true)
  /// Of a context that has read nothing yet: what came in before its first state is part of that.
  private var unreadInbox: ChangeInbox?
  private let holder: MomentHolder

  /// A moment that begins with its first use, at the newest commit of then.
  ///
  /// `unread` is the inbox of a context that has read nothing yet.
  init(
    of store: Store, isPinned: Bool = false, unread: ChangeInbox? = nil, for holder: MomentHolder = .none
  ) {
    self.store = store
    unreadInbox = unread
    self.holder = holder
    isKept = Atomic(isPinned)
    isNewest = !store.holdsMoments
    if !isNewest { store.moments.withLock { $0.add(.init(moment: self)) } }
  }

  fileprivate init(newestOf store: Store) {
    self.store = store
    holder = .none
    isKept = Atomic(false)
    isNewest = true
  }

  deinit { transaction?.leave() }

  private var transaction: ReadTransaction? { basis.withLock { $0.transaction } }

  private func setTransaction(_ new: ReadTransaction?) { basis.withLock { $0.transaction = new } }

  // MARK: Using it

  /// Runs `body` with the connection. The thread that is inside may enter again.
  func withConnection<Result>(
    monitor: FetchMonitor? = nil, _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if isNewest { return try store.withConnection(monitor: monitor, body) }
    let result = try lock.withLock { () throws(Failure) -> Result? in
      depth += 1
      defer { depth -= 1 }
      while let transaction = try begun() {
        if let result = try transaction.use(body) { return result }
      }
      return nil
    }
    if let result { return result }
    return try store.withConnection(monitor: monitor, body)
  }

  /// Runs `body` with everything that it reads under the eyes of `monitor`.
  func watched<Result>(
    by monitor: FetchMonitor?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let monitor else { return try body() }
    if isNewest { return try store.watched(by: monitor, body) }
    return try withConnection { connection throws(Failure) in
      try store.noting(monitor) { () throws(Failure) in try connection.watched(by: monitor, body) }
    }
  }

  /// What it contains; nil where it was not begun. Does not wait for a use that is under way.
  var contents: MomentState? { basis.withLock { $0.last ?? $0.transaction?.contents } }

  /// Whether SQLite counts a commit that it does not contain.
  var hasNews: Bool {
    if isNewest { return store.noticesOthers() }
    return transaction?.hasNews(store.commits) ?? false
  }

  // MARK: Beginning and ending

  /// Begins it, if it has not begun, and returns what it contains.
  @discardableResult
  func begin() throws(Failure) -> MomentState {
    if !isNewest {
      let contents = try lock.withLock { () throws(Failure) -> MomentState? in
        while let transaction = try begun() {
          if let contents = transaction.contents { return contents }
        }
        return nil
      }
      if let contents { return contents }
    }
    return store.commits.newestState
  }

  /// Begins it by the transaction of another one, if so many commits that changed something are in that.
  func begin(with other: SQLiteMoment, at changes: Int64) -> Bool {
    guard let shared = other.transaction, shared.share(at: changes) else { return false }
    lock.withLock {
      transaction?.leave()
      setTransaction(shared)
    }
    return true
  }

  /// Lets go of what it holds. It begins anew with its next use.
  func end() {
    lock.withLock {
      assert(depth == 0)
      isAsked.store(false, ordering: .releasing)
      hasLost.store(false, ordering: .releasing)
      leave()
    }
  }

  private func leave() {
    let transaction = transaction
    setTransaction(nil)
    transaction?.leave()
  }

  /// Goes on to the newest commit, on the same connection if that is its alone. What cannot be read now is read with
  /// the next use.
  func renew() {
    if isNewest { return }
    lock.withLock {
      assert(depth == 0)
      // What came in before, the context has taken with what it has written.
      unreadInbox = nil
      isAsked.store(false, ordering: .releasing)
      do throws(Failure) {
        if try transaction?.renew() != true {
          leave()
          // From the first save on there is something that others can change.
          _ = try begun()
        }
        hasLost.store(false, ordering: .releasing)
      } catch {
        hasLost.store(true, ordering: .releasing)
        leave()
      }
    }
  }

  /// Lets go of what it holds and takes hold of it again: the log can begin anew when all that is held is in the file.
  /// For moments that lack no changes, while nothing is written. One that is in use stays as it is. Returns whether it
  /// is not.
  @discardableResult
  func beginAnew() -> Bool { lock.withFreeLock { depth == 0 && beginAnewHere() } ?? false }

  private func beginAnewHere() -> Bool {
    // It may have begun, at an earlier state, since the store looked whether all lack none.
    guard let transaction, contents?.changes == store.commits.newestState.changes else { return true }
    return transaction.beginAnew()
  }

  private enum Renewal: UInt8, AtomicRepresentable { case none, asked, underWay, done }

  /// Has the next use do the same before it reads, on the thread of the context, which may read without a pause.
  func askToBeginAnew() { renewal.store(.asked, ordering: .releasing) }

  var hasBegunAnew: Bool { renewal.load(ordering: .acquiring) == .done }

  /// Ends that. Returns whether a use has done so, or does so now.
  func endAsking() -> Bool {
    if renewal.compareExchange(expected: .asked, desired: .none, ordering: .acquiringAndReleasing).exchanged {
      return false
    }
    while renewal.load(ordering: .acquiring) == .underWay { sched_yield() }
    return renewal.exchange(.none, ordering: .acquiringAndReleasing) == .done
  }

  private func beginAnewIfAsked() {
    if depth > 1 || renewal.load(ordering: .relaxed) != .asked { return }
    if renewal.compareExchange(expected: .asked, desired: .underWay, ordering: .acquiringAndReleasing).exchanged {
      renewal.store(beginAnewHere() ? .done : .none, ordering: .releasing)
    }
  }

  /// Releases what it holds, unless it is pinned. Where a call of its context is under way that does not wait to write,
  /// the next one does that (`giveUpIfAsked`).
  func giveUp() {
    if isPinned || transaction == nil { return }
    isAsked.store(true, ordering: .releasing)
    // Without a wait: what is worked out beside a context may use it for long.
    if waitsToWrite {
      _ = lock.withFreeLock(giveUpUnlessUsed)
    } else {
      holder.whileFree { _ = lock.withFreeLock(giveUpUnlessUsed) }
    }
  }

  func giveUpIfAsked() {
    if isAsked.load(ordering: .acquiring) { lock.withLock(giveUpUnlessUsed) }
  }

  private func giveUpUnlessUsed() {
    if depth > 0 || isPinned || transaction == nil { return }
    isAsked.store(false, ordering: .releasing)
    hasLost.store(true, ordering: .releasing)
    leave()
  }

  var isOfContext: Bool {
    get { isTaken.load(ordering: .acquiring) }
    set { isTaken.store(newValue, ordering: .releasing) }
  }

  /// Whether callers hold what is shown of it, so that the store is to keep it.
  var isInUse: Bool { !isLost && holder.isInUse() }

  /// Whether its context waits for the lock of the store, to write and to move on by that. Only with that lock held it
  /// is known to go on waiting.
  var waitsToWrite: Bool {
    get { isWaitingToWrite.load(ordering: .acquiring) }
    set {
      if newValue { noteThread() }
      isWaitingToWrite.store(newValue, ordering: .releasing)
    }
  }

  /// The thread that has last used it; 0 for none.
  var lastThread: UInt { usingThread.load(ordering: .relaxed) }

  private func noteThread() { usingThread.store(UInt(pthread_self()), ordering: .relaxed) }

  /// Whether it was given up, so that what is read since is newer than what the context shows.
  var isLost: Bool {
    if hasLost.load(ordering: .acquiring) { return true }
    if isNewest { return store.holdsMoments && isOutdated }
    return store.pool.hasLost && transaction?.isLost == true
  }

  /// Whether there is something newer than what was the last when its file could not be opened any more where it was.
  private var isOutdated: Bool {
    basis.withLock { $0.last.map { $0.changes != store.commits.newestState.changes } ?? false }
  }

  /// Whether it stays however long the log becomes.
  var isPinned: Bool {
    get { isKept.load(ordering: .acquiring) }
    set { isKept.store(newValue, ordering: .releasing) }
  }

  /// What is read from now on, the connection that writes reads, as far as there is nothing newer than this moment.
  func letGoOfFile() {
    _ = lock.withFreeLock { if depth == 0 { transaction?.closeUnlessUsed(store.commits.newestState) } }
  }

  /// For the thread that closes the store, before anything is closed.
  func checkMayClose() throws(Failure) {
    try lock.withLock { () throws(Failure) in
      if depth > 0 || transaction?.isInUse == true { throw store.busyFailure }
    }
  }

  func close() {
    lock.withLock {
      transaction?.close()
      leave()
    }
  }

  /// Replaces the log; returns what must be released without a lock.
  func setLog(_ log: SQLLog?) -> SQLTrace? { lock.withLock { transaction?.setLog(log) } }

  /// nil where it reads by the connection that writes from now on.
  private func begun() throws(Failure) -> ReadTransaction? {
    try store.checkMayRead()
    noteThread()
    beginAnewIfAsked()
    if let transaction {
      store.foldIfLongByOthers()
      if transaction.contents != nil { return transaction }
      if transaction.isLost { hasLost.store(true, ordering: .releasing) }
      leave()
    }
    do throws(Failure) {
      unreadInbox?.prepareToTake()
      let made = try ReadTransaction(store.pool)
      if let contents = made.contents { _ = unreadInbox?.take(upTo: contents.commit) }
      unreadInbox = nil
      setTransaction(made)
      return made
    } catch {
      unreadInbox?.takeNothing()
      // The file cannot be opened any more where it was. Nothing can be saved either, so that its state is the last
      // one.
      if error.kind != .fileMoved { throw error }
      isNewest = true
      basis.withLock { $0.last = store.commits.newestState }
      return nil
    }
  }

  struct Reference: WeakReference, Sendable {
    weak var moment: SQLiteMoment?
    var isGone: Bool { moment == nil }
  }
}

extension SQLiteMoment {
  var engine: any Engine { store }
  var schema: Schema { store.schema }
  var layouts: RowLayouts { store.layouts }
  var textIndexes: TextIndexes { store.textIndexes }
  var path: Text { store.path }
}

extension Store {
  /// What is in the file now. While a transaction is open on this thread, that is what the transaction sees.
  var newestMoment: SQLiteMoment { SQLiteMoment(newestOf: self) }
}
