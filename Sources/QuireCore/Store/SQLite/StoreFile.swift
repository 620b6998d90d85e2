import Glibc

/// The file at the path of a store before SQLite touches it, so that errors can name the problem.
///
/// Nothing here opens the file: closing any descriptor of it would drop the locks that SQLite holds on it for other
/// stores of this process.
struct StoreFile {
  let path: Text
  private let name: String

  /// Checks that `path` can name a file at all.
  init(path: Text) throws(Failure) {
    if path.isEmpty {
      throw Failure(
        .invalidArgument,
        "The path of the store is empty. Give the path of a file, or ':memory:' for a store in memory.")
    }
    if path.bytes.buffer.contains(0) {
      throw Failure(
        .invalidArgument, "The path of the store contains a NUL character, which no file name can have. Remove it.")
    }
    self.path = path
    name = path.string
  }

  /// Whether a write-ahead log lies beside the file.
  var hasLog: Bool { status(of: name + "-wal") != nil }

  /// Whether the file is there and has no byte.
  var isEmpty: Bool { status(of: name)?.st_size == 0 }

  /// Whether a journal lies beside the file, which may have more of its contents than the file itself.
  private var hasJournal: Bool { (status(of: name + "-journal")?.st_size ?? 0) > 0 }

  static func isRegular(_ path: Text) -> Bool {
    var status = stat()
    return stat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The failure that opening the file must meet, or nothing when it looks possible. A file that is no database is
  /// replaced by each save, and SQLite keeps nothing beside it.
  func check(isReadOnly: Bool, mustExist: Bool, isDatabase: Bool = true) throws(Failure) {
    guard let status = status(of: name) else {
      let reason = errno
      guard reason == ENOENT else { throw cannotOpen(StoreFile.describe(reason)) }
      if mustExist || isReadOnly {
        throw cannotOpen(
          "the file does not exist. Check the path; to create it, open it with a model, for writing "
            + "and not as one that must exist.")
      }
      try checkFolder()
      try checkHasNoStore(StoreFile.endings)
      return try NameBesideStore.check(path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw cannotOpen("it is a folder. Give the path of a file.")
    default: throw cannotOpen("it is not a regular file. Give the path of a file.")
    }
    // A file that is gone by now is not forbidden: SQLite finds out, or makes it.
    if isForbidden(name, R_OK) {
      throw cannotOpen("the permission to read it is missing. Change the permissions of the file.")
    }
    // A transaction that was cut off may have left a part of a page, which SQLite takes back.
    if isDatabase, !hasJournal { try checkSize() }
    if isReadOnly { return }
    // A store would be created in it.
    if status.st_size == 0, !mustExist { try NameBesideStore.check(path) }
    if isDatabase { try checkHasNoStore(["-journal"]) }
    if status.st_nlink > 1 {
      let consequence =
        isDatabase
        ? "SQLite keeps a log for each of them, so that saves could be lost" : "a save would replace one of them alone"
      throw cannotOpen(
        "the file has \(status.st_nlink) names (hard links), and \(consequence). Open a copy of the file, or delete "
          + "its other names.")
    }
    if isForbidden(name, W_OK) {
      throw readOnly("the file cannot be written. Open it for reading only, or change its permissions.")
    }
    if !isDatabase {
      if isAccessible(folder, W_OK) { return }
      throw readOnly(
        "its folder cannot be written, and a save puts a new file there. "
          + "Open it for reading only, or change the permissions of '\(folder)'.")
    }
    // SQLite opens these for reading where it cannot write, and then refuses each save.
    for ending in StoreFile.endings where isForbidden(name + ending, R_OK | W_OK) {
      throw readOnly(
        "the file '\(name)\(ending)', which belongs to it, cannot be read and written. "
          + "Open it for reading only, or change the permissions and the owner of that file.")
    }
    if !isAccessible(folder, W_OK), !hasLog {
      throw readOnly(
        "its folder cannot be written, and SQLite keeps its log there. "
          + "Open it for reading only, or change the permissions of '\(folder)'.")
    }
  }

  /// SQLite takes a file of one byte for an empty one and would write over it; its smallest page has 512.
  func checkSize() throws(Failure) {
    if let status = status(of: name), (1..<512).contains(status.st_size) {
      throw Failure(.notAStore, "Could not open '\(path)': the file is not an SQLite database. Check the path.")
    }
  }

  /// Fails where a store has the name of a file that SQLite keeps beside this one. SQLite would delete it.
  private func checkHasNoStore(_ endings: [String]) throws(Failure) {
    for ending in endings where (status(of: name + ending)?.st_size ?? 0) > 0 {
      guard (try? Store.isDatabase(fileAt: Text(name + ending))) == true else { continue }
      throw cannotOpen(
        "the file '\(name)\(ending)' is a database, and SQLite would take it for a file of its own and delete it. "
          + "Move that file, or choose another path.")
    }
  }

  /// Fails when a file cannot be made at the path. SQLite would take a log or journal that lies there for its own.
  func checkIsFree() throws(Failure) {
    try checkFolder()
    try NameBesideStore.check(path)
    for ending in [""] + StoreFile.endings {
      var status = stat()
      if lstat(name + ending, &status) == 0 { throw exists(ending) }
    }
  }

  private func exists(_ ending: String = "") -> Failure {
    Failure(
      .cannotOpen,
      "Could not make '\(path)': there is already a file '\(name + ending)'. "
        + "Choose another path, or delete that file first.")
  }

  /// Makes an empty file in the folder of the path and returns its name. The name is short, because that of the store
  /// may be as long as names can be. `mode` has the permissions of the file.
  func makeTemporary(mode: mode_t?) throws(Failure) -> String {
    let temporary = "\(folder)/quire-copy-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = Glibc.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode == nil ? 0o666 : 0o600)
    if descriptor < 0 { throw cannotOpen(StoreFile.describe(errno)) }
    defer { _ = Glibc.close(descriptor) }
    if let mode { fchmod(descriptor, mode & 0o777) }
    return temporary
  }

  /// Makes a whole file appear at the path, where there is none.
  func place(_ temporary: String) throws(Failure) {
    if !FileSystem.rename(temporary, toFree: name) {
      let reason = errno
      if reason == EEXIST { throw exists() }
      // Some file systems can only replace what is there.
      guard [EINVAL, ENOSYS, EPERM].contains(reason) else { throw cannotOpen(StoreFile.describe(reason)) }
      try checkIsFree()
      if rename(temporary, name) != 0 { throw cannotOpen(StoreFile.describe(errno)) }
    }
    // So that the name outlives a power cut, as the contents do.
    let reason = FileSystem.synchronize(folder: folder)
    if reason != 0 {
      unlink(name)
      throw cannotOpen(StoreFile.describe(reason))
    }
  }

  /// Deletes the file and what SQLite keeps beside it. `location` is where it really is. The file goes last: as long as
  /// it is there, it is whole.
  func delete(at location: String) throws(Failure) {
    for name in StoreFile.endings.map({ location + $0 }) + [location] where unlink(name) != 0 && errno != ENOENT {
      let reason = FileSystem.reason(errno)
      throw readOnly("'\(name)' could not be deleted (\(reason)). Change the permissions of its folder.")
    }
    // A link to the file leads nowhere now.
    var status = stat()
    if lstat(name, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(name) }
  }

  /// The endings that SQLite adds to the name of a file for its log, the index of the log, and the journal.
  private static let endings = ["-wal", "-shm", "-journal"]

  private func checkFolder() throws(Failure) {
    guard let status = status(of: folder) else {
      throw cannotOpen("the folder '\(folder)' does not exist. Create it first, or check the path.")
    }
    if status.st_mode & S_IFMT != S_IFDIR {
      throw cannotOpen("'\(folder)' is not a folder. Check the path.")
    }
    if !isAccessible(folder, W_OK | X_OK) {
      throw cannotOpen("the folder '\(folder)' cannot be written. Change its permissions, or choose another folder.")
    }
  }

  private var folder: String { FileSystem.folder(of: name) }

  private func status(of name: String) -> stat? {
    var status = stat()
    return stat(name, &status) == 0 ? status : nil
  }

  /// By the effective user, as SQLite will find it; plain access(2) asks for the real one.
  private func isAccessible(_ name: String, _ mode: Int32) -> Bool {
    faccessat(AT_FDCWD, name, mode, AT_EACCESS) == 0
  }

  /// Whether it is there and may not be used so.
  private func isForbidden(_ name: String, _ mode: Int32) -> Bool {
    !isAccessible(name, mode) && [EACCES, EPERM, EROFS].contains(errno)
  }

  private func cannotOpen(_ reason: String) -> Failure { Failure(.cannotOpen, "Could not open '\(path)': \(reason)") }
  private func readOnly(_ reason: String) -> Failure {
    Failure(.readOnly, "Could not open '\(path)' for writing: \(reason)")
  }

  private static func describe(_ code: Int32) -> String {
    switch code {
    case EACCES: "the permission to search its folder is missing. Change the permissions of the folder."
    case ENOTDIR: "a part of the path before its name is not a folder. Check the path."
    case ENAMETOOLONG: "the path is longer than the system allows. Choose a shorter one."
    case ELOOP: "its symbolic links go round in a circle. Check the path."
    default: "\(FileSystem.reason(code)). Check the path."
    }
  }
}
