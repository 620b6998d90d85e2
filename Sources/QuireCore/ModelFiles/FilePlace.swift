import Glibc

/// A file or a folder with a part of a model.
struct FilePlace {
  /// More than any model has, and little enough to be read at once: the largest one known has 350 kB.
  private static let mostBytes = 16 << 20
  private static let mostNames = 10_000

  let path: Text
  let isFolder: Bool
  private let followsLinks: Bool

  /// Fails when nothing is there.
  init(_ path: Text) throws(Failure) { try self.init(path, followsLinks: true) }

  private init(_ path: Text, followsLinks: Bool) throws(Failure) {
    var status = stat()
    let isThere =
      !path.bytes.buffer.contains(0) && (followsLinks ? stat(path.string, &status) : lstat(path.string, &status)) == 0
    guard isThere else {
      throw Failure(
        .cannotOpen, "Could not open '\(path)': \(FileSystem.reason(path.bytes.buffer.contains(0) ? EINVAL : errno)).")
    }
    self.path = path
    self.followsLinks = followsLinks
    switch status.st_mode & S_IFMT {
    case S_IFDIR: isFolder = true
    case S_IFREG: isFolder = false
    default: throw Failure(.cannotOpen, "Could not open '\(path)': it is neither a file nor a folder.")
    }
  }

  /// The last part of the path.
  var name: String {
    path.string.split(separator: "/").last.map(String.init) ?? ""
  }

  /// The name without its ending.
  var baseName: String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// What is of that name in the folder; nil when there is nothing. The name comes from a file and leads nowhere else,
  /// nor does a link of that name.
  func inside(_ name: String) -> FilePlace? {
    if name.isEmpty || name == "." || name == ".." || name.utf8.contains(UInt8(ascii: "/")) { return nil }
    return try? FilePlace(Text("\(path)/\(name)"), followsLinks: false)
  }

  /// The names in a folder.
  func names() throws(Failure) -> [String] {
    guard let names = FileSystem.names(in: path.string, atMost: FilePlace.mostNames) else {
      throw cannotOpen(FileSystem.reason(errno))
    }
    if names.count > FilePlace.mostNames {
      throw Failure(.cannotOpen, "Could not open '\(path)': it has too many files to be a model.")
    }
    return names
  }

  /// Whether this process has a store open in the file. To open and close it again, besides SQLite, would end all locks
  /// that this process has on it.
  var isOpenStore: Bool { !isFolder && FileClaim.isClaimed(path) }

  /// All that is in the file.
  func contents(atMost most: Int = mostBytes) throws(Failure) -> Bytes {
    if isOpenStore { throw Failure(.invalidModel, "'\(path)' is a store that is open, and no part of a model.") }
    do throws(FileSystem.Problem) {
      return try FileSystem.read(path.string, followsLinks: followsLinks) { $0 <= most }
    } catch .tooLarge(let size) {
      throw Failure(
        .invalidModel, "'\(path)' is no part of a model: it has \(size) bytes, and at most \(most) are read.")
    } catch { throw cannotOpen(error.reason) }
  }

  /// Makes the folder when there is none, and a file in it that is whole or not there.
  static func write(_ bytes: Bytes, named name: String, inFolder folder: Text) throws(Failure) {
    func failure(_ number: Int32) -> Failure {
      Failure(.cannotOpen, "Could not write '\(folder)': \(FileSystem.reason(number)).")
    }
    if folder.bytes.buffer.contains(0) { throw failure(EINVAL) }
    try NameBesideStore.check(folder)
    let isNew = mkdir(folder.string, 0o777) == 0
    if !isNew, errno != EEXIST { throw failure(errno) }
    let temporary = "\(folder)/quire-\(UniqueIdentifier.random().text)"
    var number = FileSystem.write(bytes, toNew: temporary)
    if number == 0, rename(temporary, "\(folder)/\(name)") != 0 {
      number = errno
      unlink(temporary)
    }
    if number != 0 {
      if isNew { rmdir(folder.string) }
      throw failure(number)
    }
    number = FileSystem.synchronize(folder: folder.string)
    if number == 0, isNew { number = FileSystem.synchronize(folder: FileSystem.folder(of: folder.string)) }
    if number != 0 { throw failure(number) }
  }

  private func cannotOpen(_ reason: String) -> Failure {
    Failure(.cannotOpen, "Could not open '\(path)': \(reason).")
  }
}
