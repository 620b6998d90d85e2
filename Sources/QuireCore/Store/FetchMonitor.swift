import Glibc
import Synchronization

/// Watches one fetch or batch request while it runs: whether it was cancelled, and how far it is. For the thread that
/// runs it.
final class FetchMonitor: Interruptible, @unchecked Sendable {
  /// The name of the watched work in messages.
  enum Work: String {
    case fetch = "fetch", update = "batch update", deletion = "batch deletion", insertion = "batch insertion"
    case migration = "migration"
  }

  /// The function that receives how many rows were read, and when it is called. It returns false to cancel.
  struct Progress {
    let nanoseconds: UInt64
    let report: (UInt64) -> Bool
  }

  private let work: Work
  private let entityName: String
  private let cancellation: Cancellation?
  private let progress: Progress?
  var rowCount: UInt64 = 0
  private var nextReport: UInt64
  private var isStopped = false
  /// The thread on which the progress function runs, which must not come back to the store; 0 for none.
  private let reportingThread = Atomic<UInt>(0)

  init(_ work: Work, of entityName: String, cancellation: Cancellation?, progress: Progress?) {
    self.work = work
    self.entityName = entityName
    self.cancellation = cancellation
    self.progress = progress
    nextReport = progress.map { FetchMonitor.now() &+ $0.nanoseconds } ?? 0
  }

  /// A migration counts its steps, and not what it reads for them.
  func countRow() { if work != .migration { rowCount &+= 1 } }

  func countStep() { rowCount &+= 1 }

  var isCancelled: Bool { isStopped || cancellation?.isCancelled == true }

  /// False when the work is to end. Reports the progress when it is due.
  func mayGoOn() -> Bool {
    if isCancelled { return false }
    guard let progress, reportingThread.load(ordering: .relaxed) == 0 else { return true }
    let now = FetchMonitor.now()
    if now < nextReport { return true }
    reportingThread.store(UInt(pthread_self()), ordering: .relaxed)
    isStopped = !progress.report(rowCount)
    reportingThread.store(0, ordering: .relaxed)
    nextReport = FetchMonitor.now() &+ progress.nanoseconds
    return !isStopped
  }

  /// Whether the progress function runs on this thread.
  var isReportingHere: Bool { reportingThread.load(ordering: .relaxed) == UInt(pthread_self()) }

  func check() throws(Failure) {
    if !mayGoOn() { throw failure }
  }

  var failure: Failure {
    if work == .migration {
      return Failure(
        .cancelled, "The migration of '\(entityName)' was cancelled. What its running stage did is taken back.")
    }
    return Failure(
      .cancelled,
      "The \(work.rawValue) of '\(entityName)' was cancelled after \(rowCount) rows had been "
        + "\(work == .insertion ? "written" : "read"). "
        + (work == .fetch ? "There is no result; the store is as it was." : "Nothing was changed."))
  }

  static func now() -> UInt64 {
    var time = timespec()
    // To some milliseconds, which is enough, and without a call into the kernel.
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
