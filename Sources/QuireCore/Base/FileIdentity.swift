import CQuireFormat
import Glibc

/// Which file a path leads to.
struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// Whether this error of the system says that there is no file at a path, or none that can be reached.
  static func isNone(_ reason: Int32) -> Bool { [ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG].contains(reason) }

  /// nil where there is none, and where it cannot be looked at, with the reason in `errno`.
  init?(of path: String) {
    var status = stat()
    if stat(path, &status) != 0 { return nil }
    device = status.st_dev
    inode = status.st_ino
  }

  /// Whether a part of this process uses the file. To open and close it here would end the locks that SQLite has on it
  /// for that part. A descriptor that only waits to be closed is no use of it.
  var isOpen: Bool {
    let folder = "/proc/self/fd"
    return (FileSystem.names(in: folder) ?? []).contains {
      FileIdentity(of: "\(folder)/\($0)") == self && !quire_locks_is_waiting(Int32($0) ?? -1)
    }
  }
}
