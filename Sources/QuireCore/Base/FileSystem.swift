import CRuntime
import Glibc

/// Whole files and their folders, for all that is not SQLite's, and system calls that the headers keep from Swift.
enum FileSystem {
  /// Why a file was not read.
  enum Problem: Error {
    /// An error of the system.
    case system(Int32)
    case tooLarge(Int)
    case noFile
    case shortened

    var reason: String {
      switch self {
      case .system(let code): FileSystem.reason(code)
      case .tooLarge(let size): "it has \(size) bytes"
      case .noFile: "it is not a regular file"
      case .shortened: "it is shorter than it was"
      }
    }
  }

  /// What the system says of an error.
  static func reason(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

  // MARK: Reading

  /// The names in a folder, or some more than `most` of them. nil where it cannot be read, with the reason in `errno`.
  static func names(in path: String, atMost most: Int = .max) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer {
      let reason = errno
      closedir(folder)
      errno = reason
    }
    var names: [String] = []
    while names.count <= most {
      errno = 0
      guard let entry = readdir(folder) else {
        // The end, or a failure.
        if errno == 0 { break }
        return nil
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// All that is in a regular file, where `allows` returns true for the number of bytes.
  static func read(
    _ path: String, followsLinks: Bool, allows: (Int) -> Bool
  ) throws(Problem) -> Bytes {
    // A pipe that came into the place of the file is not waited for.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    let descriptor = Glibc.open(path, flags)
    if descriptor < 0 { throw .system(errno) }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw .system(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .noFile }
    let size = Int(status.st_size)
    if !allows(size) { throw .tooLarge(size) }
    var problem: Problem?
    let bytes = Bytes(count: size) { target in
      var place = 0
      while place < size {
        let count = Glibc.read(descriptor, target.baseAddress! + place, size - place)
        if count < 0, errno == EINTR { continue }
        if count <= 0 {
          problem = count < 0 ? .system(errno) : .shortened
          memset(target.baseAddress! + place, 0, size - place)
          return
        }
        place += count
      }
    }
    if let problem { throw problem }
    return bytes
  }

  // MARK: Writing

  /// Writes a new file that survives a power cut, but for its name. Returns 0, or the error of the system. There is no
  /// file then, or the one that was there before. `mode` is taken as it is, and nil is what the process gives any file.
  static func write(_ bytes: Bytes, toNew path: String, mode: mode_t? = nil) -> Int32 {
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode == nil ? 0o666 : 0o600)
    if descriptor < 0 { return errno }
    if let mode { fchmod(descriptor, mode) }
    var written = 0, reason: Int32 = 0
    while written < bytes.count, reason == 0 {
      let count = Glibc.write(descriptor, bytes.start + written, bytes.count - written)
      if count > 0 { written += count } else if count == 0 || errno != EINTR { reason = count == 0 ? EIO : errno }
    }
    if reason == 0, fsync(descriptor) != 0 { reason = errno }
    if Glibc.close(descriptor) != 0, reason == 0 { reason = errno }
    if reason != 0 { unlink(path) }
    return reason
  }

  /// Renames a file where no file is, in one step. False leaves the reason in `errno`: EINVAL or ENOSYS where the file
  /// system cannot do that.
  static func rename(_ name: String, toFree newName: String) -> Bool { quire_rename_to_free(name, newName) == 0 }

  // MARK: Folders

  /// The folder that `path` lies in.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// Has the names in a folder survive a power cut, where the file system and the permissions let it. Returns 0, or the
  /// error of the system.
  static func synchronize(folder: String) -> Int32 {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // One that may be written and not be read.
    if descriptor < 0 { return errno == EACCES ? 0 : errno }
    defer { _ = Glibc.close(descriptor) }
    if fsync(descriptor) == 0 { return 0 }
    return [EINVAL, ENOSYS, EOPNOTSUPP, EROFS].contains(errno) ? 0 : errno
  }
}
