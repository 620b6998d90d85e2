import CICU

/// Conversion for those of ICU's functions that know UTF-16 only.
enum Utf16Text {
  /// False for text of two gigabytes or more, which ICU cannot count.
  static func decode(_ source: UnsafeBufferPointer<UInt8>, into units: inout ContiguousArray<UInt16>) -> Bool {
    guard let length = Int32(exactly: source.count) else { return false }
    if TextFolder.isASCII(source) {
      units.removeAll(keepingCapacity: true)
      units.append(contentsOf: source.lazy.map { UInt16($0) })
      return true
    }
    if units.count < source.count {
      units.append(contentsOf: repeatElement(0, count: source.count - units.count))
    }
    guard let base = source.baseAddress, length > 0 else {
      units.removeAll(keepingCapacity: true)
      return true
    }
    var status = U_ZERO_ERROR
    var written: Int32 = 0
    units.withUnsafeMutableBufferPointer { target in
      _ = quire_icu_from_utf8(
        target.baseAddress!, Int32(target.count), &written,
        UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self), length, &status)
    }
    units.removeLast(units.count - Int(written))
    return status.rawValue <= U_ZERO_ERROR.rawValue
  }
}
