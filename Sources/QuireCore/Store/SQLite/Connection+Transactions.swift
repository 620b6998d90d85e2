import CSQLite

extension Connection {
  /// The statements around a piece of work.
  private struct Ends {
    let begin: String, commit: String, rollback: String
    var writes = false
    var isRead = false

    static let write = Ends(begin: "BEGIN IMMEDIATE", commit: "COMMIT", rollback: "ROLLBACK", writes: true)
    static let read = Ends(begin: "BEGIN", commit: "COMMIT", rollback: "ROLLBACK", isRead: true)
    static let part = Ends(
      begin: "SAVEPOINT quire_part", commit: "RELEASE quire_part",
      rollback: "ROLLBACK TO quire_part; RELEASE quire_part")
  }

  /// Runs `body` in a write transaction; any error rolls it back. Inside another transaction: a plain call, or where
  /// that is one of `begin`, a part of it that an error takes back by itself.
  func transaction<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try checkBeforeTransaction()
    return try bracket(isHeld ? .part : .write) { () throws(Failure) in
      try checkFiles()
      if transactionDepth == 1, !isHeld { try checkModel?(self) }
      return try body()
    }
  }

  /// Runs `body` on one unchanging state of the file. Inside a transaction: a plain call.
  func snapshot<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if isHeld || isReading { return try body() }
    return try bracket(.read, body)
  }

  /// Whether something is under way that takes several statements.
  var isBusy: Bool { transactionDepth > 0 }

  var isInTransaction: Bool { isBusy || isHeld }

  /// Whether SQLite has a transaction open. After some errors (a full disk among them) it has rolled back by itself.
  var hasTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  /// Runs `body` in the midst of a transaction; an error undoes what `body` wrote, and nothing else.
  func savepoint<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try execute("SAVEPOINT quire_step")
    do throws(Failure) {
      let result = try body()
      try execute("RELEASE quire_step")
      return result
    } catch {
      if let handle, hasTransaction {
        try unwatched { () throws(Failure) in
          _ = sqlite3_exec(handle, "ROLLBACK TO quire_step; RELEASE quire_step", nil, nil, nil)
        }
      }
      throw error
    }
  }

  private func bracket<Result>(_ ends: Ends, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if transactionDepth == 0 {
      try statement(ends.begin).run()
      if ends.writes { beginWriting() }
    }
    transactionDepth += 1
    defer {
      transactionDepth -= 1
      if transactionDepth == 0, ends.writes { noteWriting?(false) }
    }
    do throws(Failure) {
      let result = try body()
      if transactionDepth == 1 {
        try unwatched { () throws(Failure) in
          if ends.writes { try commitWrites() } else { try statement(ends.commit).run() }
        }
      }
      return result
    } catch {
      if transactionDepth == 1, let handle, hasTransaction {
        try unwatched { () throws(Failure) in _ = sqlite3_exec(handle, ends.rollback, nil, nil, nil) }
      }
      if transactionDepth == 1, !ends.isRead { recorder?.rolledBack(isPart: !ends.writes) }
      throw moved(error)
    }
  }

  /// A failure, before which the log of a file that was moved goes into it, unless a transaction is still open.
  private func moved(_ failure: Failure) -> Failure {
    if failure.kind != .fileMoved || hasTransaction || gatherLog() { return failure }
    return Failure(.fileMoved, "\(failure.message) \(logIsLeft)", databaseCode: failure.databaseCode)
  }

  private func commitWrites() throws(Failure) {
    try fileWriter?.write()
    hasUncertainCommit = true
    commits?.announce(changeCount, on: self)
    logPageCount = 0
    do throws(Failure) { try statement("COMMIT").run() } catch {
      commits?.withdraw()
      throw error
    }
    commits?.file(hasWritten: commitCounter == nil || logPageCount > 0)
    recorder?.committed()
    hasUncertainCommit = false
    files?.noteWrite()
    fileWriter?.noteCommit()
  }

  /// Opens a write transaction that lasts until `commit` or `rollBack`.
  func begin() throws(Failure) {
    try checkBeforeTransaction()
    try statement("BEGIN IMMEDIATE").run()
    beginWriting()
    isHeld = true
    do throws(Failure) {
      try checkFiles()
      try checkModel?(self)
    } catch {
      rollBack()
      throw moved(error)
    }
  }

  /// Ends the transaction of `begin`. When that fails it is still open, unless it `hasLostTransaction`.
  func commit() throws(Failure) {
    try checkFiles()
    try commitWrites()
    isHeld = false
    noteWriting?(false)
  }

  func rollBack() {
    isHeld = false
    recorder?.rolledBack(isPart: false)
    if let handle, hasTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    noteWriting?(false)
  }

  private func beginWriting() {
    noteOthers()
    noteWriting?(true)
  }

  /// Runs `body` in the midst of a transaction as if that were one of `begin`: what `body` does in transactions are
  /// parts of it, each of which an error takes back by itself.
  func holding<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    assert(transactionDepth > 0 && !isHeld)
    let depth = transactionDepth
    (transactionDepth, isHeld) = (0, true)
    defer { (transactionDepth, isHeld) = (depth, false) }
    return try body()
  }

  /// Whether SQLite has rolled the transaction of `begin` back by itself.
  var hasLostTransaction: Bool {
    isHeld && handle != nil && !hasTransaction
  }
}
