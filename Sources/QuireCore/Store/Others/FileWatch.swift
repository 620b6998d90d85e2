import CQuireFormat
import Glibc

/// Says when the file of a store may have commits of other programs: by a descriptor, without a thread. Any thread.
final class FileWatch: @unchecked Sendable {
  private let watch: quire_file_watch
  private let mark = ProcessMark()
  private let lock = RecursiveLock()
  /// In milliseconds; 0 as long as nothing is to be looked at again. Under the lock.
  private var pause: Int32 = 0

  /// From here on it polls readable for what is written meanwhile, too.
  private static let longestRest: Int32 = 16
  /// Beside a program that has the lock and writes nothing.
  private static let longestPause: Int32 = 1024

  /// With `usesLog` it follows the log of the file.
  ///
  /// Fails where the system has no room for another one.
  init(_ location: Text, usesLog: Bool) throws(Failure) {
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
  }

  deinit { withUnsafePointer(to: watch) { quire_file_watch_close($0, mark.isHere) } }

  private static func remedy(_ reason: CInt) -> String {
    switch reason {
    case EMFILE, ENFILE: "Close other descriptors, or raise fs.inotify.max_user_instances."
    case ENOSPC: "Raise fs.inotify.max_user_watches."
    default: "See that the file and its log are at their place and may be read."
    }
  }

  /// Polls readable when there is something to be looked at.
  var descriptor: Int32 { watch.descriptor }

  /// SQLite's count of the commits of a file with a log.
  var changeCount: UInt32? { watch.counter.map { $0.pointee } }

  /// Runs `look` if the descriptor may have polled readable, or in any case. Where that returns false it is to be run
  /// again soon.
  func settle(inAnyCase isWanted: Bool = false, _ look: () -> Bool) {
    // Another thread may be at it.
    _ = lock.withFreeLock {
      withUnsafePointer(to: watch) { watch in
        var wasWritten = false
        if !quire_file_watch_take(watch, &wasWritten), !isWanted { return }
        // Asked before the look: what is being written by then may come into sight after it.
        let isWritten = quire_file_watch_is_written(watch)
        let isDone = look() && !isWritten
        if isDone, pause == 0 { return }
        if wasWritten, pause > FileWatch.longestRest { pause = 0 }
        pause = isDone ? 0 : min(max(1, pause * 2), FileWatch.longestPause)
        quire_file_watch_pause(watch, pause, pause > 0 && pause <= FileWatch.longestRest)
      }
    }
  }
}
