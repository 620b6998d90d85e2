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

  init(_ gate: TransactionGate) { self.gate = gate }

  /// Stands for the context, its parents and its children at the gate.
  var address: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

  func enter() throws(Failure) {
    try ForeignCall.refuse()
    if !mark.isHere { throw ProcessMark.inherited }
    let current = UInt(pthread_self())
    if owner.load(ordering: .acquiring) != current {
      let claim = owner.compareExchange(expected: 0, desired: current, ordering: .acquiring)
      if !claim.exchanged {
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
      owner.store(0, ordering: .releasing)
    }
  }
}
