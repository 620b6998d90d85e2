/// Several saves and batch requests as one transaction of the file.
extension Context {
  /// Whether this context, or the one that it reads through in the end, has a transaction open.
  var isInTransaction: Bool {
    if let parent { return parent.isInTransaction }
    return transaction?.isClosed == false
  }

  /// What is saved from now on is in the file when the transaction is committed, and not before.
  func beginTransaction() throws(Failure) {
    try checkMayChange()
    try checkMayHandleTransactions("begun")
    try source.checkHasTransactions()
    if transaction != nil {
      throw Failure(.invalidState, "The context has a transaction open already; they do not nest.")
    }
    if hasChanges {
      throw Failure(
        .invalidState,
        "The context has unsaved changes from before the transaction, which a rollback would drop too. Save them or "
          + "roll them back first.")
    }
    let begun = try store.beginTransaction(for: confinement.address, inbox)
    // The transaction sees what others have saved by now, and so does the context.
    do throws(Failure) { try enter(begun) } catch {
      store.rollBack(begun)
      throw error
    }
  }

  private func enter(_ begun: HeldTransaction) throws(Failure) {
    if let change = inbox.take() {
      do throws(Failure) {
        try source.readNewest { () throws(Failure) in try prepareMergeAfterSave(of: change) }
      } catch {
        abandonMergeAfterSave()
        inbox.putBack(change)
        throw error
      }
    }
    transaction = begun
    source.beginTransaction()
    try finishSave()
  }

  /// Saves what is pending, and ends the transaction. When either fails the transaction is still open.
  func commitTransaction() throws(Failure) {
    try checkMayChange()
    try checkMayHandleTransactions("committed")
    let transaction = try openTransaction()
    try save()
    try writing { () throws(Failure) in
      try store.commit(transaction) { source.endTransaction() }
    }
    self.transaction = nil
    // What fails is tried again with the next merge: the transaction is committed.
    if isBeyondOwnCommit { try? mergeInbox() }
  }

  /// Takes back everything since the transaction began, saved or not, in the file and here, and notifies observers.
  func rollBackTransaction() throws(Failure) {
    try checkMayEndTransaction()
    try checkMayHandleTransactions("rolled back")
    let transaction = try openTransaction()
    self.transaction = nil
    store.rollBack(transaction)
    source.endTransaction()
    // From here on it is over. The file has been changed back behind what is held here, as if by another context.
    inbox.post(transaction.takenBack)
    table.forgetMissing()
    dropPending()
    try mergeInbox()
    try process()
    try throwHookFailure()
  }

  /// Gives up a transaction whose context can no longer be reached by a caller. Any thread.
  func abandonTransaction() {
    guard let transaction else { return }
    self.transaction = nil
    store.rollBack(transaction)
  }

  /// Runs what writes to the file: in the transaction, if one was begun, and not where that used to be.
  func writing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try store.writing { () throws(Failure) in
      try checkTransactionIsThere()
      return try body()
    }
  }

  private func openTransaction() throws(Failure) -> HeldTransaction {
    if let transaction { return transaction }
    throw source.noTransaction
  }
}
