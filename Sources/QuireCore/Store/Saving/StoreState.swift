import Glibc

/// The mark of one committed state of a store's file, different from every other, whichever program wrote it. nil where
/// there is no such mark.
///
/// Two equal states have the same contents; the same contents may have different ones. A commit goes into the
/// write-ahead log, whose frames carry a checksum of everything before them, or into the file itself.
extension SQLiteMoment {
  /// nil for a moment that is not what is in the file now.
  func state() -> [UInt8]? {
    if store.isInMemory { return nil }
    return try? withConnection { (connection) throws(Failure) -> [UInt8]? in
      if connection.handle == nil || connection.hasTransaction && !connection.isReading { return nil }
      if !isWhatIsNewest { return nil }
      let state = SQLiteMoment.state(of: connection)
      return isWhatIsNewest ? state : nil
    }
  }

  private var isWhatIsNewest: Bool { !hasNews && (commit.map { $0 == store.commits.newest } ?? true) }

  /// The state, when no later one can look the same. A file that is written twice within one tick of the system's clock
  /// can have the same times. Waits for that tick.
  func settledState() -> [UInt8]? {
    var status = stat()
    guard stat(store.location.string, &status) == 0 else { return nil }
    func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let age = nanoseconds(time) &- max(nanoseconds(status.st_mtim), nanoseconds(status.st_ctim))
    // Some file systems know seconds only.
    let isCoarse = status.st_mtim.tv_nsec == 0 && status.st_ctim.tv_nsec == 0
    if age < (isCoarse ? 3_000_000_000 : 0) { return nil }
    if age < SQLiteMoment.tick { usleep(UInt32((SQLiteMoment.tick - age) / 1000)) }
    return state()
  }

  private static let tick: Int64 = 20_000_000

  private static func state(of connection: Connection) -> [UInt8]? {
    // Where the file really is: the log is beside that, and not beside a symbolic link.
    let path = connection.location.string
    var status = stat()
    guard connection.hasMoved == false, stat(path, &status) == 0, var state = connection.fileHeader(100) else {
      return nil
    }
    for part in [
      Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ] {
      withUnsafeBytes(of: part) { state.append(contentsOf: $0) }
    }
    guard let log = log(of: path + "-wal") else { return nil }
    return state + log
  }

  /// The log's salts, and number and checksum of the last frame that ends a transaction; empty where there is no log.
  private static func log(of path: String) -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return errno == ENOENT ? [] : nil }
    defer { _ = Glibc.close(descriptor) }
    var header = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &header, header.count, 0)
    if count == 0 { return [] }
    let pageSize = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
    guard count == header.count, pageSize >= 512, pageSize <= 65536 else { return nil }
    var frame = [UInt8](repeating: 0, count: 24)
    var last: ArraySlice<UInt8> = []
    var number = 0, lastNumber = 0
    while pread(descriptor, &frame, frame.count, off_t(32 + number * (24 + pageSize))) == frame.count,
      frame[8..<16] == header[16..<24]
    {
      number += 1
      if frame[4..<8].contains(where: { $0 != 0 }) { (last, lastNumber) = (frame[16...], number) }
    }
    return header + withUnsafeBytes(of: lastNumber) { Array($0) } + last
  }
}
