import CQuireFormat
import CSQLite
import Glibc

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
  /// Of the index, for a question about its locks. Where those are of fcntl(2), to close it before SQLite has closed
  /// the index would end them.
  private var indexDescriptor: Int32 = -1
  /// The file's last change and the clock, both at the last look, in nanoseconds.
  private var lastChange: Int64 = 0
  private var lastLook: Int64 = 0
  /// Until when whatever was written to the file was written with this log in use.
  private var isSureUntil: Int64 = 0

  private static let timeBetweenLooks: Int64 = 100_000_000
  /// Two changes within one tick of the system's clock may have the same time.
  private static let tick: Int64 = 20_000_000
  /// O_PATH, which the headers keep to themselves.
  private static let pathOnly: Int32 = 0o10_000_000

  /// By which path the connections of this process have a file open, and how many they are.
  private static let uses = Guarded<[FileIdentity: (path: String, count: Int)]>([:])

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
    OpenFiles.uses.withLock { [path] in $0[file, default: (path, 0)].count += 1 }
    noteLog()
    noteWrite()
  }

  func forget() {
    if descriptor >= 0 { _ = Glibc.close(descriptor) }
    if indexDescriptor >= 0 { _ = quire_locks_close(indexDescriptor) }
    OpenFiles.uses.withLock { uses in
      uses[file] = uses[file].flatMap { $0.count > 1 ? ($0.path, $0.count - 1) : nil }
    }
  }

  /// Whether this process has a store open in the file at `path`.
  static func isOpen(_ path: String) -> Bool {
    FileIdentity(of: path).map { file in uses.withLock { $0[file] != nil } } ?? false
  }

  /// Runs `body` unless this process has a store open in the file at `path`, and returns whether it did. No store is
  /// opened meanwhile.
  static func unlessOpen(_ path: String, _ body: () -> Void) -> Bool {
    let file = FileIdentity(of: path)
    return uses.withLock { uses in
      if let file, uses[file] != nil { return false }
      body()
      return true
    }
  }

  /// Refuses another name of a file that this process has open: there would be two logs of one file.
  static func checkName(_ path: Text) throws(Failure) {
    guard path.string != ":memory:", let file = FileIdentity(of: path.string),
      let name = uses.withLock({ $0[file]?.path }), let resolved = realpath(path.string, nil)
    else { return }
    defer { free(resolved) }
    if String(cString: resolved) == name { return }
    throw Failure(
      .cannotOpen,
      "Could not open '\(path)': this process has the file open as '\(name)', and SQLite keeps a log for each name. "
        + "Close that store first, or use it.")
  }

  /// Whether a log was seen, so that SQLite holds a lock which keeps other processes from removing it.
  var usesLog: Bool { log != nil }

  /// To be called while a log, where there is one, is in use: it stays the same as long as the connection lives.
  private mutating func noteLog() {
    log = FileIdentity(of: logPath)
    index = FileIdentity(of: indexPath)
  }

  /// A path that leads to another file than the one that was opened, or to none, as far as it is known.
  struct Absence {
    let path: String
    /// The error of the system where the path cannot be looked at; otherwise 0.
    let reason: Int32
  }

  private static func absence(of known: FileIdentity, at path: String) -> Absence? {
    guard let found = FileIdentity(of: path) else {
      return Absence(path: path, reason: FileIdentity.isNone(errno) ? 0 : errno)
    }
    return found == known ? nil : Absence(path: path, reason: 0)
  }

  /// The file itself, when it is not the one that was opened.
  func movedFile() -> Absence? { OpenFiles.absence(of: file, at: path) }

  /// The first of the files that is not the one that was opened. What becomes of the log and its index is
  /// noticed within the time between two looks, what becomes of the file at once.
  mutating func moved() -> Absence? {
    let change = timeOfChange(), now = OpenFiles.now()
    let isSure = change != 0 && change == lastChange && lastLook - lastChange > OpenFiles.tick
    if isSure, now >= lastLook, now - lastLook < OpenFiles.timeBetweenLooks { return nil }
    lastChange = 0
    let start = OpenFiles.preciseNow()
    // Another process may have turned the store to a log.
    if log == nil { noteLog() }
    if let absent { return absent }
    (lastChange, lastLook) = (change, now)
    isSureUntil = start
    return nil
  }

  /// The first of the files that is not where it was now. Another connection would find what is there in its place.
  var absent: Absence? {
    if let absence = movedFile() { return absence }
    if let log, let absence = OpenFiles.absence(of: log, at: logPath) { return absence }
    return index.flatMap { OpenFiles.absence(of: $0, at: indexPath) }
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

  /// Not before the time that the system has for earlier writes.
  private static func preciseNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// To be called after each write of this connection, which may have folded the log into the file.
  mutating func noteWrite() { isSureUntil = OpenFiles.preciseNow() }

  /// Whether the log and the file belong together as they are, so that the one may be folded into the other. False
  /// where something may have written to the file without this log, or to this log for another file. To be asked with
  /// the file locked: what has it open would make the answer out of date.
  mutating func logFitsFile() -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, OpenFiles.nanoseconds(status.st_mtim) <= isSureUntil else { return false }
    // A log that was begun where the file is now.
    if status.st_nlink > 0 {
      guard status.st_nlink == 1, let newPath else { return false }
      if stat(newPath + "-wal", &status) == 0, status.st_size > 0, FileIdentity(of: newPath + "-wal") != log {
        return false
      }
    }
    // What is open by the old path, where another file may be, may use what is beside it.
    if FileIdentity(of: logPath).map({ $0 != log }) ?? false { return false }
    if FileIdentity(of: indexPath).map({ $0 != index }) ?? false { return false }
    if stat(logPath, &status) == 0, OpenFiles.nanoseconds(status.st_mtim) > isSureUntil { return false }
    let isShared = OpenFiles.uses.withLock { [path, file] in $0.contains { $0.key != file && $0.value.path == path } }
    return !isShared && !isIndexShared()
  }

  /// Where the file is now.
  private var newPath: String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let size = bytes.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { start in
        readlink("/proc/self/fd/\(descriptor)", start.assumingMemoryBound(to: CChar.self), bytes.count)
      } ?? 0
    }
    return size > 0 && size < bytes.count ? String(decoding: bytes.prefix(size), as: UTF8.self) : nil
  }

  /// Whether another process has opened a file at the old path with the index that is still beside it.
  private mutating func isIndexShared() -> Bool {
    guard let other = FileIdentity(of: path), other != file, index != nil else { return false }
    if indexDescriptor < 0 { indexDescriptor = quire_locks_open(indexPath, O_RDONLY | O_CLOEXEC) }
    // SQLite holds a lock of this byte as long as it has the index open.
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 128
    lock.l_len = 1
    return quire_locks_ask(indexDescriptor, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
  }

  /// Whether a program that opens the file would not find this log beside it, or would find it beside another file.
  /// False where they cannot be looked at.
  var isApart: Bool {
    let isElsewhere = movedFile()?.reason == 0
    return isElsewhere || log.flatMap { OpenFiles.absence(of: $0, at: logPath) }?.reason == 0
  }

  /// The permissions of the file.
  var mode: mode_t? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_mode : nil
  }

  /// Whether another file is where one of these was. False where a file is merely gone.
  var isReplaced: Bool {
    func differs(_ path: String, _ known: FileIdentity?) -> Bool { FileIdentity(of: path).map { $0 != known } ?? false }
    return differs(path, file) || differs(logPath, log) || differs(indexPath, index)
  }
}
