import Glibc

/// A state that one thread at a time can reach.
///
/// The mutex is pthread's. The thread sanitizer sees no order in Swift's own mutex, whose waiting is in a library that
/// is not instrumented. It would report each meeting of threads as a race.
final class Guarded<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result, Problem>(_ body: (inout State) throws(Problem) -> Result) throws(Problem) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }
}
