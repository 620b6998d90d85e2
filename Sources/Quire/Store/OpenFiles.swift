import CSQLite
import Glibc

/// Which file a path leads to.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// nil where there is none.
  init?(of path: String) {
    var status = stat()
    if stat(path, &status) != 0 { return nil }
    device = status.st_dev
    inode = status.st_ino
  }
}

/// The files of an open store: the file, its log, and the index of the log. Their paths may come to lead to other
/// files, or nowhere. SQLite goes on with what it has open, and would share a log with another store.
///
/// To look at three paths costs a tenth of a small save; to ask when the file was last changed, a third of one path. A
/// move, a deletion and a replacement all count as changes. The paths are looked at when the file was changed since the
/// last look, and when that was a while ago.
struct OpenFiles {
  /// Absolute and without symbolic links: the log is beside the file, not beside a link to it.
  let path: String
  private let logPath: String
  private let indexPath: String
  private let file: FileIdentity
  private var log: FileIdentity?
  private var index: FileIdentity?
  /// For questions about the file, not its contents. That it is closed leaves the locks of SQLite alone.
  private let descriptor: Int32
  /// The file's last change and the clock, both at the last look, in nanoseconds.
  private var lastChange: Int64 = 0
  private var lastLook: Int64 = 0

  private static let timeBetweenLooks: Int64 = 100_000_000
  /// Two changes within one tick of the system's clock may have the same time.
  private static let tick: Int64 = 20_000_000
  /// O_PATH, which the headers keep to themselves.
  private static let pathOnly: Int32 = 0o10_000_000

  /// How many connections of this process have a file open.
  private static let counts = Guarded<[FileIdentity: Int]>([:])

  /// nil for a store in memory, and for a file that is not at its path any more. Ends with `forget`.
  init?(of handle: OpaquePointer) {
    guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return nil }
    path = String(cString: name)
    logPath = path + "-wal"
    indexPath = path + "-shm"
    var hasMoved: Int32 = 0
    guard let file = FileIdentity(of: path),
      sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK, hasMoved == 0
    else { return nil }
    self.file = file
    // Without one, which costs time only, the paths are looked at each time.
    descriptor = Glibc.open(path, OpenFiles.pathOnly | O_CLOEXEC)
    OpenFiles.counts.withLock { $0[file, default: 0] += 1 }
    noteLog()
  }

  func forget() {
    if descriptor >= 0 { _ = Glibc.close(descriptor) }
    OpenFiles.counts.withLock { counts in
      counts[file] = counts[file].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  /// Whether this process has a store open in the file at `path`.
  static func isOpen(_ path: String) -> Bool {
    FileIdentity(of: path).map { file in counts.withLock { $0[file] != nil } } ?? false
  }

  /// Whether a log was seen, so that SQLite holds a lock which keeps other processes from removing it.
  var usesLog: Bool { log != nil }

  /// To be called while a log, where there is one, is in use: it stays the same as long as the connection lives.
  private mutating func noteLog() {
    log = FileIdentity(of: logPath)
    index = FileIdentity(of: indexPath)
  }

  /// The path of the file itself, when it is not the one that was opened.
  func movedFile() -> String? { FileIdentity(of: path) == file ? nil : path }

  /// The path of the first of the files that is not the one that was opened. What becomes of the log and its index is
  /// noticed within the time between two looks, what becomes of the file at once.
  mutating func moved() -> String? {
    let change = timeOfChange(), now = OpenFiles.now()
    let isSure = change != 0 && change == lastChange && lastLook - lastChange > OpenFiles.tick
    if isSure, now >= lastLook, now - lastLook < OpenFiles.timeBetweenLooks { return nil }
    lastChange = 0
    if FileIdentity(of: path) != file { return path }
    // Another process may have turned the store to a log.
    if log == nil { noteLog() }
    if let log, FileIdentity(of: logPath) != log { return logPath }
    if let index, FileIdentity(of: indexPath) != index { return indexPath }
    (lastChange, lastLook) = (change, now)
    return nil
  }

  /// 0 when it is not known.
  private func timeOfChange() -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? OpenFiles.nanoseconds(status.st_ctim) : 0
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return nanoseconds(time)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Whether another file is where one of these was. False where a file is merely gone.
  var isReplaced: Bool {
    func differs(_ path: String, _ known: FileIdentity?) -> Bool { FileIdentity(of: path).map { $0 != known } ?? false }
    return differs(path, file) || differs(logPath, log) || differs(indexPath, index)
  }
}
