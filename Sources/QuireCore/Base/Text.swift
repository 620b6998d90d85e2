/// Valid UTF-8 of any length, embedded U+0000 included. Compares by code point, so no locale decides.
struct Text: Hashable, Comparable, Sendable {
  let bytes: Bytes

  init(_ string: String) {
    var string = string
    bytes = string.withUTF8 { Bytes($0) }
  }

  /// Trusts that `bytes` are valid UTF-8; input from outside goes through `Text(validating:)`.
  init(trusted bytes: Bytes) { self.bytes = bytes }

  /// nil when `source` is not valid UTF-8: nothing is repaired silently.
  init?(validating source: UnsafeBufferPointer<UInt8>) {
    guard Text.firstInvalidOffset(in: source) == nil else { return nil }
    bytes = Bytes(source)
  }

  init?(validating source: ContiguousArray<UInt8>, in range: Range<Int>) {
    let made = source.withUnsafeBufferPointer { Text(validating: UnsafeBufferPointer(rebasing: $0[range])) }
    guard let made else { return nil }
    self = made
  }

  var string: String { String(decoding: bytes.buffer, as: UTF8.self) }
  var isEmpty: Bool { bytes.count == 0 }
  var isASCII: Bool { bytes.buffer.allSatisfy { $0 < 0x80 } }

  /// The offset of the first byte that cannot belong to UTF-8, or nil when all of it is valid.
  static func firstInvalidOffset(in source: UnsafeBufferPointer<UInt8>) -> Int? {
    var index = 0
    let count = source.count
    while index < count {
      // Eight at a time as long as they are ASCII.
      while index &+ 8 <= count,
        UnsafeRawPointer(source.baseAddress! + index).loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0
      { index &+= 8 }
      if index == count { return nil }
      let lead = source[index]
      if lead < 0x80 { index += 1; continue }
      let length: Int
      var low: UInt8 = 0x80, high: UInt8 = 0xBF
      switch lead {
      case 0xC2...0xDF: length = 2
      case 0xE0: length = 3; low = 0xA0
      case 0xED: length = 3; high = 0x9F
      case 0xE1...0xEF: length = 3
      case 0xF0: length = 4; low = 0x90
      case 0xF4: length = 4; high = 0x8F
      case 0xF1...0xF3: length = 4
      default: return index
      }
      guard index + length <= count, (low...high).contains(source[index + 1]) else { return index }
      for offset in 2..<max(length, 2) where source[index + offset] & 0xC0 != 0x80 { return index }
      index += length
    }
    return nil
  }

  static func == (left: Text, right: Text) -> Bool { left.bytes == right.bytes }
  static func < (left: Text, right: Text) -> Bool { Bytes.order(left.bytes, right.bytes) < 0 }
}

extension Text: ExpressibleByStringLiteral {
  init(stringLiteral value: String) { self.init(value) }
}

extension Text: CustomStringConvertible {
  var description: String { string }
}
