import CQuireFormat
import CSQLite
import Synchronization

/// One SQLite database handle. Not safe for several threads by itself; `Store` holds a lock around it.
final class Connection {
  /// The name of the file in messages.
  let path: Text
  let isReadOnly: Bool
  /// The failure of a registered SQL function during the running statement; `Statement.step` throws it on.
  var pendingFailure: Failure?

  /// How many statements were begun; for tests of what is read when.
  private(set) var statementCount = 0
  /// The monitor of the running fetch or batch request, if there is one.
  private(set) var monitor: FetchMonitor?

  /// Whether texts lie in the file as UTF-8, as in every store that Quire or Core Data made; false until it is known.
  var isUTF8 = false
  /// The receiver of rows in passing, unretained; see `PassingFunction`.
  var passing: UnsafeRawPointer?

  /// What fails until this is false is, to the caller, the opening.
  var isOpening = true

  private(set) var handle: OpaquePointer?
  /// The process that may use the handle. A forked one must not even close it.
  let mark = ProcessMark()
  private var claim: FileClaim?
  /// Handles of the process from which this one was forked: never closed, and not lost either.
  private static let inherited = Guarded<[OpaquePointer]>([])
  /// The log of the statements; nil when nothing is logged.
  private(set) var trace: SQLTrace?
  private var idleStatements: [String: IdleStatement] = [:]
  var transactionDepth = 0
  /// Whether a transaction is open between calls; see `begin`.
  var isHeld = false
  /// Whether it shows one state of the file between calls; see `beginReading`.
  var isReading = false
  /// Where SQLite counts the commits of the file; nil where it does not.
  var commitCounter: UnsafePointer<UInt32>?
  /// What is told of the writes of this connection; nil for one that only reads.
  weak var commits: Commits?
  /// Records what the transactions change; nil for a connection that only reads.
  var recorder: (any TransactionRecorder)?
  /// Called before a transaction is committed that writes, and may fail it; and after that. nil where SQLite writes the
  /// file.
  var fileWriter: (write: () throws(Failure) -> Void, noteCommit: () -> Void)?
  /// Called with true once it has the lock for writing, and with false when it has given that back. No other program
  /// commits in between.
  var noteWriting: ((Bool) -> Void)?
  /// Of a file without a log: what SQLite has said when it was last asked for commits of others.
  var seenDataVersion: Int64?
  /// Closes other connections of the store, as far as they are not in use.
  var closeOthers: (() -> Void)?
  /// How many pages the log had after the last commit of this connection.
  var logPageCount = 0
  /// Whether the last COMMIT failed. What it wrote is undone for all that use the file now, and may come into it when
  /// all of them end, until another commit takes its place in the log.
  var hasUncertainCommit = false
  private var departing: [AnyObject] = []
  private var isLettingGo = false
  private(set) var synchronizesSaves = true
  let busyTimeoutMilliseconds: Int32
  /// How it reaches the file.
  let access: Access
  /// Values in files beside the store; nil until the model is known.
  var external: ExternalStorage?
  /// Whether it has the SQL function that reads such values.
  var hasExternalFunction = false
  /// Hears what triggers tell; nil until the model is known.
  var noteAffected: AffectedBody?
  /// Fails in a transaction for a file that is not of the model of its store any more; nil while that is being opened.
  var checkModel: ((Connection) throws(Failure) -> Void)?
  /// The files of a database in memory.
  let memory: MemoryFiles?
  /// nil in memory, and while the store is being opened.
  var files: OpenFiles?
  /// What a reader makes beside the file, and an opening for writing that may yet fail; nil for a writer.
  var shared: SharedFiles?
  /// Refuses locks of a file that has moved; nil when the store is open.
  var fileGuard: UnsafeMutablePointer<quire_sqlite_guard>?

  /// Enough for the statements of a large model; when full, the pool starts again from nothing.
  private static let idleStatementLimit = 256

  /// How `init` reaches the file.
  enum Access {
    case readWrite(mayCreate: Bool)
    case readOnly
    /// Takes no locks and keeps the index of the write-ahead log in memory. For a log in a folder that cannot be
    /// written, where SQLite cannot make the shared index file that it otherwise needs. Read-only.
    case readOnlyUnlocked
    /// The file is taken to never change, and a write-ahead log beside it is not looked at. Read-only.
    case immutable

    var isReadOnly: Bool { if case .readWrite = self { false } else { true } }
  }

  /// Opens `path`, `:memory:` being a database in memory, that of `memory` or a new one. With `memory` the database is
  /// in memory whatever the path, which is then that of a file that SQLite does not know.
  /// SQLite reads the file only at the first statement.
  init(
    path: Text, access: Access, busyTimeoutMilliseconds: Int32, memory: MemoryFiles? = nil
  ) throws(Failure) {
    self.path = path
    if let memory { self.memory = memory } else { self.memory = path == ":memory:" ? try MemoryFiles() : nil }
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.access = access
    isReadOnly = access.isReadOnly
    // NOMUTEX: the store's lock already serialises all use of this handle.
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var name = Connection.plainName(path)
    var fileSystem: String?
    if let memory = self.memory {
      name = memory.name
      fileSystem = MemoryFiles.fileSystem
    }
    switch access {
    case .readWrite(let mayCreate):
      flags |= SQLITE_OPEN_READWRITE | (mayCreate ? SQLITE_OPEN_CREATE : 0)
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .readOnlyUnlocked:
      flags |= SQLITE_OPEN_READONLY
      fileSystem = "unix-none"
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = Connection.uri(path) + "?immutable=1"
    }
    let claimed: Text = self.memory == nil ? path : ":memory:"
    try FileClaim.checkNotInherited(claimed)
    try OpenFiles.checkName(claimed)
    quire_locks_install()
    var opened: OpaquePointer?
    let (code, claim) = FileClaim.opening(claimed) { sqlite3_open_v2(name, &opened, flags, fileSystem) }
    handle = opened
    if code != SQLITE_OK {
      let failure = failure(code, doing: "open")
      close()
      throw failure
    }
    self.claim = claim
    if case .readOnly = access { shared = SharedFiles(beside: location) }
    guardFile()
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    // A file may come from anywhere: what its triggers and views call must be known to be harmless.
    _ = quire_sqlite_set_trusted_schema(handle, 0)
  }

  deinit { close() }

  /// SQLite's, as it says it itself.
  static var libraryVersion: UnsafePointer<CChar>? { sqlite3_libversion() }

  /// Idempotent. Statements still held elsewhere keep SQLite's handle alive until they go.
  func close() {
    if !mark.isHere {
      for statement in idleStatements.values { _ = statement.take() }
      if let handle { Connection.inherited.withLock { $0.append(handle) } }
      handle = nil
      return
    }
    for statement in idleStatements.values { statement.finish() }
    idleStatements = [:]
    setLog(nil)
    let location = location
    if let open = handle {
      // The end of the log must not go into another file, nor the log of another file go with it.
      if files?.isApart == true || files?.isReplaced == true {
        _ = gatherLog()
        setCheckpointsOnClose(false)
      }
      stopGuardingFile()
      sqlite3_close_v2(open)
    }
    handle = nil
    files?.forget()
    files = nil
    claim = nil
    shared?.remove(at: location)
    shared = nil
  }

  /// Reports the end of each statement to `log`; nil ends that. Returns what followed the statements before: letting
  /// go of it may call the program, which is not done under a lock.
  @discardableResult
  func setLog(_ log: SQLLog?) -> SQLTrace? {
    guard let handle else { return nil }
    let former = trace
    // SQLite must not call what is gone.
    sqlite3_trace_v2(handle, 0, nil, nil)
    trace = log.map(SQLTrace.init)
    trace?.follow(handle)
    return former
  }

  /// Makes the file use a write-ahead log, as Core Data does when it opens one. The older journal does as well where
  /// there can be no log: the file system has no shared memory, or another process is using the file without a log.
  func useLog() {
    guard let handle else { return }
    sqlite3_busy_timeout(handle, 0)
    // Processes that open a new file together are in each other's way here, for a moment.
    for _ in 0..<Connection.triesToUseLog {
      if sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nil, nil, nil) & 0xFF != SQLITE_BUSY { break }
      sqlite3_sleep(Connection.millisecondsBetweenTries)
    }
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
  }

  private static let triesToUseLog = 20

  /// Fails when SQLite has opened the file for reading, because the system did not open it for writing. It does not say
  /// so, and each save would fail.
  func checkIsOpenForWriting() throws(Failure) {
    guard let handle, !isReadOnly, sqlite3_db_readonly(handle, "main") == 1 else { return }
    let failure = Failure(
      .readOnly,
      "Could not open '\(path)' for writing: its file or folder cannot be written. Open it for reading only, or change "
        + "the permissions and the owner of both.", databaseCode: SQLITE_READONLY)
    close()
    throw failure
  }

  /// The same for the log and its index, once the file was read.
  func checkIsWritable() throws(Failure) {
    do throws(Failure) {
      try withoutWaiting { () throws(Failure) in try transaction { () throws(Failure) in } }
    } catch {
      if error.kind == .busy { return }
      if error.kind != .readOnly { throw error }
      throw Failure(
        .readOnly,
        "Could not open '\(path)' for writing: its log '\(path)-wal', or '\(path)-shm' beside it, cannot be written. "
          + "Open it for reading only, or change the permissions and the owner of these files.",
        databaseCode: error.databaseCode)
    }
  }

  /// Runs `body` so that a lock of another process is a failure at once.
  func withoutWaiting<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    return try body()
  }

  /// Whether a transaction that has ended survives a power cut. Without a log all do: a journal that is synchronized
  /// once can be torn, and would be played back with the wrong pages.
  func setSynchronizesSaves(_ isOn: Bool) throws(Failure) {
    if memory != nil {
      try execute("PRAGMA synchronous = OFF")
      synchronizesSaves = false
      return
    }
    var isSynchronized = isOn
    if !isOn { isSynchronized = try !usesLog() }
    try execute("PRAGMA synchronous = \(isSynchronized ? "FULL" : "NORMAL")")
    synchronizesSaves = isSynchronized
  }

  private func usesLog() throws(Failure) -> Bool {
    let mode = try statement("PRAGMA journal_mode")
    return try mode.step() && mode.holds("wal", at: 0)
  }

  /// Runs `body` so that its transactions may be lost in a power cut, though not before those that come after them.
  func withoutSynchronizing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if !synchronizesSaves || isInTransaction { return try body() }
    try setSynchronizesSaves(false)
    let result: Result
    do throws(Failure) { result = try body() } catch {
      try setSynchronizesSaves(true)
      throw error
    }
    try setSynchronizesSaves(true)
    return result
  }

  /// Whether the last to close the file folds its log into it, as is usual.
  func setCheckpointsOnClose(_ isOn: Bool) {
    if let handle { _ = quire_sqlite_set_checkpoint_on_close(handle, isOn ? 1 : 0) }
  }

  /// A name that SQLite takes for a plain path even where URIs are turned on globally.
  private static func plainName(_ path: Text) -> String {
    let name = path.string
    return name.utf8.first == UInt8(ascii: "/") ? name : "./" + name
  }

  private static func uri(_ path: Text) -> String {
    let isAbsolute = path.bytes.buffer.first == UInt8(ascii: "/")
    var uri = isAbsolute ? "file://" : "file:./"
    for byte in path.bytes.buffer {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        uri += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return uri
  }
}

// MARK: - Statements

extension Connection {
  /// Runs statements that return no rows and have no parameters.
  func execute(_ sql: String) throws(Failure) {
    guard let handle else { throw closedFailure }
    pendingFailure = nil
    statementCount += 1
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw pendingFailure ?? failure(code, doing: "run \(Connection.excerpt(sql))") }
  }

  /// A statement ready to be bound. Its compiled form is reused if it is kept; two uses at the same time get two.
  func statement(_ sql: String, isKept: Bool = true) throws(Failure) -> Statement {
    guard let handle else { throw closedFailure }
    statementCount += 1
    var idle = isKept ? idleStatements[sql] : IdleStatement()
    if let prepared = idle?.take(), let idle { return Statement(prepared, sql: sql, connection: self, idle) }
    var prepared: OpaquePointer?
    // The monitor is asked while SQLite compiles, too.
    pendingFailure = nil
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      if let failure = pendingFailure ?? tooLargeFailure { throw failure }
      throw failure(code == SQLITE_OK ? SQLITE_MISUSE : code, doing: "run \(Connection.excerpt(sql))")
    }
    if idle == nil {
      if idleStatements.count >= Connection.idleStatementLimit {
        idleStatements.removeAll(keepingCapacity: true)
      }
      idle = IdleStatement()
      idleStatements[sql] = idle
    }
    return Statement(prepared, sql: sql, connection: self, idle ?? IdleStatement())
  }

  /// Takes back what `statement` gave out; it is already reset and unbound.
  func recycle(_ prepared: OpaquePointer, _ idle: IdleStatement) {
    if handle == nil || !idle.keep(prepared) { sqlite3_finalize(prepared) }
  }

  /// Rows that the last finished INSERT, UPDATE or DELETE touched, without those its triggers touched.
  var changes: Int { handle.map { Int(sqlite3_changes64($0)) } ?? 0 }

  /// How many rows were touched since the connection was opened, those by triggers included.
  var totalChanges: Int64 { handle.map { sqlite3_total_changes64($0) } ?? 0 }

  /// The key of the row that was inserted last.
  var lastInsertedRow: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// The start of a statement, for messages.
  static func excerpt(_ sql: String) -> String {
    sql.utf8.count <= 120 ? "'\(sql)'" : "'\(String(sql.prefix(117)))...'"
  }
}

// MARK: - Ending statements

extension Connection {
  /// Releases the values bound to a statement, one after the other. Parts of a predicate are statements too, with parts
  /// bound to them. Each would otherwise end within the end of the one around it.
  func letGo(of objects: inout [AnyObject]) {
    if objects.isEmpty { return }
    departing.append(contentsOf: objects)
    objects = []
    if isLettingGo { return }
    isLettingGo = true
    while let object = departing.popLast() { withExtendedLifetime(object) {} }
    isLettingGo = false
  }
}

// MARK: - Watching

extension Connection {
  /// SQLite looks at the monitor after each run of so many steps of its programs: some microseconds, unless a step
  /// calls a slow function.
  private static let stepsBetweenLooks: Int32 = 250
  private static let millisecondsBetweenTries: Int32 = 5

  /// Runs `body` with all its statements under the eyes of `monitor`.
  func watched<Result>(
    by monitor: FetchMonitor?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let monitor else { return try body() }
    let outer = self.monitor
    watch(monitor)
    defer { watch(outer) }
    try monitor.check()
    return try body()
  }

  /// To be called between the rows of what is done row by row, before one that `isWritten`.
  func mayGoOn(isWritten: Bool = false) throws(Failure) {
    guard let monitor else { return }
    try monitor.check()
    if isWritten { monitor.countRow() }
  }

  /// Runs what is not to be broken off.
  func unwatched<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    guard let monitor else { return try body() }
    watch(nil)
    defer { watch(monitor) }
    return try body()
  }

  private func watch(_ monitor: FetchMonitor?) {
    self.monitor = monitor
    Interruption.watch(by: monitor)
    guard let handle else { return }
    if monitor == nil {
      sqlite3_progress_handler(handle, 0, nil, nil)
      sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
      return
    }
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_progress_handler(
      handle, Connection.stepsBetweenLooks,
      { connection in
        guard let connection else { return 0 }
        return Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().goesOn() ? 0 : 1
      }, context)
    // Waits for the lock of another process as SQLite would, but not for a fetch or request that was cancelled.
    sqlite3_busy_handler(
      handle,
      { connection, times in
        guard let connection else { return 0 }
        return Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().waits(times) ? 1 : 0
      }, context)
  }

  private func goesOn() -> Bool {
    guard let monitor, !monitor.mayGoOn() else { return true }
    // To interrupt a statement that writes would end the transaction around it, with what was written before.
    if isHeld, isWriting { return true }
    pendingFailure = monitor.failure
    return false
  }

  private var isWriting: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let some = statement {
      if sqlite3_stmt_busy(some) != 0, sqlite3_stmt_readonly(some) == 0 { return true }
      statement = sqlite3_next_stmt(handle, some)
    }
    return false
  }

  private func waits(_ times: Int32) -> Bool {
    if !goesOn() || Int64(times) * Int64(Connection.millisecondsBetweenTries) >= Int64(busyTimeoutMilliseconds) {
      return false
    }
    sqlite3_sleep(Connection.millisecondsBetweenTries)
    return true
  }
}
