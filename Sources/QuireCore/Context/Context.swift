/// A working set of objects on a store, or on another context. Used by one thread at a time; see `Confinement`.
///
/// A context is the door to its parts, of which each keeps one thing. Extensions in the rooms do what takes several
/// parts.
final class Context {
  // MARK: Where it stands

  let store: any Engine
  /// What it reads through and saves to.
  let source: any SavedSource
  /// The context above it, whose objects count as saved; nil where `source` is no context.
  let parent: Context?
  /// The rows that the context has read at a later state than the one that it shows.
  let earlyReading = EarlyReading()
  /// Shared with its parent and its children, which its calls enter as well.
  let confinement: Confinement
  /// Distinguishes the temporary URIs of one context from those of another.
  let identifier: UInt64

  // MARK: Parts

  /// What others have saved, or its parent has changed, and this context has not taken over.
  let inbox: ChangeInbox
  /// Its objects by their references.
  let table = ObjectTable()
  var pageAhead = PageAhead()
  /// What differs from the store, or from its parent.
  let pending = PendingChanges()
  /// Tells observers and children of changes.
  let announcer = Announcer()
  /// Lists whose changes wait for the program.
  let queuedLists = QueuedLists()
  /// Tells earlier from later.
  var clock = ContextClock()
  /// What is under way, where code of the program may be running.
  var activity: Activity = []
  let ruleBook = RuleBook()
  var hookState = HookState()
  /// The transaction of the file that it holds open; a child never has one.
  var transaction: HeldTransaction?

  // MARK: Settings of the program

  /// Whether `merge` is part of processing changes.
  var mergesAutomatically = false
  /// What a save does with objects that another writer has changed too; a handler decides object by object.
  var mergePolicy = MergePolicy.error
  var mergeHandler: MergeHandler?
  /// What is called at points in the life of objects; nil when there are no hooks.
  var hooks: HookTable?
  /// nil when changes are not to be undone.
  var undoManager: UndoManager?
  /// What the history of the store says of its saves and batch requests.
  var authorship = Authorship()
  /// What the program has attached to it.
  var userData: AnyObject?

  // MARK: From one call to the next

  /// What others have saved before the last save of this context, until it is taken over.
  var mergeAfterSave: MergeSession?
  /// Works out beside it what it will merge; nil where nothing is to be told of.
  var preparation: MergePreparation?
  /// Whether lists are to tell more than the changes of objects, which could not be done when it was due.
  var hasUntoldLists = false

  /// Whether a save has met changes of another writer, so that what was read is out of date.
  var hasConflicted = false
  /// Whether objects are as they were read before a conflict moved the context, for the next attempt to find that.
  var hasLeftBehind = false
  /// Conflicts that the last save settled.
  var settledCount = 0
  /// The query of the last fetch, which is often the next one too.
  var lastQuery: AnyObject?

  // MARK: References to it

  /// References from outside the library to the context and to what belongs to it.
  private let externalReferences: ExternalReferences
  /// Whether it counts among the outside references of its parent.
  private var holdsParent = false
  /// Whether it counts among the users of its store.
  private var usesStore = true

  convenience init(store: any Engine) {
    let confinement = Confinement(store.gate), inbox = ChangeInbox(), references = ExternalReferences()
    let holder = MomentHolder(
      whileFree: { [weak confinement] body in _ = confinement?.whileFree(body) }, isInUse: { references.haveParts })
    let source = StoreSource(store, inbox, for: holder)
    self.init(store: store, source: source, inbox, confinement, references)
  }

  /// A context that reads a store through another source than the store itself.
  init(
    store: any Engine, source: any SavedSource, _ inbox: ChangeInbox = ChangeInbox(), _ confinement: Confinement? = nil,
    _ references: ExternalReferences = ExternalReferences()
  ) {
    self.store = store
    externalReferences = references
    self.inbox = inbox
    self.source = source
    parent = nil
    self.confinement = confinement ?? Confinement(store.gate)
    self.identifier = UInt64.random(in: .min ... .max)
    store.add(inbox)
    store.beginUse()
  }

  /// Each reads, tells and lets go through its parent: so many do on the stack of a small thread.
  private static let deepestChild = 64

  /// How many contexts it reads through.
  private var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

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
    externalReferences = ExternalReferences()
    source = ParentSource(parent)
    inbox = ChangeInbox()
    self.parent = parent
    confinement = parent.confinement
    identifier = parent.identifier
    // What the parent has not told yet, a new child sees anyway.
    parent.announcer.add(child: self)
    store.add(childInbox: inbox)
    parent.retainExternally(isPart: true)
    holdsParent = true
    store.beginUse()
  }

  deinit {
    preparation?.abandon()
    abandonTransaction()
    letGoOfParent()
    letGoOfStore()
  }

  var model: Model { store.model }
  var hasChanges: Bool { !pending.isEmpty }

  // MARK: Life

  /// Counts a reference that a caller holds to the context, or to a part of it: an object, a list, a controller or a
  /// child.
  func retainExternally(isPart: Bool = false) { externalReferences.add(isPart: isPart) }

  /// When the last outside reference goes, the context ends: at once, or after the call that is under way.
  func releaseExternally(isPart: Bool = false) {
    if externalReferences.remove(isPart: isPart) { confinement.end(self) }
  }

  /// A call that was under way may have given a reference to its caller.
  func endUnlessReferred() { if externalReferences.isEmpty { end() } }

  /// No caller can save any more. What is pending is dropped, and with it the cycle between the context and its changed
  /// objects.
  func end() {
    preparation?.abandon()
    pending.removeAll()
    // Objects refer to their context.
    pageAhead = PageAhead()
    announcer.forgetNews()
    undoManager = nil
    abandonTransaction()
    letGoOfParent()
    letGoOfStore()
  }

  private func letGoOfStore() {
    if usesStore { store.endUse() }
    usesStore = false
  }

  private func letGoOfParent() {
    if holdsParent { parent?.releaseExternally(isPart: true) }
    holdsParent = false
  }
}
