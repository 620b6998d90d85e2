/// Checks the shape of a binary property list before libplist reads it.
///
/// libplist recurses without a limit and copies an object for every reference to it. A few hundred bytes of a hostile
/// file could therefore end the process, or take a thousand times their own memory. Only sizes and references are
/// followed here; libplist does the reading.
struct BinaryPropertyListGuard {
  static let deepest = 64
  private static let mostObjects = 1_000_000
  /// What the list may have after copying, for each of its bytes: objects, and bytes of texts and data. Keys of many
  /// dictionaries are one text in the file.
  private static let mostObjectsPerByte = 2
  private static let mostBytesPerByte = 32
  /// What copying adds at most: a list that was deflated has a thousand bytes for each of its file.
  private static let mostCopiedBytes = 64 << 20
  /// What any list may have, as one text or piece of data may be in it many times.
  private static let fewBytes = 1 << 20

  private let bytes: UnsafeBufferPointer<UInt8>
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let offsetTable: Int
  private var remaining: Int
  private var remainingBytes: Int

  /// Whether `binary` has the frame of a binary property list, and a modest number of objects in a modest depth.
  static func accepts(_ binary: Bytes) -> Bool {
    withExtendedLifetime(binary) {
      guard binary.buffer.starts(with: "bplist0".utf8),
        var shape = BinaryPropertyListGuard(binary.buffer)
      else { return false }
      return shape.visit(shape.top, depth: 0)
    }
  }

  private let top: Int

  private init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    // Header of 8 bytes, trailer of 32.
    guard bytes.count >= 40 else { return nil }
    self.bytes = bytes
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let objectCount = BinaryPropertyListGuard.number(bytes, at: trailer + 8, size: 8),
      let top = BinaryPropertyListGuard.number(bytes, at: trailer + 16, size: 8),
      let offsetTable = BinaryPropertyListGuard.number(bytes, at: trailer + 24, size: 8),
      offsetTable <= trailer, objectCount <= (trailer - offsetTable) / offsetSize
    else { return nil }
    (self.objectCount, self.top, self.offsetTable) = (objectCount, top, offsetTable)
    remaining = min(BinaryPropertyListGuard.mostObjects, BinaryPropertyListGuard.mostObjectsPerByte * bytes.count)
    let copied = min(
      BinaryPropertyListGuard.mostBytesPerByte * bytes.count, bytes.count + BinaryPropertyListGuard.mostCopiedBytes)
    remainingBytes = max(BinaryPropertyListGuard.fewBytes, copied)
  }

  private mutating func visit(_ object: Int, depth: Int) -> Bool {
    remaining -= 1
    guard remaining > 0, depth < BinaryPropertyListGuard.deepest, (0..<objectCount).contains(object),
      let offset = number(at: offsetTable + object * offsetSize, size: offsetSize), offset < offsetTable
    else { return false }
    let marker = bytes[offset]
    let kind = marker >> 4
    let isDictionary = kind == 0xD, isContainer = isDictionary || kind == 0xA || kind == 0xC
    // Numbers, dates and references of archives, which say their size otherwise.
    guard isContainer || kind == 4 || kind == 5 || kind == 6 else { return true }
    var count = Int(marker & 0xF), references = offset + 1
    if count == 0xF {
      // A count of 15 or more follows as an integer object: 0x1n, then 2^n bytes.
      guard references < offsetTable, bytes[references] >> 4 == 1 else { return false }
      let exponent = Int(bytes[references] & 0xF)
      guard exponent <= 3, let long = number(at: references + 1, size: 1 << exponent) else { return false }
      count = long
      references += 1 + 1 << exponent
    }
    if !isContainer {
      // The size itself libplist checks.
      let size = count.multipliedReportingOverflow(by: kind == 6 ? 3 : 1)
      guard !size.overflow, size.partialValue <= remainingBytes else { return false }
      remainingBytes -= size.partialValue
      return true
    }
    guard references <= offsetTable, count <= (offsetTable - references) / referenceSize / (isDictionary ? 2 : 1)
    else { return false }
    for index in 0..<(isDictionary ? 2 * count : count) {
      guard let child = number(at: references + index * referenceSize, size: referenceSize),
        visit(child, depth: depth + 1)
      else { return false }
    }
    return true
  }

  private func number(at offset: Int, size: Int) -> Int? {
    BinaryPropertyListGuard.number(bytes, at: offset, size: size)
  }

  /// A big-endian number, nil when it lies outside or does not fit.
  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, size: Int) -> Int? {
    guard offset >= 0, size <= bytes.count, offset <= bytes.count - size else { return nil }
    return Int(exactly: bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
