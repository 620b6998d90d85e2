/// What a context does when what it showed cannot be read any more: the log has become too long, or the file was moved.
extension Context {
  /// The first thing in a call that reads and does not process changes. Returns whether it has moved the context on.
  @discardableResult
  func beginReading() throws(Failure) -> Bool {
    try store.checkOpen()
    return try moveOnIfLost()
  }

  /// Moves on before anything is read: otherwise a part of what is newest would be shown beside the rest of what was.
  /// For a child that is a matter of the context on the store. Not where a program reads within a call.
  @discardableResult
  func moveOnIfLost() throws(Failure) -> Bool {
    var root = self, isWithinCall = !activity.isEmpty
    while let parent = root.parent {
      root = parent
      isWithinCall = isWithinCall || !root.activity.isEmpty
    }
    if !root.source.hasLostMoment || isWithinCall { return false }
    try root.moveOnFromLostMoment()
    return true
  }

  /// What is pending stays as it was decided: the next save finds what others have changed of that. A context that
  /// merges automatically has it on top of what is newest.
  ///
  /// A program does not expect of a read that it ends what was lent. That ends when values change by something else.
  private func moveOnFromLostMoment() throws(Failure) {
    let lent = lentBefore + registeredObjects.map(\.lentThings) + announcer.observers.compactMap { $0.lentThings }
    defer { lentBefore = lent }
    if mergesAutomatically || !hasChanges { return try mergeInbox() }
    let refreshed = try movingOn { move throws(Failure) in move.accept() }
    hasConflicted = hasConflicted || hasLeftBehind
    try tell(refreshed)
  }

  /// Takes over what was left because of changes that are pending no more.
  func takeWhatWasLeft() throws(Failure) {
    if hasLeftBehind, !hasChanges, activity.isEmpty { try mergeInbox() }
  }
}
