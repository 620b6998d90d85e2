import CICU

/// Folds text into a buffer it owns and reuses; ASCII never enters ICU. For one thread at a time.
final class TextFolder {
  private var folded: ContiguousArray<UInt8> = []
  private var units: ContiguousArray<UInt16> = []
  private var moreUnits: ContiguousArray<UInt16> = []
  /// By the number of their folding.
  private var tables: [FoldingTable?] = [nil, nil, nil, nil]
  /// How many texts went to ICU as a whole because it was not worth while to remember signs.
  private var wholeCount = 0

  /// Lends the folded bytes of `source` to `body`; with no folding these are the bytes of `source` itself.
  func withFolded<Result>(
    _ source: UnsafeBufferPointer<UInt8>, _ folding: TextFolding,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if folding.isEmpty { return body(source) }
    let isASCII = TextFolder.isASCII(source)
    if isASCII && !folding.contains(.ignoreCase) { return body(source) }
    if isASCII {
      foldASCII(source)
    } else if let folded = table(folding)?.fold(source) {
      return body(folded)
    } else {
      foldWhole(source, folding)
    }
    return folded.withUnsafeBufferPointer(body)
  }

  private func foldWhole(_ source: UnsafeBufferPointer<UInt8>, _ folding: TextFolding) {
    if folding.contains(.ignoreDiacritics) {
      foldMarks(source, alsoCase: folding.contains(.ignoreCase))
    } else {
      foldCase(source)
    }
  }

  /// ICU's own folding of `text`, for tests to compare with.
  func foldByICU(_ text: Text, _ folding: TextFolding) -> Text {
    foldWhole(text.bytes.buffer, folding)
    return Text(utf8: folded)
  }

  /// nil for the first few texts: many folders see no more.
  private func table(_ folding: TextFolding) -> FoldingTable? {
    let number = Int(folding.rawValue & 3)
    if let known = tables[number] { return known }
    wholeCount += 1
    if wholeCount < 8 { return nil }
    let own = TextFolder()
    let new = FoldingTable(folding) { source in
      own.foldWhole(source, folding)
      return own.folded
    }
    tables[number] = new
    return new
  }

  func fold(_ text: Text, _ folding: TextFolding) -> Text {
    if folding.isEmpty { return text }
    return withFolded(text.bytes.buffer, folding) { Text(trusted: Bytes($0)) }
  }

  /// The decomposed text in units of UTF-16, without the marks that `[d]` drops, and with letters of private use for
  /// those that it keeps. False for text of two gigabytes or more.
  func raiseMarks(of source: UnsafeBufferPointer<UInt8>, into result: inout ContiguousArray<UInt16>) -> Bool {
    var status = U_ZERO_ERROR
    guard Utf16Text.decode(source, into: &units), let decompose = quire_icu_nfd(&status) else { return false }
    if !TextFolder.isASCII(source) {
      normalize(decompose)
      transform { target, capacity, source, length, status in
        quire_icu_raise_marks(target, capacity, source, length, &status)
      }
    }
    swap(&units, &result)
    return true
  }

  /// Lends the search text of `source`, which a text index holds. It maps code points one by one, so a part of a text
  /// maps to a part. Texts that are equal under any folding have equal search texts.
  ///
  /// The exception is the iota subscript of Greek, which folding of case alone makes a letter; see `SearchLiterals`.
  func withSearchText<Result>(
    _ source: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if TextFolder.isASCII(source) {
      foldASCII(source)
      for index in folded.indices where folded[index] == 0 { folded[index] = 1 }
      return folded.withUnsafeBufferPointer(body)
    }
    // A file may hold bytes that are not UTF-8; the parts that are remain to be found.
    if !Utf16Text.decode(source, into: &units) {
      units = ContiguousArray(String(decoding: source, as: UTF8.self).utf16)
    }
    var status = U_ZERO_ERROR
    if let decompose = quire_icu_nfd(&status) {
      normalize(decompose)
      drop(quire_icu_drop_combining)
      foldCaseOfUnits()
      normalize(decompose)
      drop(quire_icu_drop_combining)
    }
    if !encodeUnits() { copy(source) }
    return folded.withUnsafeBufferPointer(body)
  }

  func searchText(_ text: Text) -> Text { withSearchText(text.bytes.buffer) { Text(trusted: Bytes($0)) } }

  /// The Unicode that foldings follow: what was folded with another may differ.
  static let unicodeVersion: String = {
    var version: [UInt8] = [0, 0, 0, 0]
    quire_icu_unicode_version(&version)
    return version.map { "\($0)" }.joined(separator: ".")
  }()

  static func isASCII(_ source: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = UnsafeRawPointer(source.baseAddress) else { return true }
    let count = source.count
    var index = 0
    while index &+ 8 <= count {
      if base.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      index &+= 8
    }
    if count >= 8 {
      // The last eight again, instead of the last few one by one.
      return base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    }
    while index < count {
      if source[index] >= 0x80 { return false }
      index &+= 1
    }
    return true
  }

  private func foldASCII(_ source: UnsafeBufferPointer<UInt8>) {
    resize(&folded, source.count)
    folded.withUnsafeMutableBufferPointer { target in
      for index in 0..<source.count {
        target[index] = ASCII.lowerCase(source[index])
      }
    }
  }

  private func foldCase(_ source: UnsafeBufferPointer<UInt8>) {
    guard let map = TextFolder.caseMap.pointer, let length = Int32(exactly: source.count),
      let base = source.baseAddress
    else { return copy(source) }
    var status = U_ZERO_ERROR
    let start = UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)
    resize(&folded, source.count &+ 16)
    for _ in 0..<2 {
      status = U_ZERO_ERROR
      let needed = folded.withUnsafeMutableBytes { target -> Int32 in
        guard let place = target.baseAddress else { return 0 }
        return quire_icu_fold_case(
          map, place.assumingMemoryBound(to: CChar.self), Int32(clamping: target.count), start, length, &status)
      }
      resize(&folded, max(0, Int(needed)))
      if status != U_BUFFER_OVERFLOW_ERROR { break }
    }
    if status.rawValue > U_ZERO_ERROR.rawValue { copy(source) }
  }

  /// Case is folded between dropping the marks and composing, so that no folded letter brings a mark back.
  private func foldMarks(_ source: UnsafeBufferPointer<UInt8>, alsoCase: Bool) {
    var status = U_ZERO_ERROR
    guard Utf16Text.decode(source, into: &units), let decompose = quire_icu_nfd(&status),
      let compose = quire_icu_nfc(&status)
    else { return copy(source) }
    normalize(decompose)
    drop(quire_icu_drop_marks)
    if alsoCase { foldCaseButForIota() }
    normalize(compose)
    if !encodeUnits() { copy(source) }
  }

  private func drop(_ body: (UnsafeMutablePointer<UInt16>, Int32) -> Int32) {
    let kept = units.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map { Int(body($0, Int32(buffer.count))) } ?? 0
    }
    units.removeLast(units.count - min(kept, units.count))
  }

  private func normalize(_ form: OpaquePointer) {
    transform { target, capacity, source, length, status in
      quire_icu_normalize(form, source, length, target, capacity, &status)
    }
  }

  /// An iota subscript that is left has no Greek letter before it, and stays a mark: search texts have no marks, and
  /// would lack the letter.
  private func foldCaseButForIota() {
    guard units.contains(TextFolder.iotaSubscript) else { return foldCaseOfUnits() }
    let whole = units
    var result: ContiguousArray<UInt16> = []
    for part in whole.split(separator: TextFolder.iotaSubscript, omittingEmptySubsequences: false) {
      if part.startIndex > 0 { result.append(TextFolder.iotaSubscript) }
      units = ContiguousArray(part)
      foldCaseOfUnits()
      result.append(contentsOf: units)
    }
    units = result
  }

  private static let iotaSubscript: UInt16 = 0x345

  private func foldCaseOfUnits() {
    transform { target, capacity, source, length, status in
      quire_icu_fold_case_utf16(target, capacity, source, length, &status)
    }
  }

  /// Runs one of ICU's transformations over `units`, a second time with more room if it asks for it.
  private func transform(
    _ body: (UnsafeMutablePointer<UInt16>, Int32, UnsafePointer<UInt16>, Int32, inout UErrorCode) -> Int32
  ) {
    var status = U_ZERO_ERROR
    resize(&moreUnits, units.count &* 3 &+ 16)
    for _ in 0..<2 {
      status = U_ZERO_ERROR
      let needed = units.withUnsafeBufferPointer { source in
        moreUnits.withUnsafeMutableBufferPointer { target in
          withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1) { empty in
            body(
              target.baseAddress!, Int32(clamping: target.count),
              source.baseAddress ?? UnsafePointer(empty.baseAddress!), Int32(source.count), &status)
          }
        }
      }
      resize(&moreUnits, max(0, Int(needed)))
      if status != U_BUFFER_OVERFLOW_ERROR { break }
    }
    if status.rawValue <= U_ZERO_ERROR.rawValue { swap(&units, &moreUnits) }
  }

  /// False for what ICU, which counts in 32 bits, cannot hold.
  private func encodeUnits() -> Bool {
    var status = U_ZERO_ERROR
    var written: Int32 = 0
    resize(&folded, units.count &* 3 &+ 1)
    units.withUnsafeBufferPointer { source in
      folded.withUnsafeMutableBytes { target in
        guard let base = source.baseAddress, let place = target.baseAddress else { return }
        _ = quire_icu_to_utf8(
          place.assumingMemoryBound(to: CChar.self), Int32(clamping: target.count), &written, base,
          Int32(source.count), &status)
      }
    }
    guard status.rawValue <= U_ZERO_ERROR.rawValue, written >= 0 else { return false }
    resize(&folded, Int(written))
    return true
  }

  private func copy(_ source: UnsafeBufferPointer<UInt8>) {
    folded.removeAll(keepingCapacity: true)
    folded.append(contentsOf: source)
  }

  private func resize<Element: FixedWidthInteger>(_ array: inout ContiguousArray<Element>, _ count: Int) {
    if array.count > count {
      array.removeLast(array.count - count)
    } else {
      array.append(contentsOf: repeatElement(0, count: count - array.count))
    }
  }

  /// One for the process: ICU reads it from any thread, and nothing changes it.
  private static let caseMap = CaseMap()

  private final class CaseMap: @unchecked Sendable {
    let pointer: OpaquePointer?
    init() {
      var status = U_ZERO_ERROR
      pointer = quire_icu_case_map_open(&status)
    }
  }
}
