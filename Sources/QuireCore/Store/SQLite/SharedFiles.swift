import Glibc

/// The index of the log, and the empty log, that SQLite makes beside a file that is only read.
///
/// SQLite has the last connection to a file remove both, but only one that may write. A reader therefore leaves them,
/// in the folder of an application whose files were to stay as they are.
struct SharedFiles {
  private let logPath: String
  private let indexPath: String
  private let hadLog: Bool
  private let hadIndex: Bool

  /// The indexes that this process has made, so that the last of several readers removes them.
  private static let made = Guarded<Set<String>>([])

  /// To be called before SQLite first reads the file, which is at the absolute path `location`.
  init(beside location: Text) {
    logPath = location.string + "-wal"
    indexPath = location.string + "-shm"
    hadLog = access(logPath, F_OK) == 0
    let isThere = access(indexPath, F_OK) == 0
    hadIndex = SharedFiles.made.withLock { [indexPath] made in
      if !isThere { made.insert(indexPath) }
      return isThere && !made.contains(indexPath)
    }
  }

  /// Removes what was not there before, unless something else has the file open. To be called when the connection is
  /// closed.
  func remove(at location: Text) {
    if hadIndex || access(indexPath, F_OK) != 0 { return }
    // As the only one that has the file open, which SQLite's lock for writers says. Its own index is in memory then.
    guard
      let other = try? Connection(path: location, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    else { return }
    defer { other.close() }
    // The log stays as it is.
    other.setCheckpointsOnClose(false)
    do throws(Failure) {
      try other.execute("PRAGMA locking_mode = EXCLUSIVE")
      _ = try other.isEmpty()
    } catch { return }
    unlink(indexPath)
    var status = stat()
    if !hadLog, stat(logPath, &status) == 0, status.st_size == 0 { unlink(logPath) }
    SharedFiles.made.withLock { [indexPath] made in _ = made.remove(indexPath) }
  }
}
