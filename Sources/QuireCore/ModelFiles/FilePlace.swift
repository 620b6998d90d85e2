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
        .cannotOpen, "Could not open '\(path)': \(FilePlace.reason(path.bytes.buffer.contains(0) ? EINVAL : errno)).")
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
    guard let folder = opendir(path.string) else { throw cannotOpen(errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
          String(cString: $0)
        }
      }
      if name == "." || name == ".." { continue }
      names.append(name)
      if names.count > FilePlace.mostNames {
        throw Failure(.cannotOpen, "Could not open '\(path)': it has too many files to be a model.")
      }
    }
    return names
  }

  /// All that is in the file, or its first bytes.
  func contents(first: Int? = nil, atMost most: Int = mostBytes) throws(Failure) -> Bytes {
    // A pipe that came into the place of the file is not waited for.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    let descriptor = Glibc.open(path.string, flags)
    if descriptor < 0 { throw cannotOpen(errno) }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw cannotOpen(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw cannotOpen(EINVAL) }
    var size = Int(status.st_size)
    if let first { size = min(size, first) }
    if size > most {
      throw Failure(
        .invalidModel, "'\(path)' is no part of a model: it has \(size) bytes, and at most \(most) are read.")
    }
    var bytes = [UInt8](repeating: 0, count: size)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw cannotOpen(errno) }
      // Another program has made it shorter.
      if count == 0 { break }
      filled += count
    }
    return Bytes(bytes.prefix(filled))
  }

  /// Makes the folder when there is none, and a file in it that is whole or not there.
  static func write(_ bytes: Bytes, named name: String, inFolder folder: Text) throws(Failure) {
    func failure(_ number: Int32) -> Failure {
      Failure(.cannotOpen, "Could not write '\(folder)': \(reason(number)).")
    }
    if folder.bytes.buffer.contains(0) { throw failure(EINVAL) }
    let isNew = mkdir(folder.string, 0o777) == 0
    if !isNew, errno != EEXIST { throw failure(errno) }
    let temporary = "\(folder)/quire-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    var number: Int32 = descriptor < 0 ? errno : 0
    var written = 0
    while written < bytes.count, number == 0 {
      let count = Glibc.write(descriptor, bytes.start + written, bytes.count - written)
      if count < 0, errno != EINTR { number = errno }
      if count > 0 { written += count }
    }
    if number == 0, fsync(descriptor) != 0 { number = errno }
    if descriptor >= 0, Glibc.close(descriptor) != 0, number == 0 { number = errno }
    if number == 0, rename(temporary, "\(folder)/\(name)") != 0 { number = errno }
    if number != 0 {
      unlink(temporary)
      if isNew { rmdir(folder.string) }
      throw failure(number)
    }
  }

  private func cannotOpen(_ number: Int32) -> Failure {
    Failure(.cannotOpen, "Could not open '\(path)': \(FilePlace.reason(number)).")
  }

  private static func reason(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}
