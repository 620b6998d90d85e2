import Glibc
import Synchronization

/// The connections by which moments of a store read. Any thread.
final class MomentPool: @unchecked Sendable {
  /// Makes a connection like that of the store.
  private let open: () throws(Failure) -> Connection
  private let commits: Commits
  private let modelGuard: ModelGuard
  private let state = Guarded(State())
  /// Whether a transaction was ever lost. Each read of a context asks for that, and few stores ever lose one.
  private let hasEverLost = Atomic<Bool>(false)

  private struct State: @unchecked Sendable {
    var idle: [Connection] = []
    var log: SQLLog?
    var isClosed = false
  }

  /// Each has statements that are compiled, and some pages.
  private static let mostIdle = 4
  /// While other connections commit without a pause, a state is sometimes a later one by the time that it is known.
  private static let mostTries = 1000

  init(
    _ commits: Commits, _ modelGuard: ModelGuard, log: SQLLog?, open: @escaping () throws(Failure) -> Connection
  ) {
    self.commits = commits
    self.modelGuard = modelGuard
    self.open = open
    state.withLock { $0.log = log }
  }

  var hasLost: Bool { hasEverLost.load(ordering: .acquiring) }

  func noteLoss() { hasEverLost.store(true, ordering: .releasing) }

  /// A connection that shows the newest commit, and what that state contains.
  func take() throws(Failure) -> (Connection, MomentState) {
    var connection = state.withLock { $0.idle.popLast() }
    if connection == nil {
      let made = try open()
      if let log = state.withLock({ $0.log }) { made.setLog(log) }
      connection = made
    }
    guard let connection else { throw ProcessMark.inherited }
    do throws(Failure) { return (connection, try beginReading(connection)) } catch {
      connection.close()
      throw error
    }
  }

  /// Has a connection show the newest commit; returns what that state contains.
  func beginReading(_ connection: Connection) throws(Failure) -> MomentState {
    var tries = 0
    while true {
      let former = commits.count, before = connection.changeCount
      let schema = try connection.beginReading()
      do throws(Failure) { try modelGuard.check(connection, schema: schema) } catch {
        connection.endReading()
        throw error
      }
      if connection.commitCounter == nil { connection.followCommits() }
      let after = connection.changeCount
      tries += 1
      let isLastTry = tries > MomentPool.mostTries
      // The count only grows: what it was before and is after, it is for the state. Before a connection has read for
      // the first time, it is known from the newest commit that was filed.
      let isSure = before == after || before == nil && after == former
      if isSure || isLastTry, let state = commits.state(at: after, on: connection, after: former, isLastTry: isLastTry)
      {
        return state
      }
      connection.endReading()
    }
  }

  /// Takes back a connection, and lets go of what it shows.
  func giveBack(_ connection: Connection) {
    if !connection.mark.isHere { return connection.close() }
    let isFree = connection.endReading()
    // Released without the lock, because that may call the program.
    var former: SQLTrace?
    let isKept = state.withLock { state in
      if !isFree || state.isClosed || state.idle.count >= MomentPool.mostIdle { return false }
      // It may have been replaced while the connection was neither idle nor in use.
      former = connection.setLog(state.log)
      state.idle.append(connection)
      return true
    }
    withExtendedLifetime(former) {}
    if !isKept { connection.close() }
  }

  /// Replaces the log of the connections that are idle, and of those to come. Returns what must be released without a
  /// lock.
  func setLog(_ log: SQLLog?) -> [SQLTrace] {
    state.withLock { state in
      state.log = log
      return state.idle.compactMap { $0.setLog(log) }
    }
  }

  func closeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for connection in idle { connection.close() }
  }

  /// Returns the log, which must be released without a lock.
  func close() -> SQLLog? {
    let (idle, log) = state.withLock { state in
      state.isClosed = true
      defer { (state.idle, state.log) = ([], nil) }
      return (state.idle, state.log)
    }
    for connection in idle { connection.close() }
    return log
  }
}
