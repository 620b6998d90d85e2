import CICU

/// Compares and searches text as the process's locale collates it. Under `[dl]` accents are those that `[d]` drops, and
/// marks that it keeps make letters different. For one thread at a time.
final class TextCollator {
  private let handle: OpaquePointer
  /// Under `[dl]`.
  private let folder: TextFolder?
  private var units: ContiguousArray<UInt16> = []
  private var patternUnits: ContiguousArray<UInt16> = []

  init(_ folding: TextFolding) throws(Failure) {
    var status = U_ZERO_ERROR
    let opened = quire_icu_collator_open(folding.contains(.ignoreCase), folding.contains(.ignoreDiacritics), &status)
    guard let opened, status.rawValue <= U_ZERO_ERROR.rawValue else {
      if let opened { quire_icu_collator_close(opened) }
      throw TextCollator.failure(status)
    }
    handle = opened
    folder = folding.contains(.ignoreDiacritics) ? TextFolder() : nil
  }

  deinit { quire_icu_collator_close(handle) }

  /// Any operation but LIKE and MATCHES. As without a locale, the empty pattern is found nowhere.
  func holds(
    _ operation: TextMatcher.Operation, _ text: UnsafeBufferPointer<UInt8>, _ pattern: UnsafeBufferPointer<UInt8>
  ) throws(Failure) -> Bool {
    switch operation {
    case .equal: return try areEqual(text, pattern)
    case .notEqual: return try !areEqual(text, pattern)
    case .less: return try order(text, pattern) < 0
    case .lessOrEqual: return try order(text, pattern) <= 0
    case .greater: return try order(text, pattern) > 0
    case .greaterOrEqual: return try order(text, pattern) >= 0
    case .contains: return try find(pattern, in: text, fromEnd: false) != nil
    case .beginsWith: return try find(pattern, in: text, fromEnd: false)?.lowerBound == 0
    case .endsWith: return try find(pattern, in: text, fromEnd: true)?.upperBound == units.count
    case .like, .matches: return false
    }
  }

  private func areEqual(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) throws(Failure) -> Bool {
    if left.elementsEqual(right) { return true }
    return try order(left, right) == 0
  }

  private func order(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) throws(Failure) -> Int {
    if folder != nil, !TextFolder.isASCII(left) || !TextFolder.isASCII(right) {
      guard decode(left, into: &units), decode(right, into: &patternUnits) else {
        throw TextCollator.failure(U_BUFFER_OVERFLOW_ERROR)
      }
      return withUnits { text, pattern in
        Int(quire_icu_collator_order_utf16(handle, text.start, text.count, pattern.start, pattern.count))
      }
    }
    guard let leftCount = Int32(exactly: left.count), let rightCount = Int32(exactly: right.count) else {
      throw TextCollator.failure(U_BUFFER_OVERFLOW_ERROR)
    }
    var status = U_ZERO_ERROR
    // An empty text may have no address, and ICU wants one.
    let order = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { empty -> Int32 in
      empty.initialize(repeating: 0)
      return quire_icu_collator_order(
        handle, TextCollator.start(left) ?? UnsafePointer(empty.baseAddress!), leftCount,
        TextCollator.start(right) ?? UnsafePointer(empty.baseAddress!), rightCount, &status)
    }
    if status.rawValue > U_ZERO_ERROR.rawValue { throw TextCollator.failure(status) }
    return Int(order)
  }

  /// In units of UTF-16.
  private func find(
    _ pattern: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, fromEnd: Bool
  ) throws(Failure) -> Range<Int>? {
    if pattern.isEmpty || text.isEmpty { return nil }
    guard decode(text, into: &units), decode(pattern, into: &patternUnits) else {
      throw TextCollator.failure(U_BUFFER_OVERFLOW_ERROR)
    }
    var status = U_ZERO_ERROR
    var length: Int32 = 0
    let place = withUnits { text, pattern in
      quire_icu_collator_find(
        handle, pattern.start, pattern.count, text.start, text.count, fromEnd, &length, &status)
    }
    if status.rawValue > U_ZERO_ERROR.rawValue { throw TextCollator.failure(status) }
    return place < 0 ? nil : Int(place)..<Int(place + length)
  }

  private func decode(_ text: UnsafeBufferPointer<UInt8>, into units: inout ContiguousArray<UInt16>) -> Bool {
    folder.map { $0.raiseMarks(of: text, into: &units) } ?? Utf16Text.decode(text, into: &units)
  }

  private typealias Units = (start: UnsafePointer<UInt16>, count: Int32)

  /// An empty text may have no address, and ICU wants one.
  private func withUnits<Result>(_ body: (_ text: Units, _ pattern: Units) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1) { empty in
      empty.initialize(repeating: 0)
      let none = UnsafePointer(empty.baseAddress!)
      return units.withUnsafeBufferPointer { text in
        patternUnits.withUnsafeBufferPointer { pattern in
          body((text.baseAddress ?? none, Int32(text.count)), (pattern.baseAddress ?? none, Int32(pattern.count)))
        }
      }
    }
  }

  private static func start(_ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
    text.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
  }

  private static func failure(_ status: UErrorCode) -> Failure {
    let reason = String(cString: quire_icu_error_name(status))
    return Failure(.invalidPredicate, "The collation of the locale, which the option [l] asks for, failed (\(reason)).")
  }
}
