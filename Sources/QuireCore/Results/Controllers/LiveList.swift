/// A sectioned list that stays up to date: what a results controller and a composite share.
protocol LiveList: ContextObserver, ChangeSource, SectionedRows {
  /// Its name in messages.
  static var kindName: String { get }
  var context: Context { get }
  var isFetched: Bool { get }
  /// Whether its delegate is being told of changes.
  var isTelling: Bool { get }
  /// Grows with every change.
  var generation: Counter { get }
  /// The program's pointer that is attached to it.
  var userData: AnyObject? { get set }
  var queuesChanges: Bool { get }
  var queue: ChangeQueue { get set }

  /// Fetches anew, without telling the delegate.
  func performFetch() throws(Failure)
  func section(at place: Int) throws(Failure) -> SectionInfo
  func object(section: Int, row: Int) throws(Failure) -> ManagedObject
  func indexPath(of object: ManagedObject) throws(Failure) -> IndexPath
}

extension LiveList {
  var hasQueuedChanges: Bool { !queue.isEmpty }

  /// Keeps what was reported for `nextChanges`, where the list queues.
  func enqueue(_ report: ChangeSet) {
    if !queuesChanges || report.isEmpty { return }
    if queue.isEmpty { context.queuedLists.note(self) }
    queue.append(report)
  }

  /// The oldest change set that was not taken, for lists that queue.
  func nextChanges() throws(Failure) -> ChangeSet? {
    if !queuesChanges {
      throw Failure(.invalidState, "This \(Self.kindName) does not queue changes; make it with queues_changes.")
    }
    return queue.takeFirst()
  }

  /// For a delegate that cannot do what it was told to. The bracket goes on to its end; then the call that has the
  /// context process changes fails.
  func delegateFailed(_ reason: String) throws(Failure) {
    if !isTelling {
      throw Failure(
        .invalidState,
        "Only a delegate that is being told of changes can fail; report other failures where they happen.")
    }
    context.announcer.noteFailure(Failure(.function, "A delegate of a \(Self.kindName) failed: \(reason)"))
  }
}
