import CQuireFormat
import Glibc

/// Says when the file of a store may have commits of other programs: by a descriptor, without a thread. Any thread.
final class FileWatch: @unchecked Sendable {
  private let watch: quire_file_watch
  private let lock = RecursiveLock()
  /// In milliseconds; 0 as long as nothing is to be looked at again. Under the lock.
  private var pause: Int32 = 0

  /// A commit that the system is still writing comes into sight after one of these at the latest.
  private static let longestPause: Int32 = 16

  /// With `usesLog` it follows the log of the file.
  ///
  /// Fails where the system has no room for another one.
  init(_ location: Text, usesLog: Bool) throws(Failure) {
    var made = quire_file_watch()
    let path = location.string
    if !quire_file_watch_open(&made, path, usesLog ? "\(path)-wal" : nil, usesLog ? "\(path)-shm" : nil) {
      throw Failure(
        .invalidState,
        "The system cannot watch the file '\(location)' for what other programs commit: "
          + "\(String(cString: strerror(errno))). Close other descriptors, or raise fs.inotify.max_user_instances.")
    }
    watch = made
  }

  deinit { withUnsafePointer(to: watch) { quire_file_watch_close($0) } }

  /// Polls readable when there is something to be looked at.
  var descriptor: Int32 { watch.descriptor }

  /// SQLite's count of the commits of a file with a log.
  var changeCount: UInt32? { watch.counter.map { $0.pointee } }

  /// Runs `look` if the descriptor may have polled readable. Where that returns false it is to be run again soon.
  func settle(_ look: () -> Bool) {
    // Another thread may be at it.
    _ = lock.withFreeLock {
      withUnsafePointer(to: watch) { watch in
        if !quire_file_watch_take(watch) { return }
        // Asked before the look: what is being written by then may come into sight after it.
        let isWritten = quire_file_watch_is_written(watch)
        let isDone = look() && !isWritten
        if isDone, pause == 0 { return }
        pause = isDone ? 0 : min(max(1, pause * 2), FileWatch.longestPause)
        quire_file_watch_pause(watch, pause)
      }
    }
  }
}
