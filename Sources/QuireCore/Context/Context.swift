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

  // What differs from the store. Held strongly: nobody else may hold an object that a save has to write.
  private(set) var inserted = ObjectSet()
  private(set) var updated = ObjectSet()
  private(set) var deleted = ObjectSet()
  /// Deleted, but their delete rules have not been applied yet.
  var awaitingDeleteRules = ObjectSet()
  /// Deleted since the last save by having their insertion taken back: delete rules have nothing go with them.
  private(set) var cancelledInserts = ObjectSet()
  /// Holders of to-many members that were read while unsaved objects belonged to them: a save renames those, a
  /// rollback takes them away.
  var overlaid = ObjectSet()
  /// Holders of to-many members that changed without having been read, where a save has to count them.
  var uncounted = ObjectSet()
  /// Changed in any way since observers were last told.
  private var touched = ObjectSet()
  /// Counts changes, so that an observer can tell those that it has seen from those that came later.
  private(set) var touchCount: UInt64 = 0
  /// Objects whose to-one relationships came to hold, or ceased to hold, that reference since the last save.
  private var pendingHolders: [ObjectReference: ObjectSet] = [:]
  /// What looks pending objects up by their values; made by the first lookup after a save.
  var pendingValues: [PendingValues] = []
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
  var hasChanges: Bool { !inserted.isEmpty || !deleted.isEmpty || !updated.isEmpty }

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
    inserted = ObjectSet()
    updated = ObjectSet()
    deleted = ObjectSet()
    awaitingDeleteRules = ObjectSet()
    cancelledInserts = ObjectSet()
    overlaid = ObjectSet()
    uncounted = ObjectSet()
    touched = ObjectSet()
    pendingHolders = [:]
    pendingValues = []
    undoManager = nil
    abandonTransaction()
    letGoOfParent()
  }

  private func letGoOfParent() {
    if holdsParent { parent?.releaseExternally() }
    holdsParent = false
  }

  // MARK: Change tracking

  /// Has observers look at `object` again, whether it changed or not.
  func touch(_ object: ManagedObject) {
    object.unheard.properties = .all
    note(object)
  }

  private func note(_ object: ManagedObject) {
    touchCount += 1
    object.unheard.time = touchCount
    touched.insert(object)
    hookState.changedInSave?.insert(object)
  }

  /// Notes a change of one property, of an attribute or a to-one relationship with the value before, and files the
  /// object among the changed ones if it is.
  func touch(_ object: ManagedObject, at slot: Int, from old: Value? = nil) {
    // While observers are being told, some know the old value and some the new one.
    if let old, !isProcessing {
      object.unheard.remember(old, at: slot)
    } else {
      object.unheard.properties.insert(slot: slot)
      if let old { object.unheard.notePassing(old, at: slot) }
    }
    note(object)
    if object.isUpdated { updated.insert(object) } else { updated.remove(object) }
  }

  /// Notes that `object` is about to come, go or return.
  func touchLife(of object: ManagedObject, isLive: Bool) {
    if isLive, !object.isFault {
      // What is told last of them may be told when their values are gone.
      for each in object.entity.relationships where !each.isToMany {
        object.unheard.notePassing(object.values[each.slot], at: each.slot)
      }
    }
    if isProcessing {
      object.unheard.properties = .all
    } else if object.unheard.wasLive == nil {
      object.unheard.wasLive = isLive
    }
    note(object)
  }

  func markInserted(_ object: ManagedObject) {
    undoManager?.noteArrival(of: object)
    touchLife(of: object, isLive: false)
    object.state = .inserted
    inserted.insert(object)
  }

  /// Files an object as deleted, and among the cancelled inserts if its insertion was taken back.
  func markDeleted(_ object: ManagedObject, isCancelledInsert: Bool = false) {
    if isCancelledInsert {
      cancelledInserts.insert(object)
    } else if !cancelledInserts.isEmpty {
      cancelledInserts.remove(object)
    }
    undoManager?.noteDeparture(of: object)
    touchLife(of: object, isLive: object.isLive)
    for case .object(let box) in object.values { noteHolder(object, of: box.reference) }
    if object.state == .inserted {
      inserted.remove(object)
      object.state = .gone
    } else {
      object.state = .deleted
      updated.remove(object)
      deleted.insert(object)
    }
    awaitingDeleteRules.insert(object)
  }

  /// Has a deleted object back: its row is still there and to stay, or there is to be one again, with the same id.
  func markReturned(_ object: ManagedObject) {
    undoManager?.noteArrival(of: object)
    touchLife(of: object, isLive: false)
    awaitingDeleteRules.remove(object)
    if object.state == .deleted {
      object.state = .saved
      deleted.remove(object)
      if object.isUpdated { updated.insert(object) }
    } else {
      object.state = .inserted
      inserted.insert(object)
    }
    table.takeBack(object)
  }

  /// Takes an object out of everything whose row is no longer there, other than by a save of this context.
  func markGone(_ object: ManagedObject) {
    if object.isLive { touchLife(of: object, isLive: true) }
    inserted.remove(object)
    updated.remove(object)
    deleted.remove(object)
    awaitingDeleteRules.remove(object)
    object.state = .gone
    table.unregister(object.reference)
  }

  /// An object changed here whose row is gone is to be inserted again.
  func markReinserted(_ object: ManagedObject) {
    updated.remove(object)
    object.state = .inserted
    inserted.insert(object)
  }

  /// The row of an object that was inserted again has come back.
  func markStored(_ object: ManagedObject) {
    inserted.remove(object)
    object.state = .saved
  }

  /// A deletion is given up.
  func markRevived(_ object: ManagedObject) {
    touchLife(of: object, isLive: false)
    deleted.remove(object)
    awaitingDeleteRules.remove(object)
    object.state = .saved
  }

  /// Notes that a pending change of `object` concerns who reads what holds `reference`.
  func noteHolder(_ object: ManagedObject, of reference: ObjectReference) {
    pendingHolders[reference, default: ObjectSet()].insert(object)
  }

  /// The objects whose pending changes may concern the inverse relationships of that reference.
  func pendingHolders(of reference: ObjectReference) -> ObjectSet { pendingHolders[reference] ?? ObjectSet() }

  /// After an object got another reference.
  func renameHolders(of reference: ObjectReference, to permanent: ObjectReference) {
    if let holders = pendingHolders.removeValue(forKey: reference) { pendingHolders[permanent] = holders }
  }

  /// After a save: nothing is pending.
  func forgetPending() {
    inserted = ObjectSet()
    updated = ObjectSet()
    deleted = ObjectSet()
    cancelledInserts = ObjectSet()
    uncounted = ObjectSet()
    pendingHolders = [:]
    pendingValues = []
  }

  /// Everything pending, in the order inserted, updated, deleted.
  var pending: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }

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
      for values in pendingValues { objects.forEach(values.note) }
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
