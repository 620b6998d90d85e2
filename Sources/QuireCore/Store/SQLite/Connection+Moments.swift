import CSQLite

/// Showing one state of the file for as long as that is wanted.
extension Connection {
  /// Begins to show the newest state of the file, until `endReading`. Returns SQLite's number of its schema.
  func beginReading() throws(Failure) -> Int64 {
    assert(!isReading && !hasTransaction)
    let schema = try unheard { () throws(Failure) in
      try statement("BEGIN").run()
      do throws(Failure) {
        // BEGIN reads nothing yet, and so holds nothing.
        return try schemaNumber()
      } catch {
        rollBack()
        throw error
      }
    }
    isReading = true
    return schema
  }

  /// Returns whether the state is let go of: a statement that is still under way would keep it.
  @discardableResult
  func endReading() -> Bool {
    isReading = false
    guard let handle, hasTransaction else { return true }
    return unheard {
      do throws(Failure) { try statement("COMMIT").run() } catch { rollBack() }
      return sqlite3_txn_state(handle, "main") == SQLITE_TXN_NONE
    }
  }

  /// SQLite's count of the commits of the file, of any program, as it is now; nil where it keeps none.
  var changeCount: UInt32? { commitCounter.map { quire_sqlite_read_counter($0) } }

  /// A number that SQLite advances with the commits of other connections to the file, once it is asked for.
  func dataVersion() throws(Failure) -> Int64 {
    try unheard { () throws(Failure) in
      let version = try statement("PRAGMA data_version")
      defer { version.reset() }
      return try version.step() ? version.integer(at: 0) : 0
    }
  }

  /// Whether the file has a log, and this connection has it open. It has read the file just now.
  func usesLogNow() throws(Failure) -> Bool {
    try unheard { () throws(Failure) in
      let mode = try statement("PRAGMA journal_mode")
      defer { mode.reset() }
      return try mode.step() && mode.holds("wal", at: 0)
    }
  }

  /// From now on what other connections commit is noticed, in a file without a log.
  func countOthers() { seenDataVersion = try? dataVersion() }

  /// Files what other connections have committed to a file without a log, and returns whether that is something; nil
  /// where that cannot be asked now.
  @discardableResult
  func noteOthersUncounted() -> Bool? {
    guard let seen = seenDataVersion else { return false }
    guard let version = try? dataVersion() else { return nil }
    if version == seen { return false }
    seenDataVersion = version
    commits?.noteOthersUncounted(on: self)
    return true
  }

  /// The file is locked for writing: files what others have committed.
  func noteOthers() {
    if seenDataVersion == nil { commits?.noteOthers(changeCount, on: self) } else { noteOthersUncounted() }
  }

  /// Runs `body`, in which SQLite waits for no lock of another connection.
  func withoutWaiting<Result>(_ body: () -> Result) -> Result {
    guard let handle else { return body() }
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    return body()
  }

  /// How many pages the log has, and how many of them are in the file; nil where there is no index that says it.
  var logPages: (count: Int, foldedCount: Int)? {
    commitCounter.map { counter in
      let count = Int(quire_sqlite_log_page_count(counter))
      return (count, min(Int(quire_sqlite_folded_page_count(counter)), count))
    }
  }

  /// Finds the count. The file was read, and has a log that is shared with other connections.
  func followCommits() {
    if sharesNothing { return }
    commitCounter = handle.flatMap { UnsafePointer(quire_sqlite_commit_counter($0)) }
  }

  /// Leaves the log as it is: the store folds it. SQLite tells how long the log is in the place of that.
  func foldNothing() {
    guard let handle else { return }
    sqlite3_wal_hook(
      handle,
      { connection, _, _, pageCount in
        guard let connection else { return SQLITE_OK }
        Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().logPageCount = Int(pageCount)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Writes into the file what is in the log and no connection needs there, without waiting for any. Returns how many
  /// pages the log has, and how many of them are in the file.
  func fold() -> (pageCount: Int, foldedCount: Int)? {
    var pageCount: Int32 = 0, foldedCount: Int32 = 0
    guard let handle,
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pageCount, &foldedCount) == SQLITE_OK
    else { return nil }
    return (Int(pageCount), Int(foldedCount))
  }

  /// Gives back the memory, or the disk, of a log that is folded and that nothing reads. Returns whether it is empty.
  @discardableResult
  func truncateLog() -> Bool {
    guard let handle else { return false }
    return withoutWaiting {
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }
  }

  /// Runs statements of which a log is not told.
  func unheard<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    trace?.isPaused = true
    defer { trace?.isPaused = false }
    return try body()
  }

  private func unheard<Result>(_ body: () -> Result) -> Result {
    trace?.isPaused = true
    defer { trace?.isPaused = false }
    return body()
  }
}

extension Connection {
  /// Whether it has no locks of the file, so that what it reads keeps no other program from anything.
  var sharesNothing: Bool {
    switch access {
    case .readOnlyUnlocked, .immutable: true
    case .readWrite, .readOnly: false
    }
  }
}
