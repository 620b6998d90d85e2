import Glibc

/// A thread for work that no caller waits for. It lives as long as there is some.
///
/// Any thread may use this object.
final class BackgroundThread: @unchecked Sendable {
  private struct Work {
    let owner: ObjectIdentifier
    let run: () -> Void
    /// In the place of `run`, where that cannot be done.
    let drop: () -> Void
  }

  private struct State {
    var queue: [Work] = []
    var isRunning = false
    /// Whose work is being done, until nothing of that is held any more.
    var owner: ObjectIdentifier?
    var thread: pthread_t?
    var isStopped = false
  }

  private let state = Awaited(State())

  /// Whether there is nothing to do.
  var isIdle: Bool { state.withLock { !$0.isRunning } }

  /// Whether something waits until the running work is done.
  var hasMore: Bool { state.withLock { !$0.queue.isEmpty } }

  /// Waits until there is nothing to do, and at most so long.
  func awaitIdleness(milliseconds: Int) { state.wait(milliseconds: milliseconds, while: \.isRunning) }

  /// Has `run` run behind what was added before, on a thread without signals. `drop` runs in its place where the system
  /// gives no thread, or where `stop` or `remove` comes first.
  func add(for owner: AnyObject, _ run: @escaping () -> Void, orElse drop: @escaping () -> Void = {}) {
    let work = Work(owner: ObjectIdentifier(owner), run: run, drop: drop)
    let (isTaken, mustStart) = state.withLock { state in
      if state.isStopped { return (false, false) }
      state.queue.append(work)
      defer { state.isRunning = true }
      return (true, !state.isRunning)
    }
    if !isTaken { return drop() }
    if mustStart, !start() { dropAll { $0.isRunning = false } }
  }

  /// Drops what was added for the owner, and waits for the end of what runs for it.
  func remove(for owner: AnyObject) {
    let owner = ObjectIdentifier(owner)
    let dropped = state.withLock { state in
      defer { state.queue.removeAll { $0.owner == owner } }
      return state.queue.filter { $0.owner == owner }
    }
    for work in dropped { work.drop() }
    wait { $0.owner == owner }
  }

  private func start() -> Bool {
    // Made here, and not first by the thread, which a fork may come before.
    _ = ForkGate.shared
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
        ForkGate.shared.enter()
        if let argument { Unmanaged<BackgroundThread>.fromOpaque(argument).takeRetainedValue().runAll() }
        ForkGate.shared.leave()
        return nil
      }, this.toOpaque())
    pthread_sigmask(SIG_SETMASK, &former, nil)
    pthread_attr_destroy(&attributes)
    if code != 0 { this.release() }
    return code == 0
  }

  private func runAll() {
    state.withLock { $0.thread = pthread_self() }
    // What it held is released by then.
    while runNext() { state.withLock { $0.owner = nil } }
  }

  private func runNext() -> Bool {
    let work = state.withLock { state -> Work? in
      if state.queue.isEmpty {
        state.isRunning = false
        state.thread = nil
        return nil
      }
      let work = state.queue.removeFirst()
      state.owner = work.owner
      return work
    }
    guard let run = work?.run else { return false }
    run()
    return true
  }

  /// Drops what has not begun, waits for the end of what runs, and has nothing run until `resume`.
  func stop() {
    dropAll { $0.isStopped = true }
    wait(while: \.isRunning)
  }

  /// The thread itself does not wait for its end.
  private func wait(while isEarly: (State) -> Bool) {
    let isHere = state.withLock { state in state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    if !isHere { state.withLock(waitingWhile: isEarly) { _ in } }
  }

  func resume() { state.withLock { $0.isStopped = false } }

  /// Whether `stop` waits. Work asks for it often, with nothing locked, because a fork waits here for the thread.
  var isToStop: Bool {
    ForkGate.shared.pass()
    return state.withLock { $0.isStopped }
  }

  private func dropAll(_ body: (inout State) -> Void) {
    let dropped = state.withLock { state in
      body(&state)
      defer { state.queue = [] }
      return state.queue
    }
    for work in dropped { work.drop() }
  }
}
