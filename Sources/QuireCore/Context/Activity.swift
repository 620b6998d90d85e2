/// What a context is in the midst of while code of the program runs, which may call the context again.
///
/// Activities overlap: a hook of a save may change objects, of which observers are told.
struct Activity: OptionSet {
  let rawValue: UInt8

  /// Observers are told of changes. What they change is told when that is done.
  static let notifying = Activity(rawValue: 1)
  /// A merge handler decides about a conflict of this context, or of a child. It may read, but change nothing.
  static let askingHandler = Activity(rawValue: 2)
  /// The context takes over what a child saves, as one step.
  static let accepting = Activity(rawValue: 4)
  /// A hook of an object is running.
  static let inHook = Activity(rawValue: 8)
  /// A save, or a validation, asks hooks or tells them.
  static let inSaveHooks = Activity(rawValue: 16)
}

extension Context {
  /// Runs `body` as that activity, within what is under way already.
  func during<Result, Problem: Error>(
    _ part: Activity, _ body: () throws(Problem) -> Result
  ) throws(Problem) -> Result {
    let outer = activity
    activity.insert(part)
    defer {
      assert(activity == outer.union(part), "an activity within another one has not ended")
      activity = outer
    }
    return try body()
  }

  var isNotifying: Bool { activity.contains(.notifying) }
}

/// Whether a call may be let in.
extension Context {
  // MARK: Changing

  /// The first thing in everything that changes the context or the store by it.
  func checkMayChange() throws(Failure) {
    try checkMayEndTransaction()
    try checkTransactionIsThere()
  }

  /// The same for what would end or split a step of undo. What a child saves is one step.
  func checkMayEndStep() throws(Failure) {
    try checkMayChange()
    try checkNotAccepting()
  }

  /// The same for a save: while one is in its hooks there cannot be another one.
  func checkMaySave() throws(Failure) {
    try checkMayEndStep()
    if activity.contains(.inSaveHooks) {
      throw Failure(
        .invalidState, "A save of this context is running, and a hook of it cannot save. Change what is to be saved.")
    }
  }

  func checkMayReset() throws(Failure) {
    try checkMayChange()
    try checkNotReverting()
    if isNotifying {
      throw Failure(.invalidState, "A context cannot be reset by a delegate that is being told of its changes.")
    }
  }

  // MARK: Steps

  func checkNotAccepting() throws(Failure) {
    if activity.contains(.accepting) {
      throw Failure(
        .invalidState, "A child is saving into this context, and a hook of that cannot do this. Do it after the save.")
    }
  }

  func checkNotReverting() throws(Failure) {
    try checkNotAccepting()
    if undoManager?.isReverting == true {
      throw Failure(.invalidState, "A group is just being undone or redone. Wait until that has returned.")
    }
  }

  // MARK: Transactions

  /// For what takes a transaction back, also one that SQLite has ended.
  func checkMayEndTransaction() throws(Failure) {
    try store.checkOpen()
    if activity.contains(.askingHandler) {
      throw Failure(
        .invalidState,
        "A merge handler decides about a conflict of this context, or of a child; it may read but change nothing. "
          + "Return a policy, and change objects after the save.")
    }
  }

  /// A context whose transaction is gone shows what is not in the file, and must not build on that.
  func checkTransactionIsThere() throws(Failure) {
    if transaction?.isLost == true {
      throw Failure(
        .invalidState,
        "SQLite has ended the transaction of this context after an error, and nothing of it is in the file. Roll the "
          + "transaction back.")
    }
    try parent?.checkTransactionIsThere()
  }

  /// `what` says what is to be done to the transaction.
  func checkMayHandleTransactions(_ what: String) throws(Failure) {
    try checkNotReverting()
    if transaction?.isOfMigration == true {
      throw Failure(
        .invalidState,
        "No transaction can be \(what) in a callback of a migration, whose stage is one. Return success to have it "
          + "committed, or failure to have it taken back.")
    }
    if !activity.isDisjoint(with: [.notifying, .inHook]) {
      throw Failure(
        .invalidState,
        "A transaction cannot be \(what) by a delegate or a hook that the context is calling. Do it when the running "
          + "call has returned.")
    }
  }
}
