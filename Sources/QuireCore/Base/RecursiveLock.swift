import Glibc
import Synchronization

/// A mutex that the thread holding it may take again.
final class RecursiveLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  #if QUIRE_CHECKS
    /// 0 while no thread has the lock.
    private let owner = Atomic<UInt>(0)
    /// How often the owner has taken it.
    private var depth = 0
  #endif

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result, Problem>(_ body: () throws(Problem) -> Result) throws(Problem) -> Result {
    pthread_mutex_lock(mutex)
    noteTaken(1)
    defer {
      noteTaken(-1)
      pthread_mutex_unlock(mutex)
    }
    return try body()
  }

  /// The same if no other thread has the lock; nil, and nothing is done, if one has.
  func withFreeLock<Result>(_ body: () -> Result) -> Result? {
    if pthread_mutex_trylock(mutex) != 0 { return nil }
    noteTaken(1)
    defer {
      noteTaken(-1)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  /// Whether the running thread has the lock. For assertions: without them the answer is not known.
  var isHeld: Bool {
    #if QUIRE_CHECKS
      return owner.load(ordering: .relaxed) == UInt(pthread_self())
    #else
      return true
    #endif
  }

  @inline(__always)
  private func noteTaken(_ times: Int) {
    #if QUIRE_CHECKS
      depth += times
      owner.store(depth == 0 ? 0 : UInt(pthread_self()), ordering: .relaxed)
    #endif
  }

  /// Lets others have the lock until one of them calls `wakeAll`, or for so long. For a thread that has taken it once.
  func wait(milliseconds: Int) {
    assert(isHeld)
    noteTaken(-1)
    defer { noteTaken(1) }
    var time = timespec.fromNow(milliseconds: milliseconds)
    pthread_cond_timedwait(condition, mutex, &time)
  }

  /// For the thread that has the lock.
  func wakeAll() {
    assert(isHeld)
    pthread_cond_broadcast(condition)
  }
}
