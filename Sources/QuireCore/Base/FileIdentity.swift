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
