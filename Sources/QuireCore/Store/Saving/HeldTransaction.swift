import Synchronization

/// A transaction of the file that a context holds open between its calls, and what it has written so far.
final class HeldTransaction: @unchecked Sendable {
  /// Of the context that holds it, which is not notified of its own writes.
  let inbox: ChangeInbox
  /// Whether it is that of a stage of a migration, which ends it.
  let isOfMigration: Bool
  fileprivate let end = Atomic<End>(.none)
  // Used under the store's lock.
  /// The thread that used it last.
  fileprivate var thread = TransactionGate.currentThread
  /// The notice to other contexts for the commit.
  fileprivate var changes: [StoreChange] = []

  /// How it has ended other than by its holder.
  enum End: UInt8, AtomicRepresentable {
    case none
    /// SQLite had to give it up.
    case lost
    /// The store was closed.
    case closed
  }

  fileprivate init(_ inbox: ChangeInbox, isOfMigration: Bool) {
    self.inbox = inbox
    self.isOfMigration = isOfMigration
  }

  var isLost: Bool { end.load(ordering: .relaxed) == .lost }
  var isClosed: Bool { end.load(ordering: .relaxed) == .closed }

  /// The rows after all changes were taken back, for the holder to merge.
  var takenBack: StoreChange {
    var existed: [RowIdentifier: Bool] = [:]
    var deleted: Set<RowIdentifier> = []
    var membershipChanges: [ObjectIdentifier: (relationship: Relationship, owners: Set<RowIdentifier>)] = [:]
    for change in changes {
      for row in change.inserted where existed[row] == nil { existed[row] = false }
      for row in change.updated where existed[row] == nil { existed[row] = true }
      for row in change.deleted {
        if existed[row] == nil { existed[row] = true }
        deleted.insert(row)
      }
      for (relationship, owners) in change.membershipChanges {
        membershipChanges[ObjectIdentifier(relationship), default: (relationship, [])].owners.formUnion(owners)
      }
    }
    var change = StoreChange()
    for (row, existed) in existed.sorted(by: { ($0.key.entity, $0.key.id) < ($1.key.entity, $1.key.id) }) {
      if !existed {
        change.deleted.append(row)
        continue
      }
      change.updated.append(row)
      if deleted.contains(row) { change.returned.append(row) }
    }
    change.membershipChanges = membershipChanges.values.map { ($0.relationship, Array($0.owners)) }
    return change
  }
}

extension Store {
  /// Begins a transaction that lasts until its holder, a context, ends it. Saves and batch requests of the holder are
  /// part of it. Other contexts do not write meanwhile, and go on to read their moments.
  func beginTransaction(for holder: UInt, _ inbox: ChangeInbox) throws(Failure) -> HeldTransaction {
    awaitCheckpoint(before: nil)
    return try withConnection { connection throws(Failure) in
      try checkWritable()
      // That of a migration has begun.
      if !isOfMigration {
        if connection.isInTransaction {
          throw Failure(.invalidState, "The store '\(path)' is reading; a transaction begins when it is done.")
        }
        try connection.begin()
      }
      let transaction = HeldTransaction(inbox, isOfMigration: isOfMigration)
      held = transaction
      gate.hold(by: holder)
      return transaction
    }
  }

  /// Ends a transaction for good. When that fails it is still open, or lost.
  ///
  /// `completion` is called before any other caller can write.
  func commit(_ transaction: HeldTransaction, completion: () -> Void) throws(Failure) {
    try withConnection { connection throws(Failure) in
      publication = Publication(
        changes: transaction.changes, writer: transaction.inbox, hasChanged: !transaction.changes.isEmpty)
      defer { publication = nil }
      try connection.commit()
      reserves.withLock { for reserve in $0.values { reserve.commit() } }
      commitFiles()
      metadataChanges.noteCommit()
      endHolding()
      completion()
      foldIfLong()
    }
  }

  /// Takes back all that was written in a transaction, unless that has happened already. Any thread.
  func rollBack(_ transaction: HeldTransaction) {
    // That of a parent process goes on there.
    if !connection.mark.isHere { return }
    // And that of a migration with its stage.
    if transaction.isOfMigration { return }
    lock.withLock {
      if held === transaction { takeBack() }
    }
  }

  /// To be called wherever the connection is about to be used: after some errors (a full disk among them) SQLite has
  /// rolled back by itself.
  func noteLoss() {
    assert(lock.isHeld)
    if let held, connection.hasLostTransaction {
      held.end.store(.lost, ordering: .relaxed)
      takeBack()
      if isOfMigration { endForLoss() }
    }
  }

  /// The transaction goes on without its holder.
  func letGoOfTransaction() {
    assert(lock.isHeld)
    guard let held else { return }
    held.end.store(.closed, ordering: .relaxed)
    endHolding()
  }

  /// The store is about to be closed.
  func giveUpTransaction() {
    guard let held else { return }
    held.end.store(.closed, ordering: .relaxed)
    takeBack()
  }

  /// Lets the holder in, and has others wait until the transaction is over.
  func admit(waits: Bool, _ monitor: FetchMonitor?) throws(Failure) {
    noteLoss()
    let start = FetchMonitor.now()
    while let held {
      if gate.isHoldersCall {
        held.thread = TransactionGate.currentThread
        return
      }
      if held.thread == TransactionGate.currentThread {
        if isOfMigration {
          throw Failure(
            .busy,
            "The store '\(path)' is being migrated, and this call is not one of the context that the callback was "
              + "given. Use that context.")
        }
        throw Failure(
          .busy,
          "A transaction of the store '\(path)' is open on this thread, and this call is not part of it. Commit it or "
            + "roll it back first. What a context does can also be done in the context of the transaction.")
      }
      let waited = Int((FetchMonitor.now() - start) / 1_000_000)
      if !waits || waited >= connection.busyTimeoutMilliseconds {
        throw Failure(
          .busy,
          "Another context has a transaction of the store '\(path)' open, and did not end it within "
            + "\(connection.busyTimeoutMilliseconds) ms. Try again when it is committed or rolled back.")
      }
      if let monitor, monitor.isCancelled { throw monitor.failure }
      // Not longer, so that a call that is cancelled does not go on waiting.
      lock.wait(milliseconds: 20)
      if connection.handle == nil || isClosed { throw connection.closedFailure }
      noteLoss()
    }
  }

  /// Notes what was written: for the commit that follows, or for that of the transaction that is held.
  func publish(_ publication: Publication) {
    assert(lock.isHeld)
    written = publication
    if let held { held.changes += publication.changes } else { self.publication = publication }
  }

  /// For the thread that has the lock.
  private func takeBack() {
    assert(lock.isHeld)
    // The log receives the end, and may release the holder, which is not to end the transaction a second time.
    held = nil
    connection.rollBack()
    takeBackXML()
    external.takeBack(to: ExternalStorage.start, isUncertain: connection.hasUncertainCommit)
    reserves.withLock { for reserve in $0.values { reserve.rollBack() } }
    metadataChanges.noteRollback()
    derivedAttributes.forgetChecks()
    textIndexes.forgetChecks()
    history.forgetChecks()
    endHolding()
  }

  private func endHolding() {
    assert(lock.isHeld)
    held = nil
    gate.open()
    lock.wakeAll()
  }
}
