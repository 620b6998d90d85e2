import Glibc
import Synchronization

/// Distinguishes the calls of the context that holds a transaction of the file open from all others. One for each
/// store, which its contexts share.
///
/// A call is the holder's when its thread is inside the holder and has not entered another context since, from a
/// callback. Contexts are distinguished by the address of their `Confinement`.
final class TransactionGate: Sendable {
  /// 0 while no context holds a transaction.
  private let holder = Atomic<UInt>(0)
  /// The thread inside the holder, or 0.
  private let thread = Atomic<UInt>(0)
  /// How many calls of other contexts that thread is in.
  private let strangerCalls = Atomic<Int>(0)

  var isHeld: Bool { holder.load(ordering: .relaxed) != 0 }

  /// To be called from within the holder.
  func hold(by holder: UInt) {
    strangerCalls.store(0, ordering: .relaxed)
    thread.store(TransactionGate.currentThread, ordering: .relaxed)
    self.holder.store(holder, ordering: .relaxed)
  }

  func open() {
    holder.store(0, ordering: .relaxed)
    thread.store(0, ordering: .relaxed)
  }

  /// Whether the running call is one of the holder.
  var isHoldersCall: Bool {
    isHeld && thread.load(ordering: .relaxed) == TransactionGate.currentThread
      && strangerCalls.load(ordering: .relaxed) == 0
  }

  /// Notes a call of a context that has just begun. True when it is a stranger's, which must report its end.
  func noteEntry(of context: UInt) -> Bool {
    if holder.load(ordering: .relaxed) == context {
      thread.store(TransactionGate.currentThread, ordering: .relaxed)
      return false
    }
    if thread.load(ordering: .relaxed) != TransactionGate.currentThread { return false }
    strangerCalls.add(1, ordering: .relaxed)
    return true
  }

  func noteEndOfStrangerCall() {
    // Another transaction may have begun meanwhile.
    if strangerCalls.load(ordering: .relaxed) > 0 { strangerCalls.subtract(1, ordering: .relaxed) }
  }

  /// The thread of the holder leaves it.
  func noteExit(of context: UInt) {
    if holder.load(ordering: .relaxed) == context { thread.store(0, ordering: .relaxed) }
  }

  static var currentThread: UInt { UInt(pthread_self()) }
}
