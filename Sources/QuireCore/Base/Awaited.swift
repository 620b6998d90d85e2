import Glibc

extension timespec {
  /// A time for the waits of POSIX threads.
  static func fromNow(milliseconds: Int) -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    time.tv_nsec += milliseconds % 1000 * 1_000_000
    time.tv_sec += milliseconds / 1000 + time.tv_nsec / 1_000_000_000
    time.tv_nsec %= 1_000_000_000
    return time
  }
}

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

  /// Waits as long as `isEarly`, and at most so long.
  func wait(milliseconds: Int, while isEarly: (State) -> Bool) {
    var end = timespec.fromNow(milliseconds: milliseconds)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while isEarly(state), pthread_cond_timedwait(hasChanged, mutex, &end) == 0 {}
  }
}
