import Glibc

/// A sort key whose bytes compare with memcmp in the order of the values that were encoded into it.
struct SortKey: Hashable, Comparable, Sendable {
  var bytes: ContiguousArray<UInt8> = []

  /// An empty key in the memory of this one.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Becomes `other`, in its own memory.
  mutating func take(_ other: SortKey) {
    if bytes.count == other.bytes.count {
      bytes.withUnsafeMutableBytes { bytes in other.bytes.withUnsafeBytes { bytes.copyMemory(from: $0) } }
      return
    }
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: other.bytes)
  }

  static func == (left: SortKey, right: SortKey) -> Bool {
    left.bytes.count == right.bytes.count
      && left.bytes.withUnsafeBytes { left in
        right.bytes.withUnsafeBytes { right in
          left.isEmpty || left.baseAddress == right.baseAddress
            || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
        }
      }
  }

  static func < (left: SortKey, right: SortKey) -> Bool {
    left.bytes.withUnsafeBufferPointer { left in
      right.bytes.withUnsafeBufferPointer { right in
        let shared = min(left.count, right.count)
        let order = shared == 0 ? 0 : memcmp(left.baseAddress!, right.baseAddress!, shared)
        return order != 0 ? order < 0 : left.count < right.count
      }
    }
  }

  /// Appends one component; no component's bytes are a prefix of another's, so keys concatenate safely.
  ///
  /// nil sorts before everything, NaN after nil and before all numbers; `descending` inverts the component.
  mutating func append(_ value: Value, descending: Bool = false, textOrder: TextOrderKeys? = nil) {
    let first = bytes.count
    switch value {
    case .text(let text) where textOrder != nil, .uri(let text) where textOrder != nil:
      textOrder?.withKey(of: text.bytes.buffer) { append(escaped: $0) }
    case .nil: bytes.append(0)
    case .integer(let integer): append(tag: 2, UInt64(bitPattern: integer) ^ (1 << 63))
    case .boolean(let boolean): append(tag: 2, (boolean ? 1 : 0) ^ (1 << 63))
    case .double(let double): append(real: double)
    case .float(let float): append(real: Double(float))
    case .decimal(let decimal): append(real: decimal.double)
    case .date(let seconds): append(real: seconds)
    case .text(let text), .uri(let text): return append(text: text.bytes.buffer, descending: descending)
    case .data(let data), .uuid(let data): append(escaped: data.buffer)
    case .object(let box): append(tieBreak: box.reference.id)
    case .list, .external: bytes.append(0)
    }
    if descending { invert(from: first) }
  }

  /// The same for text in binary order.
  mutating func append(text: UnsafeBufferPointer<UInt8>, descending: Bool) {
    let first = bytes.count
    append(escaped: text)
    if descending { invert(from: first) }
  }

  private mutating func invert(from first: Int) {
    for index in first..<bytes.count { bytes[index] = ~bytes[index] }
  }

  /// Appends the tie-break. Temporary ids are negative, -1 being the oldest. They follow all permanent ids in the order
  /// of insertion, which is the order in which a save assigns permanent ones.
  mutating func append(tieBreak id: Int64) {
    append(tag: 2, SortKey.bits(ofTieBreak: id))
  }

  /// How many bytes that is.
  static let tieBreakSize = 1 + MemoryLayout<UInt64>.size

  /// The byte of a tie-break in that place.
  static func tieBreak(_ id: Int64, byte place: Int) -> UInt8 {
    place == 0 ? 2 : UInt8(truncatingIfNeeded: bits(ofTieBreak: id) >> UInt64(8 * (8 - place)))
  }

  /// Whether its end is the tie-break of that row.
  func ends(withTieBreak id: Int64) -> Bool {
    let first = bytes.count - SortKey.tieBreakSize
    guard first >= 0 else { return false }
    for place in 0..<SortKey.tieBreakSize where bytes[first + place] != SortKey.tieBreak(id, byte: place) {
      return false
    }
    return true
  }

  /// Replaces the tie-break that was appended last.
  mutating func replace(tieBreak id: Int64) {
    let size = MemoryLayout<UInt64>.size
    guard bytes.count > size else { return append(tieBreak: id) }
    bytes.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: SortKey.bits(ofTieBreak: id).bigEndian, toByteOffset: bytes.count - size, as: UInt64.self)
    }
  }

  private static func bits(ofTieBreak id: Int64) -> UInt64 { id >= 0 ? UInt64(id) : (1 << 63) | UInt64(-(id + 1)) }

  private mutating func append(tag: UInt8, _ bits: UInt64) {
    bytes.append(tag)
    withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(real: Double) {
    if real.isNaN { bytes.append(1); return }
    let bits = (real == 0 ? 0.0 : real).bitPattern  // -0 equals 0
    append(tag: 2, bits >> 63 == 1 ? ~bits : bits | (1 << 63))
  }

  /// A zero byte inside becomes 00 FF and the end 00 00, so that a prefix sorts first.
  private mutating func append(escaped source: UnsafeBufferPointer<UInt8>) {
    bytes.append(2)
    if let start = source.baseAddress, memchr(start, 0, source.count) == nil {
      bytes.append(contentsOf: source)
    } else {
      for byte in source {
        bytes.append(byte)
        if byte == 0 { bytes.append(0xFF) }
      }
    }
    bytes.append(0)
    bytes.append(0)
  }
}

extension SortKey {
  /// Negative when `part` of `bytes` sorts before what is in the key from `place` on, zero when that begins with it.
  func order(of part: Range<Int>, in bytes: ContiguousArray<UInt8>, at place: Int) -> Int {
    self.bytes.withUnsafeBufferPointer { key in
      bytes.withUnsafeBufferPointer { bytes in
        let shared = min(part.count, key.count - place)
        let order = shared > 0 ? memcmp(bytes.baseAddress! + part.lowerBound, key.baseAddress! + place, shared) : 0
        return order != 0 ? Int(order) : part.count - shared
      }
    }
  }

  /// The same for the tie-break of a row.
  func order(ofTieBreak id: Int64, at place: Int) -> Int {
    for index in 0..<SortKey.tieBreakSize {
      if place + index == bytes.count { return 1 }
      let order = Int(SortKey.tieBreak(id, byte: index)) - Int(bytes[place + index])
      if order != 0 { return order }
    }
    return 0
  }
}
