import Glibc

/// Distinguishes the process that made something from those that were forked from it.
struct ProcessMark: @unchecked Sendable {
  private let forks = ProcessMark.forks
  private let born: Int

  /// How many forks lead from the process that loaded the library to this one. It is counted by the child itself, so
  /// that asking costs no system call.
  private nonisolated(unsafe) static let forks: UnsafeMutablePointer<Int> = {
    let forks = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    forks.initialize(to: 0)
    pthread_atfork(nil, nil) { ProcessMark.forks.pointee += 1 }
    return forks
  }()

  init() { born = forks.pointee }

  /// Whether this is the process that made the mark.
  var isHere: Bool { forks.pointee == born }

  static let inherited = Failure(
    .closed,
    "The store was opened by the process from which this one was forked, and SQLite's locks are of that one alone. "
      + "Close the store before the fork and open it in each process, or start the process anew with exec.")
}
