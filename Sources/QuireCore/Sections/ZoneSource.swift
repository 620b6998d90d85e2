import CICU
import Glibc

/// Where the offsets of a time zone come from: a file of the system, one of a folder that the program names, or ICU.
enum ZoneSource {
  /// Where systems have their files; glibc and Python look there, too.
  private static let folders = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"]
  /// The largest files of the database have some kilobytes.
  private static let mostBytes = 1 << 18

  /// A file that was read, and the state of it.
  private struct Known {
    let stamp: FileStamp
    let table: ZoneTable
  }
  /// By path.
  private static let known = Guarded<[String: Known]>([:])
  /// More than there are zones.
  private static let mostKnown = 1024

  /// Returns the clock of a zone by the data of now. For one thread at a time.
  static func clock(of zone: String, folder: String?) throws(Failure) -> any ZoneClock {
    if zone == "UTC" { return ZoneTable.utc }
    if isName(zone) {
      for folder in systemFolders() + [folder].compactMap(\.self) {
        if let table = try table(at: folder + "/" + zone, of: zone) { return table }
      }
    }
    return try ICUClock(zone)
  }

  /// Whether the name leads to a place within a folder.
  private static func isName(_ zone: String) -> Bool {
    !zone.utf8.contains(0)
      && zone.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !["", ".", ".."].contains($0) }
  }

  private static func systemFolders() -> [String] {
    if let folder = Environment.value(of: "TZDIR"), !folder.isEmpty { return [folder] }
    return folders
  }

  /// nil where there is no such file.
  private static func table(at path: String, of zone: String) throws(Failure) -> ZoneTable? {
    guard let stamp = try stamp(of: path, of: zone) else { return nil }
    if let known = known.withLock({ $0[path] }), known.stamp == stamp { return known.table }
    let bytes: Bytes
    do throws(FileSystem.Problem) {
      bytes = try FileSystem.read(path, followsLinks: true) { $0 <= mostBytes }
    } catch {
      switch error {
      case .noFile, .system(ENOENT), .system(ENOTDIR): return nil
      default: throw unreadable(path, error.reason, of: zone)
      }
    }
    if !bytes.buffer.starts(with: ZoneFile.mark) {
      throw Failure(
        .invalidArgument,
        "'\(zone)' is not a time zone: '\(path)' is not a TZif file. Give an IANA name, such as 'Europe/Berlin'.")
    }
    let table: ZoneTable
    do throws(ZoneFile.Damage) { table = try ZoneFile.table(in: Array(bytes.buffer)) } catch {
      throw unreadable(path, error.reason, of: zone)
    }
    known.withLock { known in
      if known.count >= mostKnown { known = [:] }
      known[path] = Known(stamp: stamp, table: table)
    }
    return table
  }

  private static func stamp(of path: String, of zone: String) throws(Failure) -> FileStamp? {
    if let stamp = FileStamp(of: path) { return stamp }
    let reason = errno
    if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(reason) { return nil }
    throw unreadable(path, FileSystem.reason(reason), of: zone)
  }

  private static func unreadable(_ path: String, _ reason: String, of zone: String) -> Failure {
    Failure(
      .cannotOpen,
      "The data of the time zone '\(zone)' cannot be read from '\(path)': \(reason). Install the system's time zone "
        + "data again (tzdata), or set TZDIR to a folder that has it.")
  }
}

/// The state of a file by which a change of it shows.
private struct FileStamp: Equatable {
  private let numbers: [Int]

  /// nil where the system tells none, with the reason in `errno`.
  init?(of path: String) {
    var status = stat()
    if stat(path, &status) != 0 { return nil }
    numbers = [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
      status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
  }
}

/// The offsets of a zone by ICU's own data, for names without a file. For one thread at a time.
private final class ICUClock: ZoneClock {
  private let calendar: UnsafeMutablePointer<UCalendar?>

  init(_ zone: String) throws(Failure) {
    let name = Array(zone.utf16)
    if !quire_icu_has_time_zone(name, Int32(clamping: name.count)) {
      throw Failure(
        .invalidArgument,
        "'\(zone)' is not a time zone that is known here. Give its IANA name, such as 'Europe/Berlin'.")
    }
    var status = U_ZERO_ERROR
    let opened = quire_icu_calendar_open(name, Int32(clamping: name.count), "", &status)
    guard let opened, status.rawValue <= U_ZERO_ERROR.rawValue else { throw ICUClock.failure(status, of: zone) }
    calendar = opened
  }

  deinit { quire_icu_calendar_close(calendar) }

  func span(around moment: Int64) throws(Failure) -> OffsetSpan {
    var status = U_ZERO_ERROR
    let found = quire_icu_offset_around(calendar, Double(moment) * 1000, &status)
    guard status.rawValue <= U_ZERO_ERROR.rawValue else { throw ICUClock.failure(status, of: nil) }
    func seconds(_ milliseconds: Double) -> Int64 { Int64((milliseconds / 1000).rounded(.up)) }
    return OffsetSpan(
      start: found.has_start ? seconds(found.start) : .min, end: found.has_end ? seconds(found.end) : .max,
      offset: Int64(found.offset) / 1000)
  }

  private static func failure(_ status: UErrorCode, of zone: String?) -> Failure {
    Failure(
      .unsupported,
      "ICU has no clock for the time zone\(zone.map { " '\($0)'" } ?? ""): it says "
        + "\(String(cString: quire_icu_error_name(status))).")
  }
}
