import Synchronization

/// An open file of objects, in the layout of Core Data's SQLite stores. May be used from any thread.
final class Store: Engine, @unchecked Sendable {
  struct Options: Sendable {
    var isReadOnly = false
    /// Fail when there is no store yet, instead of creating one.
    var mustExist = false
    /// A save may be lost in a power cut, though never half of one; saves are much faster.
    var synchronousNormal = false
    /// How long to wait for the lock of another process.
    var busyTimeoutMilliseconds: Int32 = 5000
    /// The log of each statement, those of the opening included.
    var log: SQLLog?
    /// Have the file keep a history of its changes from now on.
    var tracksHistory = false
    /// Which change journal the file keeps from now on; nil for what it has, and for the default of a new one.
    var changeJournal: ChangeJournal.Setting?
    /// How many bytes the write-ahead log may have before moments of contexts are given up for it; nil for the default.
    var logLimit: Int?
    /// Take a file of another model over to the one that is given.
    var migrates = false
    /// nil for what the file is, and SQLite for a new one.
    var type: StoreType?
  }

  let model: Model
  let schema: Schema
  let textIndexes: TextIndexes
  let derivedAttributes: DerivedAttributes
  /// What the triggers of others tell.
  let affected: AffectedValues
  let layouts: RowLayouts
  /// Values in files beside the store.
  let external: ExternalStorage
  let metadataChanges = MetadataChanges()
  /// Used with the lock held.
  let history: History
  /// Used with the lock held.
  let journal: ChangeJournal
  /// The file of a store whose objects are in memory while it is open; nil for one on SQLite, and for `:memory:`.
  let xml: XMLStoreFile?
  /// Upper case.
  let uuid: Text
  /// `:memory:` for a store in memory.
  let path: Text
  let isReadOnly: Bool
  /// Whether it is one for a callback of a migration: its transaction is there already, and its connection stays open.
  let isOfMigration: Bool
  /// Where the file is, whatever the current folder: absolute and without symbolic links. Caches are beside it.
  let location: Text

  /// Of what writes.
  let lock = RecursiveLock()
  /// The one that writes; for code inside `withConnection`, or code that holds the lock.
  let connection: Connection
  let commits: Commits
  /// The connections that read.
  let pool: MomentPool
  /// Whether states of the file can be held. Without a log that would keep other programs from writing.
  let holdsMoments: Bool
  let moments = Guarded(WeakReferences<SQLiteMoment.Reference>())
  let folding: LogFolding
  /// On which merges are worked out.
  let merging = BackgroundThread()
  /// From so many changed rows on. Others than the usual number are for tests.
  let fewestRows = Atomic<Int>(256)
  /// What the running transaction has changed, for the inboxes, when it is committed.
  var publication: Publication?
  /// What the running write has changed.
  var written: Publication?
  /// Of the fetches and batch requests that are under way.
  private let monitors = Guarded<[FetchMonitor]>([])
  private let monitorCount = Atomic<Int>(0)
  /// Becomes false under the lock.
  private let isOpen = Atomic<Bool>(true)
  private let lastTemporaryID = Atomic<Int64>(0)
  /// Handles to it, and contexts.
  private let useCount = Atomic<Int>(0)
  /// Of the contexts that follow what others save.
  let inboxes = Guarded(Inboxes())
  /// Once a program waits for what others commit.
  let watch = Guarded<FileWatch?>(nil)
  /// Whether it has the lock of the file that writing needs.
  let isWriting = Atomic<Bool>(false)
  let gate = TransactionGate()
  /// The transaction that a context holds open; used with the lock held.
  var held: HeldTransaction?
  /// By the number of the root entity.
  let reserves = Guarded<[Int: IDReserve]>([:])

  /// The parts are of a database whose tables are those of their schema; `open` makes sure of that.
  init(_ parts: Parts, holdsMoments: Bool, xml: XMLStoreFile? = nil, isOfMigration: Bool = false) {
    self.xml = xml
    self.isOfMigration = isOfMigration
    connection = parts.connection
    schema = parts.schema
    external = parts.external
    textIndexes = parts.textIndexes
    derivedAttributes = parts.derivedAttributes
    affected = parts.affected
    uuid = parts.uuid
    self.holdsMoments = holdsMoments
    let commits = Commits()
    self.commits = commits
    let modelGuard = ModelGuard(parts.hashes, schema: parts.schemaNumber)
    pool = MomentPool(commits, modelGuard, log: connection.trace?.log) {
      [weak connection, external, textIndexes] () throws(Failure) in
      guard let connection else { throw ProcessMark.inherited }
      return try connection.anotherForReading(external: external, searchesText: !textIndexes.all.isEmpty)
    }
    layouts = RowLayouts(schema: schema, derivedAttributes: derivedAttributes)
    model = schema.model
    history = History(schema: schema)
    journal = parts.journal
    path = connection.path
    location = xml.map { Text($0.location) } ?? connection.location
    isReadOnly = connection.isReadOnly || xml?.isReadOnly == true
    folding = LogFolding(pageSize: parts.pageSize, isInMemory: connection.memory != nil, limit: parts.logLimit)
    if holdsMoments {
      connection.followCommits()
      connection.foldNothing()
    } else {
      connection.countOthers()
    }
    let count = connection.changeCount
    commits.start(at: count, ChangesOfOthers(of: self, on: connection, at: count))
    connection.commits = commits
    connection.checkModel = modelGuard.check
    connection.closeOthers = { [weak self] in self?.letGoOfFile() }
    // The transaction of a migration has begun.
    if isOfMigration { isWriting.store(true, ordering: .sequentiallyConsistent) }
    connection.noteWriting = { [weak self] isWriting in self?.noteWriting(isWriting) }
  }

  deinit {
    if !connection.mark.isHere { return }
    returnReservedIDs(on: connection)
    // The one that writes is to be the last, which folds the log into the file.
    withExtendedLifetime(pool.close()) {}
    folding.connection?.close()
  }

  /// There is one more handle or context.
  func beginUse() { useCount.add(1, ordering: .relaxed) }

  /// There is one less. Without any the store is about to be closed by the caller, and not by a thread of its own that
  /// happens to hold it.
  func endUse() {
    if useCount.subtract(1, ordering: .acquiringAndReleasing).newValue > 0 || !connection.mark.isHere { return }
    for thread in threads { thread.stop() }
    for thread in threads { thread.resume() }
  }

  private var threads: [BackgroundThread] { [folding.thread, merging] }

  var isClosed: Bool {
    !connection.mark.isHere || !isOpen.load(ordering: .acquiring)
  }

  /// Closes the file; everything but `close` fails from then on. The last to close a file folds its log into it.
  func close() throws(Failure) {
    // To a forked process it is closed.
    if !connection.mark.isHere { return }
    if isOfMigration, !isClosed {
      throw Failure(
        .invalidState,
        "The store '\(path)' is being migrated, and this one is a callback's of that. It is closed when the callback "
          + "has returned.")
    }
    // Before the lock, which those threads may wait for.
    for thread in threads { thread.stop() }
    var isClosing = false
    defer { if !isClosing { for thread in threads { thread.resume() } } }
    // Released without the lock, because that may call the program.
    var log: SQLTrace?, poolLog: SQLLog?
    defer { withExtendedLifetime((log, poolLog)) {} }
    try lock.withLock { () throws(Failure) in
      try checkIsNotReporting()
      if connection.isBusy { throw busyFailure }
      for moment in allMoments { try moment.checkMayClose() }
      giveUpTransaction()
      returnReservedIDs(on: connection)
      let isWhole = connection.gatherLog(), logIsLeft = connection.logIsLeft
      isOpen.store(false, ordering: .releasing)
      isClosing = true
      folding.connection?.close()
      for moment in allMoments { moment.close() }
      poolLog = pool.close()
      log = connection.setLog(nil)
      connection.close()
      external.close()
      watch.withLock { $0 = nil }
      closeInboxes()
      if !isWhole {
        throw Failure(
          .fileMoved,
          "The store '\(path)' is closed. Its file, or the log of that, was moved, deleted or replaced while it was "
            + "open. \(logIsLeft)")
      }
    }
  }

  /// Ends a store of a migration: everything fails from then on. Its connection, and the transaction, go on without it.
  func detach() {
    for thread in threads { thread.stop() }
    lock.withLock {
      if isOpen.load(ordering: .relaxed) { returnReservedIDs(on: connection, inTransaction: true) }
      isOpen.store(false, ordering: .releasing)
      letGoOfTransaction()
      closeInboxes()
      withExtendedLifetime(pool.close()) {}
    }
  }

  /// SQLite has given up the transaction of a migration. What would be written now would be outside of it.
  func endForLoss() { isOpen.store(false, ordering: .releasing) }

  /// Reports the end of each statement to `log`; nil ends that.
  func setLog(_ log: SQLLog?) throws(Failure) {
    // A log needs not wait for the end of a transaction.
    let former = try withOpenLock { () throws(Failure) in
      return [connection.setLog(log)] + pool.setLog(log) + allMoments.map { $0.setLog(log) }
    }
    withExtendedLifetime(former) {}
  }

  /// Whether no file of SQLite is there.
  var isInMemory: Bool { connection.memory != nil }

  var allMoments: [SQLiteMoment] { moments.withLock { $0.all.compactMap(\.moment) } }

  var busyFailure: Failure {
    Failure(.invalidState, "The store '\(path)' cannot be closed while it reads or saves. Close it afterwards.")
  }

  /// The first of `count` ids for objects that are not saved yet; the others follow downwards.
  func takeTemporaryIDs(_ count: Int) -> Int64 {
    lastTemporaryID.subtract(Int64(count), ordering: .relaxed).oldValue - 1
  }

  /// Throws `closed` when the store is not open any more. Does not wait for a transaction to end.
  func checkOpen() throws(Failure) {
    try checkMayRead()
    // Each read of a value asks this, so the lock is taken only where there is more to look at.
    if gate.isHoldersCall { try withOpenLock { noteLoss() } }
  }

  /// Throws `closed` when the store is not open any more. Takes no lock.
  func checkMayRead() throws(Failure) {
    if !connection.mark.isHere { throw ProcessMark.inherited }
    if !isOpen.load(ordering: .acquiring) { throw connection.closedFailure }
    if monitorCount.load(ordering: .relaxed) > 0 { try checkIsNotReporting() }
  }

  /// Runs `body` alone on the connection; other threads wait. The thread that is inside may enter again.
  ///
  /// While a context holds a transaction open, calls of other contexts wait for its end, unless they are not to, and
  /// fail with `busy` in the end.
  func withConnection<Result>(
    waits: Bool = true, monitor: FetchMonitor? = nil, _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withOpenLock { () throws(Failure) in
      if held != nil { try admit(waits: waits, monitor) }
      return try body(connection)
    }
  }

  /// Runs `body` under the lock if the store is open and its connection is not in the middle of a statement.
  private func withOpenLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    // In a forked process the lock may be held by a thread that does not exist there.
    if !connection.mark.isHere { throw ProcessMark.inherited }
    return try lock.withLock { () throws(Failure) in
      guard isOpen.load(ordering: .relaxed) else { throw connection.closedFailure }
      try checkIsNotReporting()
      return try body()
    }
  }

  /// Runs `body` with everything that it reads under the eyes of `monitor`; other threads wait until it is done.
  func watched<Result>(
    by monitor: FetchMonitor?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let monitor else { return try body() }
    return try withConnection(monitor: monitor) { connection throws(Failure) in
      try noting(monitor) { () throws(Failure) in try connection.watched(by: monitor, body) }
    }
  }

  /// Runs `body`, during which `monitor` may report progress.
  func noting<Result>(
    _ monitor: FetchMonitor, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    monitors.withLock { $0.append(monitor) }
    monitorCount.add(1, ordering: .relaxed)
    defer {
      monitorCount.subtract(1, ordering: .relaxed)
      monitors.withLock { $0.removeAll { $0 === monitor } }
    }
    return try body()
  }

  /// SQLite is in the middle of a statement while it has progress reported, and must not run another.
  private func checkIsNotReporting() throws(Failure) {
    if monitors.withLock({ $0.contains(where: \.isReportingHere) }) {
      throw Failure(
        .invalidState,
        "The store '\(path)' cannot be used from the function that a fetch or batch request tells its progress. "
          + "Return from there first.")
    }
  }
}
