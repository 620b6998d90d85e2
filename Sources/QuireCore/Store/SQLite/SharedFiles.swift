import CQuireFormat
import Glibc

/// The index of the log, and the empty log, that SQLite makes beside a file that is only read.
///
/// SQLite has the last connection to a file remove both, but only one that may write. A reader therefore leaves them,
/// in the folder of an application whose files were to stay as they are. An index that a program has left there, as a
/// copy of a folder has it, is made anew by SQLite. What it held is put back.
struct SharedFiles {
  private let logPath: String
  private let indexPath: String

  /// What was beside each file before this process read it. The last of several readers restores that.
  private static let before = Guarded<[String: Before]>([:])

  /// To be called before SQLite first reads the file, which is at the absolute path `location`. `mayWrite` is for what
  /// may go on to write it: an index that is there stays as SQLite makes it.
  init(beside location: Text, mayWrite: Bool = false) {
    logPath = location.string + "-wal"
    indexPath = location.string + "-shm"
    SharedFiles.before.withLock { [logPath, indexPath] before in
      // What the last reader had to leave open, because the file was written in this process.
      if let left = before[indexPath], left.isUnused, left.index.close(unlessOpen: location.string) {
        before[indexPath] = nil
      }
      before[
        indexPath,
        default: Before(log: logPath, index: indexPath, of: location.string, keepsIndex: !mayWrite)
      ].readers += 1
    }
  }

  /// Leaves the files to SQLite, which has the last writer remove them.
  func keep(at location: Text) {
    SharedFiles.before.withLock { [indexPath] before in
      before[indexPath]?.readers -= 1
      if before[indexPath]?.isUnused == true, before[indexPath]?.index.close(unlessOpen: location.string) == true {
        before[indexPath] = nil
      }
    }
  }

  /// Restores what was there before, unless something else has the file open. To be called when the connection is
  /// closed.
  func remove(at location: Text) {
    let last = SharedFiles.before.withLock { [indexPath] before -> Before? in
      before[indexPath]?.readers -= 1
      guard before[indexPath]?.readers == 0 else { return nil }
      before[indexPath]?.restorations += 1
      return before[indexPath]
    }
    guard let last else { return }
    if access(indexPath, F_OK) == 0 { restore(last, at: location) }
    SharedFiles.before.withLock { [indexPath] before in
      before[indexPath]?.restorations -= 1
      // Another reader may have come meanwhile, and gone.
      if before[indexPath]?.isUnused == true, last.index.close(unlessOpen: location.string) { before[indexPath] = nil }
    }
  }

  private func restore(_ last: Before, at location: Text) {
    if case .unknown = last.index { return }
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
    switch last.index {
    case .none: unlink(indexPath)
    case .left(let index): index.restore()
    case .unknown: return
    }
    var status = stat()
    if !last.hadLog, stat(logPath, &status) == 0, status.st_size == 0 { unlink(logPath) }
  }
}

/// What was beside a file before its first reader of this process.
private struct Before {
  enum Index {
    case none
    case left(LeftIndex)
    /// In use by this process, or beyond its reach.
    case unknown

    /// Whether nothing of it is open any more. Closing a descriptor would end the locks that SQLite has there for
    /// others of this process.
    func close(unlessOpen path: String) -> Bool {
      guard case .left(let index) = self else { return true }
      return OpenFiles.unlessOpen(path) { index.close() }
    }
  }

  let hadLog: Bool
  let index: Index
  var readers = 0
  /// How many are under way.
  var restorations = 0
  var isUnused: Bool { readers == 0 && restorations == 0 }

  init(log: String, index: String, of path: String, keepsIndex: Bool) {
    hadLog = access(log, F_OK) == 0
    if access(index, F_OK) != 0 {
      self.index = .none
    } else if !keepsIndex || OpenFiles.isOpen(path) || FileIdentity(of: index)?.isOpen == true {
      self.index = .unknown
    } else {
      self.index = LeftIndex(at: index).map(Index.left) ?? .unknown
    }
  }
}

/// An index that is there though this process has not made it. When nothing has the file open, no program looks at what
/// it holds: the next one makes it anew.
private struct LeftIndex {
  private let descriptor: Int32
  private let bytes: [UInt8]

  /// An index has 32 KiB for each 16 MB of a log.
  private static let greatestSize = 64 << 20

  init?(at path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= LeftIndex.greatestSize
    else { return nil }
    descriptor = quire_locks_open(path, O_RDWR | O_CLOEXEC)
    // What this process cannot write, SQLite does not change.
    if descriptor < 0 { return nil }
    let size = Int(status.st_size), descriptor = descriptor
    bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
    }
  }

  func restore() {
    guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { return }
    _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  func close() { _ = quire_locks_close(descriptor) }
}
