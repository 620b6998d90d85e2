import Synchronization

/// A working set of objects on a store, or on another context. Used by one thread at a time; see `Confinement`.
final class Context {
  let store: Store
  /// What it reads through and saves to.
  let source: any SavedSource
  /// The context above it, whose objects count as saved; nil where `source` is no context.
  let parent: Context?
  /// How many contexts it reads through.
  let depth: Int
  /// Shared with its parent and its children, which its calls enter as well.
  let confinement: Confinement
  /// What others have saved, or its parent has changed, and this context has not taken over.
  let inbox = ChangeInbox()
  /// Grows whenever values of objects come to be others by something else than a call that sets them.
  var generation: UInt64 = 0
  /// Whether `merge` is part of processing changes.
  var mergesAutomatically = false
  /// Tells the temporary URIs of one context from those of another.
  let identifier: UInt64

  /// Its objects by their references.
  let table = ObjectTable()

  /// What differs from the store, or from its parent.
  let pending = PendingChanges()
  /// Changed in any way since observers were last told.
  var touched = ObjectSet()
  /// Counts changes, so that an observer can tell those that it has seen from those that came later.
  var touchCount: UInt64 = 0
  /// The query of the last fetch, which is often the next one too.
  var lastQuery: AnyObject?
  /// Whether a save has met changes of another writer, so that what was read is out of date.
  var hasConflicted = false
  /// Who is called at points in the life of objects; nil when nobody is.
  var hooks: HookTable?
  var hookState = HookState()
  let ruleBook = RuleBook()
  /// nil when changes are not to be undone.
  var undoManager: UndoManager?

  /// What the program has attached to it.
  var userData: AnyObject?

  /// What a save does with objects that another writer has changed too; a handler decides object by object.
  var mergePolicy = MergePolicy.error
  var mergeHandler: MergeHandler?
  /// While the handler looks at a conflict it may read, but change nothing.
  var isAskingHandler = false
  /// While it takes over what a child saves.
  var isAccepting = false
  /// Conflicts that the last save settled.
  var settledCount = 0

  /// The transaction of the file that it holds open; a child never has one.
  var transaction: HeldTransaction?

  private var observers = WeakReferences<WeakObserver>()
  var queuedLists = QueuedLists()
  private(set) var isProcessing = false
  /// References from outside the library to the context or to anything that belongs to it.
  private let externalReferences = Atomic<Int>(0)

  private struct WeakObserver: WeakReference {
    weak var observer: (any ContextObserver)?

    var isGone: Bool { observer == nil }
  }

  private struct WeakContext: WeakReference {
    weak var context: Context?

    var isGone: Bool { context == nil }
  }

  private var childReferences = WeakReferences<WeakContext>()
  /// The child whose save has been taken over and not been told to anybody yet.
  weak var savingChild: Context?
  /// Whether it counts among the outside references of its parent.
  private var holdsParent = false

  init(store: Store) {
    self.store = store
    source = StoreSource(store)
    parent = nil
    depth = 0
    confinement = Confinement(store.gate)
    self.identifier = UInt64.random(in: .min ... .max)
    store.add(inbox)
  }

  /// Each reads, tells and lets go through its parent: so many do on the stack of a small thread.
  private static let deepestChild = 64

  func makeChild() throws(Failure) -> Context {
    if depth < Context.deepestChild { return Context(parent: self) }
    throw Failure(
      .unsupported,
      "The context has \(depth) contexts above it and can have no children: contexts nest \(Context.deepestChild) "
        + "deep. Make the new one on a context further up.")
  }

  /// A context whose store is another context.
  init(parent: Context) {
    store = parent.store
    source = ParentSource(parent)
    self.parent = parent
    depth = parent.depth + 1
    confinement = parent.confinement
    identifier = parent.identifier
    // What the parent has not told anybody yet, a new child sees anyway.
    parent.childReferences.add(WeakContext(context: self))
    store.add(childInbox: inbox)
    parent.retainExternally()
    holdsParent = true
  }

  deinit {
    abandonTransaction()
    letGoOfParent()
  }

  /// Grows with each merge of what others have saved.
  var mergeCount: UInt32 = 1

  /// `mergeCount` when a list was last read ahead of what objects show; 0 for never.
  private(set) var listsAheadSince: UInt32 = 0

  /// A list is read, whose rows may be newer than objects that were read before.
  func noteListReading() { if readsAhead { listsAheadSince = mergeCount } }

  /// Whether a row that is read now may be newer than what observers have been told.
  var readsAhead: Bool {
    if observers.isEmpty, childReferences.isEmpty { return false }
    return source.readsAhead(of: inbox)
  }

  /// Whether something has changed that observers were not told.
  var hasUntoldChanges: Bool { !touched.isEmpty }

  var children: [Context] { childReferences.isEmpty ? [] : childReferences.all.compactMap(\.context) }

  var model: Model { store.model }
  var hasChanges: Bool { !pending.isEmpty }

  // MARK: Life

  /// Counts a reference that a caller holds to the context, or to an object, list or controller of it.
  func retainExternally() { externalReferences.add(1, ordering: .relaxed) }

  /// When the last outside reference goes, the context ends: at once, or after the call that is under way.
  func releaseExternally() {
    if externalReferences.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { confinement.end(self) }
  }

  /// A call that was under way may have given a reference to its caller.
  func endUnlessReferred() { if externalReferences.load(ordering: .acquiring) == 0 { end() } }

  /// No caller can save any more. What is pending is dropped, and with it the cycle between the context and its changed
  /// objects.
  func end() {
    pending.removeAll()
    touched = ObjectSet()
    undoManager = nil
    abandonTransaction()
    letGoOfParent()
  }

  private func letGoOfParent() {
    if holdsParent { parent?.releaseExternally() }
    holdsParent = false
  }

  // MARK: Observers

  func add(_ observer: any ContextObserver) {
    observers.add(WeakObserver(observer: observer))
  }

  var liveObservers: [any ContextObserver] { observers.all.compactMap(\.observer) }

  /// More rounds than any sensible chain of delegates needs: Core Data gives up after as many.
  private static let mostRounds = 1000

  /// What a delegate failed with, until it has come out of a call.
  private var delegateFailure: Failure?

  /// Of several failures the first counts.
  func noteDelegateFailure(_ failure: Failure) { if delegateFailure == nil { delegateFailure = failure } }

  /// Applies delete rules and tells the observers what changed; fails with what a delegate failed with when all have
  /// been told. Called from within an observer it leaves the rest to the running call, which goes on until nothing new
  /// has happened.
  func process() throws(Failure) {
    try notifyObservers()
    // Within an observer the running call fails.
    var context: Context? = self
    while let some = context, !some.isProcessing {
      if let failure = some.delegateFailure {
        some.delegateFailure = nil
        throw failure
      }
      context = some.parent
    }
  }

  /// The same for a call that cannot fail any more: what a delegate fails with comes out of the next one.
  func notifyObservers() throws(Failure) {
    // What a child sees is what its parent has when its delete rules have been applied.
    try parent?.notifyObservers()
    try propagateDeletes()
    if isProcessing { return }
    isProcessing = true
    defer {
      isProcessing = false
      undoManager?.closeEvent()
    }
    for _ in 0..<Context.mostRounds {
      let objects = touched.take()
      if objects.isEmpty { return }
      pending.noteValues(of: objects)
      if observers.isEmpty, childReferences.isEmpty {
        for object in objects { object.unheard = UnheardChange() }
        continue
      }
      var batch: [ObjectChange] = [], takenBack: [ManagedObject] = []
      for object in objects {
        if let change = object.takeUnheardChange() { batch.append(change) } else { takenBack.append(object) }
      }
      forwardToChildren(batch, takenBack: takenBack)
      let changes = ChangeBatch(batch)
      do {
        for observer in liveObservers {
          try observer.contextDidChange(changes)
          // What a delegate has deleted the next observer must not meet half done: a relationship to it that shows
          // nothing, although no rule has emptied it, would show the object again after a rollback that tells nobody.
          try propagateDeletes()
        }
      } catch {
        // Whoever was not told is told the next time; to be told twice of one state does no harm.
        for change in batch { change.object.restoreUnheard(change) }
        for object in objects { touched.insert(object) }
        throw error
      }
      try propagateDeletes()
    }
    throw Failure(
      .invalidState,
      "Delegates changed objects in \(Context.mostRounds) brackets in a row. "
        + "A delegate must not change an object each time it is told of a change.")
  }

  /// Runs what tells delegates of something else than changes of objects. What they change is told when it is done.
  func notifying(_ body: () -> Void) throws(Failure) {
    if isProcessing { return body() }
    isProcessing = true
    body()
    isProcessing = false
    try process()
  }
}
