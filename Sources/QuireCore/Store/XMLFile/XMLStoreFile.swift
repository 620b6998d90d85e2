import Glibc

/// The file of an XML store, whose objects are in memory while the store is open. Used under the store's lock.
///
/// It is never written in place. A new file is written beside it, synchronized, and renamed.
final class XMLStoreFile {
  /// As it was given.
  let path: Text
  /// Absolute, without symbolic links.
  let location: String
  let isReadOnly: Bool
  /// Whether a save survives a power cut.
  let isDurable: Bool
  /// What is at the path as far as this store knows; nil where no file is yet.
  private var known: Stamp?
  /// No object that is new may have this number in the file, or a lower one.
  var lastNumber = XMLStoreNumbers.beforeFirst
  /// Whether the open transaction has written something that belongs into the file.
  var hasChanges = false
  /// Whether the file has what memory has not: a commit failed after its file was in place.
  private(set) var isAhead = false

  /// By which a file is told from another one, and from itself with other contents.
  private struct Stamp: Equatable {
    let device: dev_t
    let inode: ino_t
    let size: off_t
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      device = status.st_dev
      inode = status.st_ino
      size = status.st_size
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
    }
  }

  init(path: Text, isReadOnly: Bool, isDurable: Bool) {
    self.path = path
    self.isReadOnly = isReadOnly
    self.isDurable = isDurable
    location = XMLStoreFile.resolved(path.string)
  }

  /// Of a file that is not there yet the folder is resolved.
  private static func resolved(_ path: String) -> String {
    func real(_ path: String) -> String? {
      guard let found = realpath(path, nil) else { return nil }
      defer { free(found) }
      return String(cString: found)
    }
    if let found = real(path) { return found }
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    guard let folder = real(FileSystem.folder(of: path)) else { return path }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  // MARK: Reading

  /// What is in the file; nil where there is none, or an empty one. From then on the file is to stay as it is.
  func read() throws(Failure) -> Bytes? {
    // A file that is replaced meanwhile is read again.
    for _ in 0..<XMLStoreFile.tries {
      guard let before = try stamp(doing: "open") else {
        known = nil
        return nil
      }
      let bytes: Bytes
      do throws(FileSystem.Problem) {
        bytes = try FileSystem.read(location, followsLinks: true, allows: Memory.has)
      } catch {
        if case .tooLarge(let size) = error { throw Memory.failure(size, for: "the XML store '\(path)'") }
        throw Failure(.cannotOpen, "Could not open '\(path)': \(error.reason). Check the path and the permissions.")
      }
      if try stamp(doing: "open") != before { continue }
      known = before
      return bytes.count == 0 ? nil : bytes
    }
    throw Failure(.busy, "Could not open '\(path)': others write it all the time. Try again.")
  }

  /// nil where there is no file.
  private func stamp(doing: String) throws(Failure) -> Stamp? {
    var status = stat()
    if stat(location, &status) == 0 { return Stamp(status) }
    if errno == ENOENT { return nil }
    throw Failure(
      .cannotOpen,
      "Could not \(doing) '\(path)': the file cannot be looked at (\(FileSystem.reason(errno))). Check the path.")
  }

  private static let tries = 10

  // MARK: Writing

  /// Puts a new file in the place of the old one. `body` gets a function that writes.
  ///
  /// When it fails, the old file is there, unless the names in the folder could not be synchronized.
  /// `mode` has the permissions of a file that is new.
  func replace(
    mode: mode_t? = nil, _ body: ((UnsafeBufferPointer<UInt8>) throws(Failure) -> Void) throws(Failure) -> Void
  ) throws(Failure) {
    try checkIsKnown()
    let folder = FileSystem.folder(of: location)
    let temporary = "\(folder)/quire-copy-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var status = stat()
    let hasFile = stat(location, &status) == 0
    let descriptor = Glibc.open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, hasFile || mode != nil ? 0o600 : 0o666)
    if descriptor < 0 { throw failure(errno) }
    var isClosed = false
    do throws(Failure) {
      defer { if !isClosed { _ = Glibc.close(descriptor) } }
      if hasFile {
        // Another owner is taken over where the system lets it, and the permissions after that.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        fchmod(descriptor, status.st_mode & 0o777)
      } else if let mode {
        fchmod(descriptor, mode & 0o777)
      }
      try body { part throws(Failure) in
        var written = 0
        while written < part.count {
          let count = Glibc.write(descriptor, part.baseAddress! + written, part.count - written)
          if count > 0 {
            written += count
          } else if count == 0 || errno != EINTR {
            throw failure(count == 0 ? EIO : errno)
          }
        }
      }
      if fsync(descriptor) != 0 { throw failure(errno) }
      var made = stat()
      if fstat(descriptor, &made) != 0 { throw failure(errno) }
      isClosed = true
      if Glibc.close(descriptor) != 0 { throw failure(errno) }
      try checkIsKnown()
      try place(temporary)
      known = Stamp(made)
    } catch {
      unlink(temporary)
      throw error
    }
    isAhead = true
    let reason = isDurable ? FileSystem.synchronize(folder: folder) : 0
    if reason != 0 { throw failure(reason) }
  }

  private func place(_ temporary: String) throws(Failure) {
    if known == nil {
      if FileSystem.rename(temporary, toFree: location) { return }
      if errno == EEXIST { throw replaced }
      // Some file systems can only replace what is there.
      guard [EINVAL, ENOSYS, EPERM].contains(errno) else { throw failure(errno) }
    }
    if rename(temporary, location) != 0 { throw failure(errno) }
  }

  /// Memory has what the file has.
  func noteCommit() {
    isAhead = false
    hasChanges = false
  }

  private func checkIsKnown() throws(Failure) {
    if try stamp(doing: "write") != known { throw replaced }
  }

  private var replaced: Failure {
    Failure(
      .fileMoved,
      "Could not write the store '\(path)': the file '\(location)' was changed, moved, deleted or replaced since it "
        + "was read. Nothing was saved. Open it again, and make the changes there.")
  }

  private func failure(_ reason: Int32) -> Failure {
    let subject = "Could not write the store '\(path)'"
    switch reason {
    case ENOSPC, EDQUOT:
      return Failure(.database, "\(subject): the disk is full. Nothing was saved. Free some space and try again.")
    case EACCES, EPERM, EROFS:
      return Failure(
        .readOnly,
        "\(subject): a new file cannot be put into its folder (\(FileSystem.reason(reason))). Nothing was saved. "
          + "Change the permissions of '\(FileSystem.folder(of: location))'.")
    default:
      return Failure(
        .database, "\(subject): \(FileSystem.reason(reason)). Nothing was saved. Check the disk and the file system.")
    }
  }
}
