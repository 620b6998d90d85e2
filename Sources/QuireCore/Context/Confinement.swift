import Glibc
import Synchronization

/// Lets one thread at a time in, the same one as often as it likes, and refuses the others instead of blocking them.
final class Confinement: Sendable {
  private let owner = Atomic<UInt>(0)
  /// Changed by the owner alone, which therefore need not add in one step.
  private let depth = Atomic<Int>(0)
  private let isRefusing = Atomic<Bool>(false)
  /// In a forked process the owner may be a thread that does not exist there.
  private let mark = ProcessMark()
  /// Of the store.
  private let gate: TransactionGate
  /// How many of the calls under way the gate counts as a stranger's.
  private let strangerCalls = Atomic<Int>(0)
  /// Contexts of which the last outside reference has gone, until no call is inside and they can end.
  private let ending = Guarded<[Context]>([])
  private let hasEnding = Atomic<Bool>(false)
  /// The owner while contexts end.
  private static let ender: UInt = 1
  /// The owner while the store looks at a context, or does something to it.
  private static let visitor: UInt = 2
  /// Which thread that is, which must not wait for itself: what it lets go of may call the program.
  private let visitingThread = Atomic<UInt>(0)
  /// Whether contexts have come to their end on that thread.
  private let leavesEnding = Atomic<Bool>(false)
  /// Functions of the program that were to be called on that thread, until a thread of the program comes by.
  private let postponed = Guarded<[Postponed]>([])
  private let hasPostponed = Atomic<Bool>(false)

  private struct Postponed: @unchecked Sendable {
    let call: () -> Void
  }

  init(_ gate: TransactionGate) { self.gate = gate }

  deinit { callPostponed() }

  /// Stands for the context, its parents and its children at the gate.
  var address: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

  func enter() throws(Failure) {
    try ForeignCall.refuse()
    if !mark.isHere { throw ProcessMark.inherited }
    let current = UInt(pthread_self())
    if owner.load(ordering: .acquiring) != current {
      if !owner.compareExchange(expected: 0, desired: current, ordering: .acquiring).exchanged, !awaitsEnd(current) {
        throw Failure(
          .wrongThread,
          "Another thread is inside this context. A context belongs to one thread at a time: give each thread its own.")
      }
    } else if isRefusing.load(ordering: .relaxed) {
      throw Failure(
        .invalidState,
        "A fetch or batch request of this context is telling its progress. The context cannot be used from there; "
          + "return first.")
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    if gate.isHeld, gate.noteEntry(of: address) { strangerCalls.add(1, ordering: .relaxed) }
  }

  /// Runs `body`, which is the caller's code, in the midst of something that must not be disturbed: not even this
  /// thread may enter meanwhile.
  func refusing<Result>(_ body: () -> Result) -> Result {
    isRefusing.store(true, ordering: .relaxed)
    defer { isRefusing.store(false, ordering: .relaxed) }
    return body()
  }

  /// For the thread that entered, once for each `enter`.
  func leave() {
    if strangerCalls.load(ordering: .relaxed) != 0 {
      strangerCalls.subtract(1, ordering: .relaxed)
      gate.noteEndOfStrangerCall()
    }
    let left = depth.load(ordering: .relaxed) &- 1
    depth.store(left, ordering: .relaxed)
    if left == 0 {
      if gate.isHeld { gate.noteExit(of: address) }
      // In one order with what `end` does: either this thread sees the flag, or the other one sees a free context.
      _ = owner.exchange(0, ordering: .sequentiallyConsistent)
      if hasEnding.load(ordering: .sequentiallyConsistent) { endContexts() }
      if hasPostponed.load(ordering: .acquiring) { callPostponed() }
    }
  }

  // MARK: End of a context

  /// Runs `body`, by which the program lets go of what it has given. On a thread of the store that waits for the next
  /// call of the context to return: the store may have come to be the last to hold what is let go of.
  func asProgram(_ body: @escaping () -> Void) {
    if !isVisiting { return body() }
    postponed.withLock { $0.append(Postponed(call: body)) }
    hasPostponed.store(true, ordering: .releasing)
  }

  private func callPostponed() {
    hasPostponed.store(false, ordering: .relaxed)
    let calls = postponed.withLock { postponed in
      defer { postponed = [] }
      return postponed
    }
    for each in calls { each.call() }
  }

  /// Ends a context that no caller can reach any more: at once, or when the outermost call that is under way returns.
  /// That may be any call, of this thread or another, also in the midst of a save. Any thread.
  func end(_ context: Context) {
    defer { if !isVisiting, hasPostponed.load(ordering: .acquiring) { callPostponed() } }
    // A forked process may wait for ever for a thread that does not exist there.
    if !mark.isHere { return context.end() }
    ending.withLock { $0.append(context) }
    hasEnding.store(true, ordering: .sequentiallyConsistent)
    endContexts()
  }

  /// Runs `body`, which is quick, if no call of the context is under way. Calls that begin meanwhile wait. Any thread.
  @discardableResult
  func whileFree(_ body: () -> Void) -> Bool {
    let claim = owner.compareExchange(expected: 0, desired: Confinement.visitor, ordering: .sequentiallyConsistent)
    if !claim.exchanged { return false }
    visitingThread.store(UInt(pthread_self()), ordering: .relaxed)
    body()
    visitingThread.store(0, ordering: .relaxed)
    // What ends meanwhile waits for this, so that functions of the program are called by its own thread.
    _ = owner.exchange(0, ordering: .sequentiallyConsistent)
    if leavesEnding.exchange(false, ordering: .relaxed) { endContexts() }
    return true
  }

  private var isVisiting: Bool { visitingThread.load(ordering: .relaxed) == UInt(pthread_self()) }

  private func endContexts() {
    // Released when contexts can be entered again: with them go functions of the program.
    var ended: [Context] = []
    while hasEnding.load(ordering: .sequentiallyConsistent) {
      let claim = owner.compareExchange(
        expected: 0, desired: Confinement.ender, ordering: .sequentiallyConsistent)
      if claim.original == Confinement.visitor {
        if isVisiting { return leavesEnding.store(true, ordering: .relaxed) }
        sched_yield()
        continue
      }
      if !claim.exchanged { break }
      hasEnding.store(false, ordering: .sequentiallyConsistent)
      let contexts = ending.withLock { contexts in
        defer { contexts = [] }
        return contexts
      }
      for context in contexts { context.endUnlessReferred() }
      ended += contexts
      _ = owner.exchange(0, ordering: .sequentiallyConsistent)
    }
    withExtendedLifetime(ended) {}
  }

  /// Claims the context for a thread when all that keeps it out is a context that ends, or the store. Neither takes
  /// long.
  private func awaitsEnd(_ thread: UInt) -> Bool {
    while true {
      let claim = owner.compareExchange(expected: 0, desired: thread, ordering: .acquiring)
      if claim.exchanged { return true }
      if claim.original != Confinement.ender, claim.original != Confinement.visitor || isVisiting { return false }
      sched_yield()
    }
  }
}
