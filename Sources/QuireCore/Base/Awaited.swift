import Glibc

/// A state that one thread at a time can reach, and that others can wait for. See `Guarded` for its mutex.
final class Awaited<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasChanged = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasChanged, nil)
  }

  deinit {
    pthread_cond_destroy(hasChanged)
    hasChanged.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Threads that wait look at the state afterwards.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(hasChanged)
      pthread_mutex_unlock(mutex)
    }
    return body(&state)
  }

  /// Waits as long as `isEarly`, and runs `body` then.
  func withLock<Result>(waitingWhile isEarly: (State) -> Bool, _ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while isEarly(state) { pthread_cond_wait(hasChanged, mutex) }
    return body(&state)
  }
}
