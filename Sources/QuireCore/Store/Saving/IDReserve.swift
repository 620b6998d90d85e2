/// Primary keys that this store has taken from the file ahead of the objects that will get them. An object thus has its
/// final id from its insertion on. (The pattern is also called hi/lo. An unused key is a gap, which the layout allows.)
final class IDReserve {
  private static let firstBlock = 16
  private static let largestBlock = 4096

  private var next: Int64 = 0
  /// Behind the last.
  private var end: Int64 = 0
  private var block = IDReserve.firstBlock

  /// The first of `count` ids in a row, when they are at hand.
  func take(_ count: Int) -> Int64? {
    guard end - next >= Int64(count) else { return nil }
    defer { next += Int64(count) }
    return next
  }

  /// How many to ask the file for when `count` are needed now.
  func wanted(for count: Int) -> Int { max(count, block) }

  func refill(first: Int64, count: Int) {
    assert(count > 0)
    next = first
    end = first + Int64(count)
    block = min(block * 4, IDReserve.largestBlock)
  }

  /// The unassigned keys behind `lastUsed`, as long as no other writer has taken keys from the file since.
  var rest: (lastUsed: Int64, lastTaken: Int64)? { next < end ? (next - 1, end - 1) : nil }

  func empty() { end = next }

  /// The last key that was taken from the file by a transaction which is still open.
  private var lastUncommitted: Int64?
  /// Keys up to here were assigned to objects before their transaction was rolled back. They are
  /// not assigned again, so that a deleted object is not taken for another one.
  private(set) var lastGone: Int64 = 0

  func noteUncommitted(last: Int64) { lastUncommitted = last }

  func commit() { lastUncommitted = nil }

  func rollBack() {
    guard let last = lastUncommitted else { return }
    lastGone = max(lastGone, last)
    lastUncommitted = nil
    empty()
  }
}

extension Store {
  /// The first of `count` permanent ids in a row for new objects. nil when none are to be had now: the store is closed
  /// or read only, or something is being written. Then there are temporary ids. An insertion never waits.
  func reserveIDs(root: Entity, count: Int) -> Int64? {
    if isReadOnly || count == 0 || isClosed { return nil }
    if gate.isHeld, !gate.isHoldersCall { return nil }
    if let first = takeReserved(root, count) { return first }
    return lock.withFreeLock { try? refilledReserve(root: root, count: count) } ?? nil
  }

  /// For the thread that has the lock.
  private func refilledReserve(root: Entity, count: Int) throws(Failure) -> Int64? {
    try withConnection(waits: false) { connection throws(Failure) in
      if let first = takeReserved(root, count) { return first }
      // A save that is under way must not see this come between, nor undo it.
      if connection.isBusy { return nil }
      let wanted = reserves.withLock { $0[root.rootNumber, default: IDReserve()].wanted(for: count) }
      let first = try connection.withoutWaiting { () throws(Failure) in
        // What is lost in a power cut are keys of objects that were never saved: any save waits for what was before it.
        try connection.withoutSynchronizing { () throws(Failure) in
          try connection.transactionWithoutRows { () throws(Failure) in
            try allocateIDs(root: root, count: wanted, on: connection)
          }
        }
      }
      withReserve(of: root) { $0.refill(first: first, count: wanted) }
      return takeReserved(root, count)
    }
  }

  /// Returns the unassigned keys to the file, so that they leave no gaps in a file that is opened again.
  func returnReservedIDs(on connection: Connection, inTransaction: Bool = false) {
    let rests = reserves.withLock { reserves in
      defer { reserves = [:] }
      return reserves.compactMap { (root, reserve) in reserve.rest.map { (root, $0) } }
    }
    if rests.isEmpty || connection.isInTransaction && !inTransaction { return }
    try? connection.withoutWaiting { () throws(Failure) in
      try connection.withoutSynchronizing { () throws(Failure) in
        try connection.transactionWithoutRows { () throws(Failure) in
          for (root, rest) in rests {
            let statement = try connection.statement(
              "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?")
            try statement.bind(rest.lastUsed, at: 1)
            try statement.bind(Int64(root), at: 2)
            try statement.bind(rest.lastTaken, at: 3)
            try statement.run()
          }
        }
      }
    }
  }

  /// Those of one root, under the lock of all.
  func withReserve<Result>(of root: Entity, _ body: (IDReserve) -> Result) -> Result {
    reserves.withLock { reserves in
      if let known = reserves[root.rootNumber] { return body(known) }
      let made = IDReserve()
      reserves[root.rootNumber] = made
      return body(made)
    }
  }

  private func takeReserved(_ root: Entity, _ count: Int) -> Int64? {
    reserves.withLock { $0[root.rootNumber]?.take(count) }
  }
}
