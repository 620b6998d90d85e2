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

  /// Whether this process has the file open. To open and close it here would end the locks that SQLite has on it for
  /// another part of the program.
  var isOpen: Bool {
    let folder = "/proc/self/fd"
    return (FileSystem.names(in: folder) ?? []).contains { FileIdentity(of: "\(folder)/\($0)") == self }
  }
}
