import Glibc

/// A thread for work that no caller waits for. It lives as long as there is some.
///
/// Any thread may use this object.
final class BackgroundThread: @unchecked Sendable {
  private struct Work {
    let run: () -> Void
    /// In the place of `run`, where that cannot be done.
    let drop: () -> Void
  }

  private struct State {
    var queue: [Work] = []
    var isRunning = false
    var isStopped = false
  }

  private let state = Awaited(State())

  /// Whether there is nothing to do.
  var isIdle: Bool { state.withLock { !$0.isRunning } }

  /// Has `run` run behind what was added before, on a thread without signals. `drop` runs in its place where the system
  /// gives no thread, or where `stop` comes first.
  func add(_ run: @escaping () -> Void, orElse drop: @escaping () -> Void = {}) {
    let work = Work(run: run, drop: drop)
    let (isTaken, mustStart) = state.withLock { state in
      if state.isStopped { return (false, false) }
      state.queue.append(work)
      defer { state.isRunning = true }
      return (true, !state.isRunning)
    }
    if !isTaken { return drop() }
    if mustStart, !start() { dropAll { $0.isRunning = false } }
  }

  private func start() -> Bool {
    let this = Unmanaged.passRetained(self)
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
        if let argument { Unmanaged<BackgroundThread>.fromOpaque(argument).takeRetainedValue().runAll() }
        return nil
      }, this.toOpaque())
    pthread_sigmask(SIG_SETMASK, &former, nil)
    pthread_attr_destroy(&attributes)
    if code != 0 { this.release() }
    return code == 0
  }

  private func runAll() {
    while let work = next() { work.run() }
  }

  private func next() -> Work? {
    state.withLock { state in
      if !state.queue.isEmpty { return state.queue.removeFirst() }
      state.isRunning = false
      return nil
    }
  }

  /// Drops what has not begun, waits for the end of what runs, and has nothing run until `resume`.
  func stop() {
    dropAll { $0.isStopped = true }
    state.withLock(waitingWhile: \.isRunning) { _ in }
  }

  func resume() { state.withLock { $0.isStopped = false } }

  /// Whether `stop` waits.
  var isToStop: Bool { state.withLock { $0.isStopped } }

  private func dropAll(_ body: (inout State) -> Void) {
    let dropped = state.withLock { state in
      body(&state)
      defer { state.queue = [] }
      return state.queue
    }
    for work in dropped { work.drop() }
  }
}
