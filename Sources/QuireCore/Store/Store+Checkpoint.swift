import Glibc

/// Checkpoints that a program asks for, and giving free pages back.
extension Store {
  /// What keeps the write-ahead log (WAL) from being emptied.
  private enum Obstacle {
    case contexts(count: Int, pinnedCount: Int, mayAdvance: Bool)
    /// Another program writes.
    case writer
    /// Another program reads, or a call of another thread of this process.
    case readers
  }

  /// So many milliseconds pass between two tries.
  private static let pause = 5

  /// So many pages are given back at a time. Other threads and programs write in between.
  private static let pagesAtATime = 1024

  /// Writes what is in the WAL into the file, and empties the WAL. Waits for at most the busy timeout, and fails with
  /// `busy` when something keeps the WAL even then. Any thread.
  func checkpoint() throws(Failure) {
    try checkMayCheckpoint("checkpointed")
    if !holdsMoments { return }
    let own = try connection.anotherBesideLog()
    defer { own.close() }
    _ = try own.schemaNumber()
    // Most of it without a lock.
    _ = own.fold()
    var waited = 0
    while let obstacle = try emptyLog(own) {
      var isHopeless = waited >= Int(connection.busyTimeoutMilliseconds)
      if case .contexts(_, _, mayAdvance: false) = obstacle { isHopeless = true }
      if isHopeless { throw failure(obstacle) }
      usleep(UInt32(Store.pause * 1000))
      waited += Store.pause
    }
  }

  /// Gives the free pages of the file back to the file system, and returns how many bytes these are. Then the WAL is
  /// emptied, by which the file becomes shorter: this fails as `checkpoint` does. Any thread.
  ///
  /// SQLite moves pages, and no row gets another key: moments, indexes and the history are not concerned.
  func compact() throws(Failure) -> Int {
    try checkMayCheckpoint("compacted")
    var freed = 0
    while true {
      let count = try freeSomePages()
      if count == 0 { break }
      freed += count
    }
    try checkpoint()
    return freed * folding.pageSize
  }

  private func checkMayCheckpoint(_ what: String) throws(Failure) {
    try checkMayRead()
    if xml != nil {
      throw Failure(
        .unsupported,
        "The store '\(path)' cannot be \(what): an XML store has neither a write-ahead log nor free pages. Each commit "
          + "writes its file anew.")
    }
    if isReadOnly {
      throw Failure(
        .readOnly, "The store '\(path)' is open for reading only and cannot be \(what). Open it for writing.")
    }
    if isOfMigration {
      throw Failure(.invalidState, "The store '\(path)' is being migrated and cannot be \(what) meanwhile.")
    }
  }

  private func checkIsIdle(_ connection: Connection) throws(Failure) {
    if connection.isInTransaction {
      throw Failure(
        .invalidState,
        "The store '\(path)' is in the midst of a read or a save of this thread. Checkpoint or compact it afterwards.")
    }
  }

  /// Gives back some free pages in one transaction, and returns how many; 0 when there are none.
  private func freeSomePages() throws(Failure) -> Int {
    awaitCheckpoint(before: nil)
    return try withConnection { connection throws(Failure) in
      try checkIsIdle(connection)
      if try connection.number(of: "freelist_count") == 0 { return 0 }
      if try connection.number(of: "auto_vacuum") != Connection.incrementalVacuum {
        throw Failure(
          .unsupported,
          "The store '\(path)' cannot be compacted, because its file was created without incremental vacuum. Close it "
            + "in all programs and run PRAGMA auto_vacuum = 2 and VACUUM with SQLite's own command; the next open for "
            + "writing rebuilds the text indexes.")
      }
      let count = try connection.number(of: "page_count")
      try connection.transaction { () throws(Failure) in
        let vacuum = try connection.statement("PRAGMA incremental_vacuum(\(Store.pagesAtATime))")
        while try vacuum.step() {}
      }
      renewMoments()
      foldIfLong()
      return count - (try connection.number(of: "page_count"))
    }
  }

  /// Empties the WAL if nothing needs what is in it; returns what does.
  private func emptyLog(_ own: Connection) throws(Failure) -> Obstacle? {
    try withConnection { connection throws(Failure) in
      try checkIsIdle(connection)
      var obstacle: Obstacle?
      do throws(Failure) {
        try connection.withoutWaiting { () throws(Failure) in
          // Other programs do not write meanwhile.
          try connection.transaction { () throws(Failure) in obstacle = restartLog(own) }
        }
      } catch {
        if error.kind != .busy { throw error }
        return .writer
      }
      return obstacle ?? (own.truncateLog() ? nil : .readers)
    }
  }

  /// Writes the rest of the WAL into the file, and has the moments read from there.
  private func restartLog(_ own: Connection) -> Obstacle? {
    let older = olderMoments
    if !older.isEmpty {
      let current = UInt(pthread_self())
      return .contexts(
        count: older.count, pinnedCount: older.count(where: \.isPinned),
        mayAdvance: !older.contains { $0.lastThread == current })
    }
    renewMoments()
    guard let state = own.fold(), state.pageCount == state.foldedCount else { return .readers }
    if !beginMomentsAnew(waits: true) { return .readers }
    folding.noteEnd(of: state.pageCount)
    return nil
  }

  private func failure(_ obstacle: Obstacle) -> Failure {
    let who: String
    switch obstacle {
    case .contexts(let count, let pinnedCount, _):
      let pinned = pinnedCount == 0 ? "" : ", \(pinnedCount) of them pinned"
      who =
        "\(count) \(count == 1 ? "context of this process shows" : "contexts of this process show") an older moment"
        + "\(pinned). Merge \(count == 1 ? "it" : "them")\(pinnedCount == 0 ? "" : ", and end the pins,") first."
    case .writer: who = "another process or connection writes to it. Try again when it is done."
    case .readers:
      who = "another process or connection reads it, or another thread of this process. Try again when that is done."
    }
    return Failure(.busy, "The write-ahead log of the store '\(path)' cannot be emptied: \(who)")
  }
}
