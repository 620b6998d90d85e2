import Glibc
import Synchronization
import Testing

@testable import QuireCore

@Suite struct ForkGateTests {
  private final class Shared: Sendable {
    let gate = ForkGate()
    let steps = Atomic<Int>(0)
    let isToEnd = Atomic<Bool>(false)
    /// How long the thread works between two looks at the gate.
    let pause: useconds_t

    init(pause: useconds_t) { self.pause = pause }
  }

  private func start(_ shared: Shared) -> pthread_t {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        let shared = Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue()
        shared.gate.enter()
        while !shared.isToEnd.load(ordering: .relaxed) {
          shared.steps.add(1, ordering: .relaxed)
          usleep(shared.pause)
          shared.gate.pass()
        }
        shared.gate.leave()
        return nil
      }, Unmanaged.passRetained(shared).toOpaque())
    while shared.steps.load(ordering: .relaxed) == 0 { usleep(100) }
    return thread
  }

  @Test func aThreadDoesNothingWhileTheProcessIsForked() {
    let shared = Shared(pause: 50)
    let thread = start(shared)
    for _ in 1...20 {
      shared.gate.beginFork()
      let before = shared.steps.load(ordering: .relaxed)
      usleep(2000)
      #expect(shared.steps.load(ordering: .relaxed) == before)
      shared.gate.endFork()
      while shared.steps.load(ordering: .relaxed) == before { usleep(50) }
    }
    shared.isToEnd.store(true, ordering: .relaxed)
    pthread_join(thread, nil)
  }

  @Test func aForkDoesNotWaitLongForAThread() {
    let shared = Shared(pause: 700_000)
    let thread = start(shared)
    shared.isToEnd.store(true, ordering: .relaxed)
    let clock = ContinuousClock()
    #expect(clock.measure { shared.gate.beginFork() } < .milliseconds(600))
    shared.gate.endFork()
    pthread_join(thread, nil)
  }
}
