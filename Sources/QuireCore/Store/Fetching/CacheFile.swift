import Glibc

/// A file beside a store that may go missing at any time. What is not, to the last bit, what was written is not there.
struct CacheFile {
  private let name: String
  private let store: String
  private static let magic: UInt64 = 0x5175_6972_654C_0003
  /// Magic, size of what follows, its checksum of four words, and two words of zeros.
  private static let headerSize = 64

  init(_ cache: Text, of store: Text) {
    let digits = CacheFile.digits
    self.store = store.string
    let digest = Digest.sha256(cache.utf8).prefix(CacheFile.digitCount / 2)
    name =
      "\(store)\(CacheFile.ending)"
      + String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static let ending = "-list-"
  private static let digits = Array("0123456789abcdef".utf8)
  private static let digitCount = 32

  /// The beginning of what was written, or nil.
  func read() -> Reader? {
    // A pipe in its place is not waited for.
    let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { return nil }
    let reader = Reader(descriptor)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= CacheFile.headerSize,
      status.st_size < 1 << 40, reader.readHeader(of: Int(status.st_size))
    else { return nil }
    return reader
  }

  /// Puts a file in its place that is whole, or none. A folder that cannot be written stays as it is.
  func write(_ writer: Writer) {
    removeLeftovers()
    let temporary = "\(name)-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { return }
    var header = Writer()
    var checksum = Checksum()
    writer.bytes.withUnsafeBytes { checksum.take($0) }
    header.part([CacheFile.magic, UInt64(writer.bytes.count)] + checksum.lanes)
    // As readable as the store.
    var status = stat()
    var isWhole = stat(store, &status) == 0 && fchmod(descriptor, status.st_mode & 0o666) == 0
    for bytes in [header.bytes, writer.bytes] where isWhole {
      isWhole = bytes.withUnsafeBytes { bytes in
        var place = 0
        while place < bytes.count {
          let count = Glibc.write(descriptor, bytes.baseAddress! + place, bytes.count - place)
          if count <= 0 { return false }
          place += count
        }
        return true
      }
    }
    isWhole = Glibc.close(descriptor) == 0 && isWhole
    if !isWhole || rename(temporary, name) != 0 { unlink(temporary) }
  }

  /// Removes what programs have left of this cache that were ended while they wrote it.
  private func removeLeftovers() {
    for path in CacheFile.names(startingWith: name) ?? [] {
      // The name, the process and a number.
      let rest = path.utf8.dropFirst(name.utf8.count)
      guard CacheFile.isUnfinished(rest), let process = rest.split(separator: UInt8(ascii: "-")).first,
        let number = Int32(String(decoding: process, as: UTF8.self))
      else { continue }
      let isGone = kill(number, 0) != 0 && errno == ESRCH
      var status = stat()
      // The number of a process is used again; no write takes so long.
      let isOld = stat(path, &status) == 0 && status.st_mtim.tv_sec < time(nil) - CacheFile.longestWriting
      if isGone || isOld { unlink(path) }
    }
  }

  private static let longestWriting = 600

  func delete() throws(Failure) { try CacheFile.delete(name) }

  /// Deletes all caches of a store.
  static func deleteAll(of store: Text) throws(Failure) {
    let start = store.string + ending
    guard let paths = names(startingWith: start) else {
      let reason = errno
      throw Failure(
        reason == EACCES ? .readOnly : .database,
        "The caches of '\(store)' could not be deleted: their folder cannot be read (\(FileSystem.reason(reason))). "
          + "Change the permissions of the folder, or check the disk.")
    }
    for path in paths where isCache(path.utf8.dropFirst(start.utf8.count)) { try delete(path) }
  }

  /// The paths of all files that begin like this. nil where the folder cannot be read, with the reason in `errno`.
  private static func names(startingWith path: String) -> [String]? {
    var folder = ".", start = "", prefix = path
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
      start = String(path[...slash])
      prefix = String(path[path.utf8.index(after: slash)...])
    }
    guard let names = FileSystem.names(in: folder) else { return errno == ENOENT ? [] : nil }
    return names.filter { $0.utf8.starts(with: prefix.utf8) }.map { start + $0 }
  }

  /// Whether a name goes on as that of a cache does, or of one being written. Another store may begin like this.
  private static func isCache(_ rest: Substring.UTF8View) -> Bool {
    let isNamed = rest.count >= digitCount && rest.prefix(digitCount).allSatisfy(digits.contains)
    let ending = rest.dropFirst(digitCount)
    return isNamed && (ending.isEmpty || isUnfinished(ending))
  }

  /// Where the name of the store ends in that of a cache, or of one being written. nil for other names.
  static func endOfStore(in name: String) -> String.Index? {
    let parts = name.utf8.indices.filter { name.utf8[$0...].starts(with: ending.utf8) }
    guard let end = parts.last, end > name.startIndex,
      isCache(name[name.utf8.index(end, offsetBy: ending.utf8.count)...].utf8)
    else { return nil }
    return end
  }

  /// Whether the name of a cache goes on as while it is being written.
  private static func isUnfinished(_ rest: Substring.UTF8View) -> Bool {
    let numbers = rest.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return numbers.count == 3 && numbers[0].isEmpty
      && numbers.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(digits.prefix(10).contains) }
  }

  private static func delete(_ name: String) throws(Failure) {
    if unlink(name) == 0 || errno == ENOENT { return }
    let reason = FileSystem.reason(errno)
    throw Failure(
      .readOnly, "The cache '\(name)' could not be deleted: \(reason). Change the permissions of its folder.")
  }
}

extension CacheFile {
  /// Each part fills up whole steps of the checksum with zeros.
  private static func filledUp(_ size: Int) -> Int { (size + Checksum.step - 1) / Checksum.step * Checksum.step }

  /// Gathers what is to be written.
  struct Writer {
    private(set) var bytes = ContiguousArray<UInt8>()

    /// Elements that are nothing but numbers, without gaps.
    mutating func part<Element: BitwiseCopyable>(_ elements: ContiguousArray<Element>) {
      elements.withUnsafeBytes { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: repeatElement(0, count: CacheFile.filledUp(bytes.count) - bytes.count))
    }
  }

  /// Reads the parts that were written, in the same order, each into the memory where it is to stay. Whether they are
  /// what was written is known when all have been read.
  final class Reader {
    private let descriptor: Int32
    /// How much there is to come.
    private var rest = 0
    private var isDamaged = false
    private var checksum = Checksum()
    private var lanes = ContiguousArray<UInt64>()
    /// What was read is summed up so soon that the processor still has it at hand.
    private static let pieceSize = 1 << 17

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = Glibc.close(descriptor) }

    /// False for another file than one of that size.
    fileprivate func readHeader(of size: Int) -> Bool {
      rest = size
      let words: ContiguousArray<UInt64> = part(8)
      guard !isDamaged, words[0] == CacheFile.magic, words[1] == UInt64(rest), words[6...] == [0, 0] else {
        return false
      }
      lanes = ContiguousArray(words[2..<6])
      checksum = Checksum()
      return true
    }

    /// Whether all was read, and is what was written.
    var isWhole: Bool { !isDamaged && rest == 0 && checksum.lanes == lanes }

    /// So many elements, for which any bits will do; none where there are fewer.
    func part<Element: BitwiseCopyable>(_ count: Int) -> ContiguousArray<Element> {
      let stride = MemoryLayout<Element>.stride
      let (size, overflow) = count.multipliedReportingOverflow(by: stride)
      guard !isDamaged, !overflow, size >= 0, size <= rest, CacheFile.filledUp(size) <= rest else {
        isDamaged = true
        return []
      }
      if count == 0 { return [] }
      let filled = CacheFile.filledUp(size)
      // Another file in its place may have any size, and an array for which there is no memory ends the process.
      if !Memory.has(filled) {
        isDamaged = true
        return []
      }
      rest -= filled
      return ContiguousArray(unsafeUninitializedCapacity: (filled + stride - 1) / stride) { target, initialized in
        isDamaged = !fill(UnsafeMutableRawBufferPointer(start: target.baseAddress!, count: filled))
        initialized = isDamaged ? 0 : count
      }
    }

    private func fill(_ target: UnsafeMutableRawBufferPointer) -> Bool {
      var place = 0, summedUp = 0
      while place < target.count {
        let count = Glibc.read(descriptor, target.baseAddress! + place, min(target.count - place, Reader.pieceSize))
        if count <= 0 { return false }
        place += count
        let whole = place / Checksum.step * Checksum.step
        checksum.take(UnsafeRawBufferPointer(rebasing: target[summedUp..<whole]))
        summedUp = whole
      }
      return true
    }
  }
}
