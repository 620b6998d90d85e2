import Synchronization
import Testing

@testable import QuireCore

@Suite struct ForkGateTests {
  private final class Shared: Sendable {
    let gate = ForkGate()
    let steps = Atomic<Int>(0)
    let isToEnd = Atomic<Bool>(false)

    func waitForSteps(after count: Int) { OtherThread.wait { steps.load(ordering: .relaxed) > count } }
  }

  /// A thread that is past the gate and never sleeps.
  private func start(_ shared: Shared, passes: Bool) -> OtherThread {
    let thread = OtherThread {
      shared.gate.enter()
      while !shared.isToEnd.load(ordering: .relaxed) {
        shared.steps.add(1, ordering: .relaxed)
        if passes { shared.gate.pass() }
      }
      shared.gate.leave()
    }
    shared.waitForSteps(after: 0)
    return thread
  }

  private func end(_ shared: Shared, _ thread: OtherThread) {
    shared.isToEnd.store(true, ordering: .relaxed)
    thread.join()
  }

  @Test func aThreadDoesNothingWhileTheProcessIsForked() {
    let shared = Shared(), thread = start(shared, passes: true)
    for _ in 1...20 {
      shared.gate.beginFork()
      thread.waitUntilAsleep()
      let before = shared.steps.load(ordering: .relaxed)
      shared.gate.endFork()
      shared.waitForSteps(after: before)
    }
    end(shared, thread)
  }

  @Test func aForkDoesNotWaitForAThreadThatStaysAway() {
    let shared = Shared(), thread = start(shared, passes: false)
    shared.gate.beginFork()
    shared.waitForSteps(after: shared.steps.load(ordering: .relaxed))
    shared.gate.endFork()
    end(shared, thread)
  }
}
