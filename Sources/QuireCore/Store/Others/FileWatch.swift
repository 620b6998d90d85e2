import CQuireFormat
import Glibc

/// Says when the file of a store may have commits of other programs: by a descriptor, without a thread. Any thread.
final class FileWatch: @unchecked Sendable {
  /// Under the lock.
  private var watch: quire_file_watch
  /// Polls readable when there is something to be looked at.
  let descriptor: Int32
  private let counter: UnsafePointer<UInt32>?
  private let location: String
  private let mark = ProcessMark()
  private let lock = RecursiveLock()
  /// In milliseconds; 0 as long as nothing is to be looked at again. Under the lock.
  private var pause: Int32 = 0
  /// Whether the store has the lock that writing needs, or may have. Under the lock.
  private var isResting = true
  /// Under the lock.
  private var followsLog: Bool

  /// From here on it polls readable for what is written meanwhile, too.
  private static let longestRest: Int32 = 16
  /// Beside a program that has the lock and writes nothing.
  private static let longestPause: Int32 = 1024

  /// With `usesLog` it follows the log of the file, and otherwise the file, until that has a log. It rests until
  /// `start`.
  ///
  /// Fails where the system has no room for another one.
  init(_ location: Text, usesLog: Bool) throws(Failure) {
    self.location = location.string
    followsLog = usesLog
    var made = quire_file_watch()
    let path = location.string
    if !quire_file_watch_open(&made, path, usesLog ? "\(path)-wal" : nil, usesLog ? "\(path)-shm" : nil) {
      let reason = errno
      throw Failure(
        .invalidState,
        "The system cannot watch the file '\(location)' for what other programs commit: "
          + "\(String(cString: strerror(reason))). \(FileWatch.remedy(reason))")
    }
    watch = made
    descriptor = made.descriptor
    counter = made.counter
    setPause(0)
  }

  deinit { quire_file_watch_close(&watch, mark.isHere) }

  private static func remedy(_ reason: CInt) -> String {
    switch reason {
    case EMFILE, ENFILE: "Close other descriptors, or raise fs.inotify.max_user_instances."
    case ENOSPC: "Raise fs.inotify.max_user_watches."
    default: "See that the file and its log are at their place and may be read."
    }
  }

  /// SQLite's count of the commits of a file with a log.
  var changeCount: UInt32? { counter.map { quire_file_watch_count($0) } }

  /// What is done when something has polled readable.
  struct Look {
    /// Files what other programs have committed. False where that is to be done again soon.
    let isDone: () -> Bool
    /// Whether the store has the log of the file open.
    let hasLogOpen: () -> Bool
  }

  /// Looks if the descriptor may have polled readable.
  func settle(_ look: Look) {
    // Another thread may be at it.
    _ = lock.withFreeLock {
      if !isResting, take() { lookAgain(look) }
    }
  }

  /// To be called once the store tells it of its writes. Looks for what was committed before, unless the store is
  /// writing: then the end of that does so.
  func start(unless isWriting: () -> Bool, _ look: Look) {
    lock.withLock {
      if !isWriting() { endRest(look) }
    }
  }

  /// The store has the lock that writing needs. Until `endRest` all that is written is its own, and polls nothing
  /// readable.
  func rest() {
    lock.withLock {
      isResting = true
      setPause(0)
    }
  }

  func endRest(_ look: Look) {
    lock.withLock {
      if !isResting { return }
      isResting = false
      _ = take()
      lookAgain(look)
      if pause == 0 { setPause(0) }
    }
  }

  /// Whether something has polled readable. An event of the file ends a long pause.
  private func take() -> Bool {
    var wasWritten = false
    let isAny = quire_file_watch_take(&watch, &wasWritten)
    if wasWritten, pause > FileWatch.longestRest { pause = 1 }
    return isAny
  }

  private func lookAgain(_ look: Look) {
    // Asked before the look: what is being written by then may come into sight after it.
    var isWritten = quire_file_watch_is_written(&watch)
    var isDone = look.isDone()
    // A log that the store does not have open may be another one the next time.
    if !followsLog, isDone, look.hasLogOpen(),
      quire_file_watch_follow_log(&watch, "\(location)-wal", "\(location)-shm")
    {
      followsLog = true
      isWritten = quire_file_watch_is_written(&watch)
      isDone = look.isDone()
    }
    if isDone, !isWritten {
      if pause > 0 { setPause(0) }
    } else {
      setPause(min(max(1, pause * 2), FileWatch.longestPause))
    }
  }

  private func setPause(_ milliseconds: Int32) {
    pause = milliseconds
    quire_file_watch_pause(&watch, pause, isResting || pause > 0 && pause <= FileWatch.longestRest)
  }
}
