extension Context {
  /// Applies delete rules and tells the observers what changed; fails with what a delegate failed with when all have
  /// been told. Called from within an observer it leaves the rest to the running call, which goes on until nothing new
  /// has happened.
  func process() throws(Failure) {
    try notifyObservers()
    // Within an observer the running call fails.
    var context: Context? = self
    while let some = context, !some.isNotifying {
      try some.announcer.throwFailure()
      context = some.parent
    }
  }

  /// The same for a call that cannot fail any more: what a delegate fails with comes out of the next one.
  func notifyObservers() throws(Failure) {
    // What a child sees is what its parent has when its delete rules have been applied.
    try parent?.notifyObservers()
    try propagateDeletes()
    if isNotifying { return }
    defer { undoManager?.closeEvent() }
    try during(.notifying) { () throws(Failure) in try announcer.runRounds(in: self) }
  }

  /// Runs a report to delegates of something else than changes of objects. Their changes are reported after it.
  func notifying(_ body: () -> Void) throws(Failure) {
    if isNotifying { return body() }
    during(.notifying, body)
    try process()
  }
}
