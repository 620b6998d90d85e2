import Glibc
import Synchronization

/// Where threads of the library stand while the process is forked.
///
/// Swift's runtime takes locks of its own, such as when it makes a type for the first time. A child would inherit one
/// that such a thread held, and wait for ever. So a fork waits until each of these threads is at the gate, but not for
/// long: one may be in the midst of a statement. No mutex is held during the fork, because handlers of the program may
/// wait for these threads.
final class ForkGate: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasChanged = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Threads that are past the gate.
  private var running = 0
  private let forks = Atomic<Int>(0)

  private static let longestWaitForThreads = 100
  /// A handler of the program may wait for a thread that stands here.
  private static let longestWaitForFork = 1000

  static let shared: ForkGate = {
    let gate = ForkGate()
    pthread_atfork(
      { ForkGate.shared.beginFork() }, { ForkGate.shared.endFork() }, { ForkGate.shared.endForkInChild() })
    return gate
  }()

  init() { makeLocks() }

  deinit {
    pthread_cond_destroy(hasChanged)
    hasChanged.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  private func makeLocks() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasChanged, nil)
  }

  // MARK: A thread of the library

  func enter() {
    pthread_mutex_lock(mutex)
    wait(milliseconds: ForkGate.longestWaitForFork) { forks.load(ordering: .relaxed) > 0 }
    running += 1
    pthread_mutex_unlock(mutex)
  }

  func leave() {
    pthread_mutex_lock(mutex)
    running -= 1
    pthread_cond_broadcast(hasChanged)
    pthread_mutex_unlock(mutex)
  }

  /// For a thread that has entered, often and with nothing locked: lets a fork that waits come first.
  func pass() {
    if forks.load(ordering: .relaxed) == 0 { return }
    leave()
    enter()
  }

  // MARK: The thread that forks

  func beginFork() {
    pthread_mutex_lock(mutex)
    forks.add(1, ordering: .relaxed)
    wait(milliseconds: ForkGate.longestWaitForThreads) { running > 0 }
    pthread_mutex_unlock(mutex)
  }

  func endFork() {
    pthread_mutex_lock(mutex)
    forks.subtract(1, ordering: .relaxed)
    pthread_cond_broadcast(hasChanged)
    pthread_mutex_unlock(mutex)
  }

  /// The child has no other threads.
  private func endForkInChild() {
    makeLocks()
    running = 0
    forks.store(0, ordering: .relaxed)
  }

  /// Waits while `isEarly`, but no longer than that.
  private func wait(milliseconds: Int, while isEarly: () -> Bool) {
    if !isEarly() { return }
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_nsec += milliseconds % 1000 * 1_000_000
    end.tv_sec += milliseconds / 1000 + end.tv_nsec / 1_000_000_000
    end.tv_nsec %= 1_000_000_000
    while isEarly(), pthread_cond_timedwait(hasChanged, mutex, &end) == 0 {}
  }
}
