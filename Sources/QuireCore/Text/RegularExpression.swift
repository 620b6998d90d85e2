import CICU

/// A compiled ICU pattern that matches whole texts: the dot matches line ends, `^` and `$` match at lines.
///
/// A match is cut short after a number of steps and bytes of backtracking, so a pathological pattern is an error and
/// not a hang. It is cut short earlier when its fetch is cancelled. For one thread at a time.
final class RegularExpression {
  private let handle: OpaquePointer
  private let pattern: Text
  private let folding: TextFolding
  private let folder = TextFolder()
  private var units: ContiguousArray<UInt16> = []

  /// In units of ICU's own, which take from one to twenty milliseconds each.
  private static let timeLimit: Int32 = 500
  private static let stackLimit: Int32 = 8 << 20

  init(_ pattern: Text, _ folding: TextFolding) throws(Failure) {
    self.pattern = pattern
    self.folding = folding
    let source = folding.contains(.ignoreDiacritics) ? folder.fold(pattern, .ignoreDiacritics) : pattern
    var flags = UREGEX_DOTALL.rawValue | UREGEX_MULTILINE.rawValue
    if folding.contains(.ignoreCase) { flags |= UREGEX_CASE_INSENSITIVE.rawValue }
    var place = UParseError()
    var status = U_ZERO_ERROR
    var opened: OpaquePointer?
    if Utf16Text.decode(source.bytes.buffer, into: &units), !units.isEmpty {
      opened = units.withUnsafeBufferPointer {
        quire_icu_regex_open($0.baseAddress!, Int32($0.count), UInt32(flags), &place, &status)
      }
    } else {
      // ICU refuses the empty pattern; this one matches the empty text alone, as it should.
      let empty: [UInt16] = Array("(?:)".utf16)
      opened = quire_icu_regex_open(empty, Int32(empty.count), UInt32(flags), &place, &status)
    }
    guard let opened, status.rawValue <= U_ZERO_ERROR.rawValue else {
      let reason = String(cString: quire_icu_error_name(status))
      throw Failure(
        .invalidPredicate,
        "The pattern \"\(pattern)\" of MATCHES is not a regular expression (\(reason) at character \(place.offset)).")
    }
    quire_icu_regex_limit(opened, RegularExpression.timeLimit, RegularExpression.stackLimit, &status)
    // Asked once in each of those units.
    quire_icu_regex_watch(opened, { (_, _) in Interruption.watcher?.mayGoOn() == false ? 0 : 1 }, &status)
    handle = opened
  }

  deinit { quire_icu_regex_close(handle) }

  func matches(_ text: UnsafeBufferPointer<UInt8>) throws(Failure) -> Bool {
    let marks: TextFolding = folding.contains(.ignoreDiacritics) ? .ignoreDiacritics : []
    guard folder.withFolded(text, marks, { Utf16Text.decode($0, into: &units) }) else {
      throw Failure(.invalidPredicate, "MATCHES cannot search text of two gigabytes or more.")
    }
    var status = U_ZERO_ERROR
    if units.isEmpty { units.append(0); units.removeLast() }
    let matched = units.withUnsafeBufferPointer { buffer -> Bool in
      withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1) { empty in
        empty.initialize(repeating: 0)
        let base = buffer.baseAddress ?? UnsafePointer(empty.baseAddress!)
        quire_icu_regex_set_text(handle, base, Int32(buffer.count), &status)
        return quire_icu_regex_matches(handle, &status) != 0
      }
    }
    if status == U_REGEX_STOPPED_BY_CALLER, let watcher = Interruption.watcher { throw watcher.failure }
    if status.rawValue > U_ZERO_ERROR.rawValue {
      let reason =
        status == U_REGEX_TIME_OUT
        ? "takes too long"
        : status == U_REGEX_STACK_OVERFLOW
          ? "needs too much memory" : "failed (\(String(cString: quire_icu_error_name(status))))"
      throw Failure(
        .invalidPredicate,
        "The pattern \"\(pattern)\" of MATCHES \(reason) on a text of \(text.count) bytes; use a pattern with less "
          + "backtracking.")
    }
    return matched
  }
}
