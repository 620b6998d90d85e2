/// What a context does when what it showed cannot be read any more: the log has become too long, or the file was moved.
extension Context {
  /// The first thing in a call that reads and does not process changes.
  func beginReading() throws(Failure) {
    try store.checkOpen()
    try moveOnIfLost()
  }

  /// Has a read show all that is newest, where it would show a part of that beside the rest of what was.
  ///
  /// A program does not expect of a read that it ends what objects have lent. That ends when values change again.
  func moveOnIfLost() throws(Failure) {
    var root = self
    while let parent = root.parent { root = parent }
    if !root.source.hasLostMoment || !activity.isEmpty || !root.activity.isEmpty { return }
    let lent = root.lentThings
    defer { root.lentBefore = lent }
    try root.moveOnFromLostMoment()
  }

  private var lentThings: [ManagedObject.LentThings] { registeredObjects.map(\.lentThings) }

  /// Moves on, because what the context showed cannot be read any more. Not where a program reads within a call.
  ///
  /// What is pending stays as it was decided: the next save finds what others have changed of that. A context that
  /// merges automatically has it on top of what is newest.
  func moveOnFromLostMoment() throws(Failure) {
    if !activity.isDisjoint(with: [.notifying, .askingHandler]) { return }
    if mergesAutomatically || !hasChanges { return try mergeInbox() }
    let wasPaused = undoManager?.isPaused ?? false
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = wasPaused }
    let refreshed = try movingOn { move throws(Failure) in move.accept() }
    hasConflicted = hasConflicted || hasLeftBehind
    runHooks(.refresh, refreshed)
    try propagateDeletes()
    undoManager?.isPaused = wasPaused
    try process()
    try tellRestOfLists()
    try throwHookFailure()
  }
}
