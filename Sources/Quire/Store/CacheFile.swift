import Glibc

/// A file beside a store that may go missing at any time. What is not, to the last bit, what was written is not there.
struct CacheFile {
  private let name: String
  private let store: String
  private static let magic: UInt64 = 0x5175_6972_654C_0001
  /// Magic, size of what follows, and its checksum of four words.
  private static let headerSize = 48

  init(_ cache: Text, of store: Text) {
    let digits = Array("0123456789abcdef".utf8)
    self.store = store.string
    let digest = Digest.sha256(cache.utf8).prefix(16)
    name =
      "\(store)\(CacheFile.ending)"
      + String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static let ending = "-list-"

  /// What was written, or nil.
  func read() -> Reader? {
    let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { _ = Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= CacheFile.headerSize,
      status.st_size < 1 << 40
    else { return nil }
    let size = Int(status.st_size)
    // Who has put something else in its place may have given it any size.
    var start: (magic: UInt64, count: UInt64) = (0, 0)
    let startSize = MemoryLayout.size(ofValue: start)
    guard pread(descriptor, &start, startSize, 0) == startSize, start.magic == CacheFile.magic,
      start.count == UInt64(size - CacheFile.headerSize), let memory = malloc(size)
    else { return nil }
    let reader = Reader(UnsafeMutableRawBufferPointer(start: memory, count: size))
    var place = 0
    while place < size {
      let count = Glibc.read(descriptor, memory + place, size - place)
      if count <= 0 { return nil }
      place += count
    }
    let body = UnsafeRawBufferPointer(rebasing: reader.memory[CacheFile.headerSize...])
    guard reader.word() == CacheFile.magic, reader.word() == UInt64(body.count) else { return nil }
    for lane in CacheFile.checksum(body) where reader.word() != lane { return nil }
    return reader
  }

  /// Puts a file in its place that is whole, or none. A folder that cannot be written stays as it is.
  func write(_ writer: Writer) {
    let temporary = "\(name)-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { return }
    var header = Writer()
    writer.bytes.withUnsafeBytes { body in
      header.word(CacheFile.magic)
      header.word(UInt64(body.count))
      for lane in CacheFile.checksum(body) { header.word(lane) }
    }
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

  func delete() throws(Failure) { try CacheFile.delete(name) }

  /// Deletes all caches of a store.
  static func deleteAll(of store: Text) throws(Failure) {
    let path = store.string
    var folder = ".", prefix = path
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
      prefix = String(path[path.utf8.index(after: slash)...])
    }
    prefix += ending
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasPrefix(prefix) { found.append("\(folder)/\(name)") }
    }
    for name in found { try delete(name) }
  }

  private static func delete(_ name: String) throws(Failure) {
    if unlink(name) == 0 || errno == ENOENT { return }
    let reason = strerror(errno).map { String(cString: $0) } ?? "unknown"
    throw Failure(
      .readOnly, "The cache '\(name)' could not be deleted: \(reason). Change the permissions of its folder.")
  }

  /// In four lanes, each of which no change of a single word leaves as it was.
  @_optimize(speed)
  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> [UInt64] {
    var (a, b, c, d) = (UInt64(bytes.count), UInt64(1), UInt64(2), UInt64(3))
    func mixed(_ lane: UInt64, _ word: UInt64) -> UInt64 {
      let product = (lane ^ word) &* 0x9E37_79B9_7F4A_7C15
      return product ^ product >> 29
    }
    func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    var place = 0
    while place &+ 32 <= bytes.count {
      a = mixed(a, word(place))
      b = mixed(b, word(place &+ 8))
      c = mixed(c, word(place &+ 16))
      d = mixed(d, word(place &+ 24))
      place &+= 32
    }
    while place < bytes.count {
      a = mixed(a, UInt64(bytes[place]))
      place += 1
    }
    return [a, b, c, d]
  }
}

extension CacheFile {
  /// Gathers what is to be written.
  struct Writer {
    private(set) var bytes = ContiguousArray<UInt8>()

    mutating func word(_ word: UInt64) { withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) } }
    mutating func number(_ number: Int) { word(UInt64(bitPattern: Int64(number))) }

    mutating func array<Element: BitwiseCopyable>(_ array: ContiguousArray<Element>) {
      array.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// With their number.
    mutating func counted(_ array: ContiguousArray<UInt8>) {
      number(array.count)
      self.array(array)
    }
  }

  /// Reads what was written, in the same order. What is not there is nothing or zero, and `isDamaged` from then on.
  final class Reader {
    fileprivate let memory: UnsafeMutableRawBufferPointer
    private(set) var place = 0
    private(set) var isDamaged = false

    fileprivate init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    deinit { free(memory.baseAddress) }

    /// Where so many things begin.
    private func take(_ count: Int, of size: Int) -> Int? {
      let (total, overflow) = count.multipliedReportingOverflow(by: size)
      if isDamaged || overflow || total < 0 || total > memory.count - place {
        isDamaged = true
        return nil
      }
      defer { place += total }
      return place
    }

    func word() -> UInt64 {
      take(1, of: 8).map { memory.loadUnaligned(fromByteOffset: $0, as: UInt64.self) } ?? 0
    }

    func number() -> Int { Int(Int64(bitPattern: word())) }

    func array<Element: BitwiseCopyable>(_ count: Int) -> ContiguousArray<Element> {
      let size = MemoryLayout<Element>.stride
      guard count > 0, let start = take(count, of: size) else { return [] }
      return ContiguousArray(unsafeUninitializedCapacity: count) { target, initialized in
        memcpy(target.baseAddress!, memory.baseAddress! + start, count * size)
        initialized = count
      }
    }

    func counted() -> ContiguousArray<UInt8> { array(number()) }
  }
}
