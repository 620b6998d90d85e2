/// Tells observers and children of a context what has changed, in rounds: what observers change meanwhile is for the
/// next round.
final class Announcer {
  private struct WeakObserver: WeakReference {
    weak var observer: (any ContextObserver)?

    var isGone: Bool { observer == nil }
  }

  private struct WeakContext: WeakReference {
    weak var context: Context?

    var isGone: Bool { context == nil }
  }

  /// More rounds than any sensible chain of delegates needs: Core Data gives up after as many.
  private static let mostRounds = 1000

  private var observerReferences = WeakReferences<WeakObserver>()
  private var childReferences = WeakReferences<WeakContext>()
  /// The child whose save has been taken over and not been reported yet.
  weak var savingChild: Context?
  /// Changed in any way since observers were last notified.
  private var touched = ObjectSet()
  /// What a delegate failed with, until it has come out of a call.
  private var failure: Failure?

  // MARK: Listeners

  func add(_ observer: any ContextObserver) { observerReferences.add(WeakObserver(observer: observer)) }

  func add(child: Context) { childReferences.add(WeakContext(context: child)) }

  var hasListeners: Bool { !observerReferences.isEmpty || !childReferences.isEmpty }

  var observers: [any ContextObserver] { observerReferences.all.compactMap(\.observer) }

  var children: [Context] { childReferences.isEmpty ? [] : childReferences.all.compactMap(\.context) }

  // MARK: What there is to tell

  var hasNews: Bool { !touched.isEmpty }

  func note(_ object: ManagedObject) { touched.insert(object) }

  /// A list is fetched before changes are reported: it knows objects as they are now, and other observers know them as
  /// they were.
  func settleNews() {
    for object in touched {
      object.context.noteTargets(of: object)
      object.unheard.settle(object.values)
    }
  }

  func forgetNews() { touched = ObjectSet() }

  /// Of several failures of delegates the first counts.
  func noteFailure(_ failure: Failure) { if self.failure == nil { self.failure = failure } }

  /// Throws what a delegate has failed with since the last time.
  func throwFailure() throws(Failure) {
    guard let failure else { return }
    self.failure = nil
    throw failure
  }

  // MARK: Telling

  /// Tells observers and children until nothing new has happened. For `Context.notifyObservers`, one at a time.
  ///
  /// No access to this object lasts over a callback, because callbacks change objects and add observers.
  func runRounds(in context: Context) throws(Failure) {
    assert(context.isNotifying)
    for _ in 0..<Announcer.mostRounds {
      let objects = touched.take()
      if objects.isEmpty { return }
      context.pending.fileValues()
      if !hasListeners {
        for object in objects { object.unheard = UnheardChange() }
        continue
      }
      try tell(objects, in: context)
      try context.propagateDeletes()
    }
    throw Failure(
      .invalidState,
      "Delegates changed objects in \(Announcer.mostRounds) brackets in a row. "
        + "A delegate must not change an object each time it is told of a change.")
  }

  private func tell(_ objects: [ManagedObject], in context: Context) throws(Failure) {
    var batch: [ObjectChange] = [], takenBack: [ManagedObject] = []
    for object in objects {
      if let change = object.takeUnheardChange() { batch.append(change) } else { takenBack.append(object) }
    }
    context.forwardToChildren(batch, takenBack: takenBack)
    let changes = ChangeBatch(batch)
    do {
      for observer in observers {
        try observer.contextDidChange(changes)
        // The next observer must not meet an object half done that a delegate has deleted. A relationship to it would
        // show nothing, although no rule has emptied it. After a rollback without a report it would show the object
        // again.
        try context.propagateDeletes()
      }
    } catch {
      // An observer that was not told is told the next time; to be told twice of one state does no harm.
      for change in batch { change.object.restoreUnheard(change) }
      for object in objects { note(object) }
      throw error
    }
  }
}
