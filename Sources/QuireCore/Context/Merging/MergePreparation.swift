import Glibc
import Synchronization

/// What a merge will take over, worked out beside the context.
final class PreparedMerge: Sendable {
  /// The commit of the context that it begins from.
  let base: Int64
  /// The one where it ends, which the moment shows.
  let commit: Int64
  let moment: any Moment
  let change: StoreChange
  let rows: ChangedRows
  let observers: [any PreparedObserver]
  /// Objects whose changes the context has to tell.
  let left: Set<ObjectReference>

  init(
    from base: Int64, to commit: Int64, _ moment: any Moment, _ change: StoreChange,
    _ observers: [any PreparedObserver], _ left: Set<ObjectReference>
  ) {
    self.base = base
    self.commit = commit
    self.moment = moment
    self.change = change
    rows = ChangedRows(change, moment.model)
    self.observers = observers
    self.left = left
  }
}

/// Works out beside a context what its next merge makes of its lists, on the thread of the store. The context goes on
/// meanwhile, and shows what it showed.
///
/// It begins when enough has come into the inbox. The program is told when it has ended. What it leaves is of use only
/// if the context is then as it was when it began.
final class MergePreparation: InboxReader, @unchecked Sendable {
  private enum State {
    case idle
    /// For the thread, or for a moment in which no call of the context is under way.
    case waiting
    case running
    case ready(PreparedMerge)
    /// It cannot be done beside the context.
    case failed
  }

  /// What the context has to merge.
  enum Answer {
    /// All of it.
    case nothing
    /// What follows later.
    case underWay
    case ready(PreparedMerge)
    /// All of it, with the fetches of lists.
    case failed
  }

  private weak var context: Context?
  private let confinement: Confinement
  private let store: any Engine
  private let inbox: ChangeInbox
  private let holder: MomentHolder

  private struct Progress {
    var state = State.idle
    /// Whether a list is to be fetched.
    var isFetchWanted = false
    /// Whether the thread of the context waits for it, in the midst of a call.
    var isAwaited = false
    /// How many of those in a row did not fit.
    var misfits = 0
    /// How many of all were of use.
    var fits = 0

    var isWaiting: Bool { if case .waiting = state { true } else { false } }
    var isRunning: Bool { if case .running = state { true } else { false } }
    var isIdle: Bool { if case .idle = state { true } else { false } }
    var isUnderWay: Bool { isWaiting || isRunning }
    /// Whether there is something for the context to do, if only to fetch a list itself.
    var isReady: Bool {
      switch state {
      case .ready: true
      case .failed: isFetchWanted
      case .idle, .waiting, .running: false
      }
    }
  }

  private let progress = Awaited(Progress())
  private let isAbandoned = Atomic<Bool>(false)

  /// After so many the thread of the context does it, because the context changes too often.
  private static let mostMisfits = 4

  /// So many objects are looked up while the context is kept out.
  private static let rowsAtATime = 1000

  init(of context: Context) {
    self.context = context
    confinement = context.confinement
    store = context.store
    inbox = context.inbox
    holder = (context.source as? StoreSource)?.holder ?? .none
  }

  // MARK: Any thread

  func look(isEmpty: Bool, rowCount: Int) -> (isToTell: Bool, begins: Bool) {
    let isEnough = rowCount >= store.fewestPreparedRows
    return progress.withLock { progress in
      let begins = progress.isIdle && isEnough && !isAbandoned.load(ordering: .relaxed)
      if begins { progress.state = .waiting }
      return (progress.isReady || !isEmpty && !progress.isUnderWay, begins)
    }
  }

  /// Has it begin whatever is in the inbox, for a list that is to be fetched. With `anew` what has ended is dropped.
  func beginFetch(anew: Bool = false) {
    progress.withLock { progress in
      progress.isFetchWanted = true
      if anew, !progress.isUnderWay { progress.state = .idle }
    }
    beginAgain()
    inbox.noteRead()
  }

  func begin() { store.merging.add(for: self) { [self] in run() } orElse: { [self] in end(.failed) } }

  /// Whether the context is to stay where it is for now.
  var isUnderWay: Bool { progress.withLock { $0.isUnderWay } }

  /// Whether there is something to take.
  var isReady: Bool { progress.withLock { $0.isReady } }

  private func end(_ state: State) {
    progress.withLock { $0.state = state }
    inbox.noteRead()
  }

  // MARK: The thread of the context

  /// What was worked out. With `waits` what has begun is waited for.
  func take(waits: Bool) -> Answer {
    if waits {
      // It needs a moment in which no call is under way.
      progress.withLock { progress in
        if progress.isWaiting, !progress.isFetchWanted { progress.state = .idle }
        progress.isAwaited = true
      }
    }
    return progress.withLock(waitingWhile: { waits && $0.isRunning }) { progress in
      progress.isAwaited = false
      switch progress.state {
      case .idle: return .nothing
      case .waiting where waits: return .nothing
      case .waiting, .running: return .underWay
      case .failed:
        progress.state = .idle
        return .failed
      case .ready(let prepared):
        progress.state = .idle
        return .ready(prepared)
      }
    }
  }

  /// What was worked out did not fit any more. Whether that is to be tried again.
  func noteMisfit() -> Bool {
    progress.withLock { progress in
      progress.misfits += 1
      if progress.misfits <= MergePreparation.mostMisfits { return true }
      progress.misfits = 0
      return false
    }
  }

  /// Begins unless something that has come in has had it begin.
  func beginAgain() {
    let begins = progress.withLock { progress in
      defer { if progress.isIdle { progress.state = .waiting } }
      return progress.isIdle
    }
    if begins { begin() }
  }

  /// The context ends: nothing is worked out any more, and nothing of it keeps the store open.
  func abandon() {
    isAbandoned.store(true, ordering: .relaxed)
    // A forked process has no such thread. One that was closed has stopped it.
    if store.isClosed { return }
    store.merging.remove(for: self)
    progress.withLock { $0.state = .idle }
  }

  /// Whether it is to go on.
  private var goesOn: Bool { !isAbandoned.load(ordering: .relaxed) && !store.merging.isToStop }

  func noteFit() {
    progress.withLock { progress in
      progress.misfits = 0
      progress.fits += 1
    }
  }

  /// No list waits to be fetched.
  func noteFetched() {
    let wasWanted = progress.withLock { progress in
      defer { progress.isFetchWanted = false }
      return progress.isFetchWanted
    }
    if wasWanted { inbox.noteRead() }
  }

  /// For tests.
  var fits: Int { progress.withLock { $0.fits } }

  // MARK: The thread of the store

  /// What the context shows.
  private struct Base {
    let commit: Int64
    let observers: [any PreparedObserver]
    /// Whether a list is to be fetched, so that no news are needed.
    let isFetch: Bool
  }

  private func run() {
    guard let base = waitForBase() else { return }
    if base.observers.isEmpty { return end(.failed) }
    let moment = store.makeMoment(isPinned: false, unread: nil, for: holder)
    moment.isOfContext = false
    inbox.prepareToRead()
    do throws(Failure) {
      let commit = try moment.begin().commit
      let read = inbox.read(upTo: commit)
      if read == nil, !base.isFetch { return end(.failed) }
      let change = read ?? StoreChange()
      let known = known(among: change)
      // It may not have looked at all.
      if !goesOn { return end(.failed) }
      var left: Set<ObjectReference> = []
      for observer in base.observers {
        left.formUnion(try observer.prepare(for: change, besides: known, at: moment) { [self] in goesOn })
      }
      end(.ready(PreparedMerge(from: base.commit, to: commit, moment, change, base.observers, left)), base)
    } catch {
      // What it is comes out where the thread of the context reads.
      end(.failed, base)
    }
  }

  /// The end of what began at `base`, unless a list wants something else by now.
  private func end(_ state: State, _ base: Base) {
    if !base.observers.contains(where: \.isSuperseded) || !goesOn { return end(state) }
    progress.withLock { $0.state = .waiting }
    begin()
  }

  /// As of a moment in which no call of the context is under way. Without observers it cannot be done; nil where it is
  /// not wanted any more, or where other contexts come first.
  private func waitForBase() -> Base? {
    let none = Base(commit: 0, observers: [], isFetch: false)
    var found: Base?
    while !confinement.whileFree({ found = makeBase() ?? (isWanted ? none : nil) }) {
      if !goesOn { return none }
      usleep(200)
      // A call may take long. It is not to keep other contexts behind.
      if store.merging.hasMore {
        begin()
        return nil
      }
    }
    return found
  }

  private func makeBase() -> Base? {
    // A pinned context stays where it is, and one that reads ahead shows no commit to begin from.
    guard isWanted, let context, !context.source.isPinned, !context.readsAhead,
      let commit = context.source.moment.commit
    else { return nil }
    progress.withLock { $0.state = .running }
    let observers = context.announcer.observers.compactMap { $0.preparation() }
    return Base(
      commit: commit, observers: observers, isFetch: context.announcer.observers.contains(where: \.isFetchAsked))
  }

  /// The objects of changed rows of which the context knows the values. They are looked up little by little, because
  /// calls of the context wait for that.
  private func known(among change: StoreChange) -> Set<ObjectReference> {
    var found: Set<ObjectReference> = []
    for rows in [change.inserted, change.updated, change.returned, change.deleted] {
      var next = rows.startIndex
      while next < rows.endIndex, goesOn {
        let end = min(next + MergePreparation.rowsAtATime, rows.endIndex)
        let isDone = whileStill { context in
          for row in rows[next..<end] {
            guard let object = context.registeredObject(row), !object.isFault else { continue }
            found.insert(object.reference)
          }
        }
        if isDone { next = end } else { usleep(200) }
      }
    }
    return found
  }

  /// Runs `body` if no call of the context is under way, but for one that waits for this to end.
  private func whileStill(_ body: (Context) -> Void) -> Bool {
    func look() { if let context { body(context) } }
    if confinement.whileFree(look) { return true }
    return progress.withLock { progress in
      if progress.isAwaited { look() }
      return progress.isAwaited
    }
  }

  private var isWanted: Bool { progress.withLock { $0.isWaiting } }
}
