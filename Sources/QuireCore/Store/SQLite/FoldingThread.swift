import CQuireFormat
import Glibc

/// A thread that folds the log of a store into its file. It lives for one folding: a store whose log is short has none.
///
/// It calls nothing of the program. Any thread may use this object.
final class FoldingThread: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasEnded = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  // Under the mutex.
  private var isRunning = false
  private var isStopped = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasEnded, nil)
  }

  deinit {
    pthread_cond_destroy(hasEnded)
    hasEnded.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  private final class Work {
    let thread: FoldingThread
    let body: () -> Void

    init(_ thread: FoldingThread, _ body: @escaping () -> Void) {
      self.thread = thread
      self.body = body
    }
  }

  /// Runs `body` on a new thread, unless one is running, or the store is being closed. Where the system gives no thread
  /// nothing happens.
  func start(_ body: @escaping () -> Void) {
    let mayStart = withLock {
      if isRunning || isStopped { return false }
      isRunning = true
      return true
    }
    if !mayStart { return }
    let work = Unmanaged.passRetained(Work(self, body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    // Signals are for the threads of the program.
    var all = sigset_t(), former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.body()
        work.thread.end()
        return nil
      }, work.toOpaque())
    pthread_sigmask(SIG_SETMASK, &former, nil)
    pthread_attr_destroy(&attributes)
    if code != 0 {
      work.release()
      end()
    }
  }

  private func end() {
    withLock {
      isRunning = false
      pthread_cond_broadcast(hasEnded)
    }
  }

  /// Waits for the end of what runs, and has nothing start until `resume`.
  func stop() {
    withLock {
      isStopped = true
      while isRunning { pthread_cond_wait(hasEnded, mutex) }
    }
  }

  func resume() { withLock { isStopped = false } }

  /// Whether `stop` waits.
  var isToStop: Bool { withLock { isStopped } }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
