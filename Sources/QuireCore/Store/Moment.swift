import Glibc
import Synchronization

/// What is in a store as of one commit, for a context to read: whatever is committed meanwhile, it stays as it is.
///
/// It is a transaction for reading on a connection of its own, which is begun by the first use. The exception is the
/// moment that `Store.newest` returns. That one reads by the connection that writes, and sees what it has written.
///
/// One thread at a time uses it, that of its context. The store ends or renews it on other threads, under its lock.
final class Moment: @unchecked Sendable {
  let store: Store
  /// Whether it reads by the connection that writes.
  private var isNewest: Bool
  /// The newest commit that it contains; -1 where it was not begun.
  private let number = Atomic<Int64>(-1)
  private let lock = RecursiveLock()
  // Under the lock.
  private var connection: Connection? {
    didSet { if connection == nil { number.store(-1, ordering: .releasing) } }
  }
  /// How many uses are under way, each within the one before it.
  private var depth = 0
  /// Whether it was given up. What is read since is newer than what the context knows.
  private let hasLost = Atomic<Bool>(false)
  /// Runs what it is given if no call of the context is under way.
  typealias WhileFree = @Sendable (() -> Void) -> Void
  private let whileFree: WhileFree

  /// A moment that begins with its first use, at the newest commit of then.
  init(of store: Store, whileFree: @escaping WhileFree = { _ in }) {
    self.store = store
    self.whileFree = whileFree
    isNewest = !store.holdsMoments
    if !isNewest { store.moments.withLock { $0.add(.init(moment: self)) } }
  }

  fileprivate init(newestOf store: Store) {
    self.store = store
    whileFree = { _ in }
    isNewest = true
  }

  deinit {
    if let connection { store.pool.giveBack(connection) }
  }

  // MARK: Using it

  /// Runs `body` with the connection. The thread that is inside may enter again.
  func withConnection<Result>(
    monitor: FetchMonitor? = nil, _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if isNewest { return try store.withConnection(monitor: monitor, body) }
    let result = try lock.withLock { () throws(Failure) -> Result? in
      guard let connection = try begun() else { return nil }
      depth += 1
      defer { depth -= 1 }
      return try body(connection)
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

  /// The newest commit that it contains; nil where it was not begun.
  /// Does not wait for a use that is under way.
  var commit: Int64? {
    let number = number.load(ordering: .acquiring)
    return number < 0 ? nil : number
  }

  /// Whether SQLite counts a commit that it does not contain.
  var hasNews: Bool {
    if isNewest { return false }
    return lock.withLock { connection.map { store.commits.hasNews(at: $0.changeCount) } ?? false }
  }

  // MARK: Beginning and ending

  /// Begins it, if it has not begun, and returns the newest commit that it contains.
  @discardableResult
  func begin() throws(Failure) -> Int64 {
    if isNewest { return store.commits.newest }
    return try lock.withLock { () throws(Failure) in
      _ = try begun()
      return number.load(ordering: .acquiring)
    }
  }

  /// Lets go of what it holds. It begins anew with its next use.
  func end() {
    lock.withLock {
      assert(depth == 0)
      if let connection { store.pool.giveBack(connection) }
      connection = nil
    }
  }

  /// Goes on to the newest commit, on the same connection. What cannot be read now is read with the next use.
  func renew() {
    if isNewest { return }
    lock.withLock {
      guard let connection else {
        // From the first save on there is something that others can change.
        _ = try? begun()
        return
      }
      assert(depth == 0)
      do throws(Failure) {
        if !connection.endReading() { throw connection.closedFailure }
        number.store(try store.pool.beginReading(connection), ordering: .releasing)
      } catch {
        connection.close()
        self.connection = nil
        hasLost.store(true, ordering: .releasing)
      }
    }
  }

  /// Lets go of what it holds and takes hold of it again: the log can begin anew when all that is held is in the file.
  /// For the newest moment, while nothing is written. One that is in use stays as it is.
  func beginAnew() {
    _ = lock.withFreeLock { if depth == 0 { renew() } }
  }

  /// Lets go of what it holds, unless a call of its context is under way.
  func giveUp() {
    whileFree {
      lock.withLock {
        if depth > 0 { return }
        if let connection { lose(connection) }
      }
    }
  }

  /// Whether it was given up, so that the context has to move on.
  var isLost: Bool { hasLost.load(ordering: .acquiring) }

  private func lose(_ connection: Connection) {
    hasLost.store(true, ordering: .releasing)
    self.connection = nil
    store.pool.giveBack(connection)
  }

  /// What is read from now on, the connection that writes reads.
  func letGoOfFile() {
    _ = lock.withFreeLock {
      if depth > 0 { return }
      connection?.close()
      connection = nil
    }
  }

  /// For the thread that closes the store, before anything is closed.
  func checkMayClose() throws(Failure) {
    try lock.withLock { () throws(Failure) in
      if depth > 0 { throw store.busyFailure }
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

  /// nil where it reads by the connection that writes from now on.
  private func begun() throws(Failure) -> Connection? {
    try store.checkMayRead()
    if let connection { return connection }
    do throws(Failure) {
      let (made, newest) = try store.pool.take()
      connection = made
      number.store(newest, ordering: .releasing)
      return made
    } catch {
      // The file cannot be opened any more where it was. Nothing can be saved either, so that its state is the last
      // one.
      if error.kind != .fileMoved { throw error }
      isNewest = true
      number.store(store.commits.newest, ordering: .releasing)
      return nil
    }
  }

  struct Reference: WeakReference, Sendable {
    weak var moment: Moment?
    var isGone: Bool { moment == nil }
  }
}

extension Moment {
  var schema: Schema { store.schema }
  var model: Model { store.model }
  var layouts: RowLayouts { store.layouts }
  var textIndexes: TextIndexes { store.textIndexes }
  var path: Text { store.path }
}

extension Store {
  /// What is in the file now. While a transaction is open on this thread, that is what the transaction sees.
  var newest: Moment { Moment(newestOf: self) }
}
