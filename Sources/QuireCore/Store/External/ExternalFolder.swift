import Glibc

/// The folder beside a store that has the files of its values. It is made when there is a first file.
struct ExternalFolder: Sendable {
  enum Problem: Error {
    case missing
    case tooLarge(Int)
    case unreadable(String)
  }

  private let store: String
  private let support: String
  private let folder: String

  /// `location` is where the file of the store is.
  init(of location: Text) {
    let store = location.string
    let start = store.utf8.lastIndex(of: UInt8(ascii: "/")).map { store.utf8.index(after: $0) } ?? store.startIndex
    var name = store[start...]
    if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex { name = name[..<dot] }
    let support = "\(store[..<start]).\(name)_SUPPORT"
    self.store = store
    self.support = support
    folder = "\(support)/_EXTERNAL_DATA"
  }

  func path(of file: ExternalFile) -> String { "\(folder)/\(file.name)" }

  // MARK: Reading

  func read(_ file: ExternalFile) -> Result<Bytes, Problem> {
    do throws(FileSystem.Problem) {
      // No link leads elsewhere.
      return .success(try FileSystem.read(path(of: file), followsLinks: false, allows: Memory.has))
    } catch {
      switch error {
      case .system(ENOENT), .system(ENOTDIR): return .failure(.missing)
      case .tooLarge(let size): return .failure(.tooLarge(size))
      default: return .failure(.unreadable(error.reason))
      }
    }
  }

  func size(of file: ExternalFile) -> Int? {
    var status = stat()
    return lstat(path(of: file), &status) == 0 ? Int(status.st_size) : nil
  }

  // MARK: Writing

  /// A file of that name is there whole, or not at all. It survives a power cut. Returns whether it was written, which
  /// it is not where there is one and `replacing` is false.
  @discardableResult
  func write(_ data: Bytes, to file: ExternalFile, replacing: Bool = true) throws(Failure) -> Bool {
    let target = path(of: file), temporary = "\(folder)/.\(ExternalFile.random().name)"
    // As readable as the store.
    var status = stat(), mode: mode_t = 0o600
    if stat(store, &status) == 0 { mode = status.st_mode & 0o666 }
    var reason = ENOENT, tries = ExternalFolder.tries
    // The folder goes with another store that is deleted.
    while reason == ENOENT, tries > 0 {
      reason = makeFolders()
      if reason == 0 { reason = FileSystem.write(data, toNew: temporary, mode: mode) }
      tries -= 1
    }
    if reason == 0 { reason = ExternalFolder.move(temporary, to: target, replacing: replacing) }
    if reason != 0 {
      unlink(temporary)
      if reason == EEXIST, !replacing { return false }
      throw failure(target, reason)
    }
    reason = FileSystem.synchronize(folder: folder)
    if reason != 0 {
      unlink(target)
      throw failure(target, reason)
    }
    return true
  }

  /// Returns the reason why it failed, or 0.
  private static func move(_ name: String, to target: String, replacing: Bool) -> Int32 {
    if !replacing {
      if FileSystem.rename(name, toFree: target) { return 0 }
      // Some file systems can only replace what is there.
      guard [EINVAL, ENOSYS, EPERM].contains(errno) else { return errno }
      var status = stat()
      if lstat(target, &status) == 0 { return EEXIST }
    }
    return rename(name, target) == 0 ? 0 : errno
  }

  private static let tries = 10

  /// Returns 0, or the error of the system. Where the names of new folders may not survive, there are none.
  private func makeFolders() -> Int32 {
    var status = stat()
    if stat(folder, &status) == 0 { return 0 }
    var mode: mode_t = 0o700
    // Where the store may be read, the folder may be searched.
    if stat(store, &status) == 0 { mode |= status.st_mode & 0o666 | (status.st_mode & 0o444) >> 2 }
    for name in [support, folder] where mkdir(name, mode) == 0 { chmod(name, mode) }
    for name in [support, FileSystem.folder(of: support)] {
      let reason = FileSystem.synchronize(folder: name)
      if reason == 0 { continue }
      delete([])
      return reason
    }
    return 0
  }

  func remove(_ files: some Sequence<ExternalFile>) {
    for file in files { unlink(path(of: file)) }
  }

  /// Has the log of the store survive a power cut, with what was committed to it. No locks are on it.
  func synchronizeLog() -> Bool {
    let descriptor = Glibc.open(store + "-wal", O_RDONLY | O_CLOEXEC)
    // Without a log the commit has written to the file itself, in the order that survives.
    if descriptor < 0 { return errno == ENOENT }
    let isDurable = fsync(descriptor) == 0
    _ = Glibc.close(descriptor)
    return FileSystem.synchronize(folder: FileSystem.folder(of: store)) == 0 && isDurable
  }

  private func failure(_ path: String, _ reason: Int32) -> Failure {
    Failure(
      reason == EACCES || reason == EROFS ? .readOnly : .database,
      "Could not write '\(path)', a file for a large value: \(FileSystem.reason(reason)). Nothing was saved.")
  }
}

extension ExternalFolder {
  /// The files of values, and those of writes that were cut off. nil where the folder cannot be read, with the reason
  /// in `errno`.
  var all: [String]? {
    guard let names = FileSystem.names(in: folder) else { return errno == ENOENT || errno == ENOTDIR ? [] : nil }
    return names.filter { name in
      let bytes = Array(name.utf8)
      return ExternalFile(bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes[...]) != nil
    }.map { "\(folder)/\($0)" }
  }

  /// Removes these files, and the folders if nothing else is in them.
  func delete(_ files: [String]) {
    for file in files { unlink(file) }
    rmdir(folder)
    rmdir(support)
  }

  /// The folder, for messages.
  var name: String { support }

  /// Whether both are one folder, under whatever names.
  func isSame(as other: ExternalFolder) -> Bool {
    if support == other.support { return true }
    if let own = FileIdentity(of: support) { return own == FileIdentity(of: other.support) }
    guard support.split(separator: "/").last == other.support.split(separator: "/").last,
      let parent = FileIdentity(of: FileSystem.folder(of: support))
    else { return false }
    return parent == FileIdentity(of: FileSystem.folder(of: other.support))
  }

  /// Files beside the store that would have the same folder if they were stores: names that differ in the ending alone.
  /// nil where that cannot be known.
  var neighbours: [String]? {
    let folder = FileSystem.folder(of: store)
    guard let names = FileSystem.names(in: folder) else { return nil }
    let own = String(store.split(separator: "/").last ?? "")
    let support = ExternalFolder(of: Text("\(folder)/\(own)")).support
    var neighbours: [String] = []
    for name in names {
      if name == own || ["-wal", "-shm", "-journal"].contains(where: { name.hasSuffix($0) }) { continue }
      // A cache of a list.
      if name.utf8.starts(with: "\(own)-list-".utf8) { continue }
      let path = "\(folder)/\(name)"
      if ExternalFolder(of: Text(path)).support != support { continue }
      var status = stat()
      if stat(path, &status) != 0 {
        // A link that leads nowhere, or a file that is gone by now.
        if errno == ENOENT { continue }
        return nil
      }
      if status.st_mode & S_IFMT == S_IFREG { neighbours.append(path) }
    }
    return neighbours
  }
}
