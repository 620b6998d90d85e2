import Glibc

/// A column in the layout of an Arrow array. What lies in that layout already stays where it is: texts too, for pages
/// have them with offsets, and separate them when they are looked at.
final class ArrowColumn: @unchecked Sendable {
  let column: Column
  /// Arrow's name of the type.
  let format: Bytes
  /// Pairs of keys and values, as Arrow packs them.
  let metadata: Bytes?
  /// Validity, where each value begins unless all are of one width, and the values.
  let buffers: UnsafeMutablePointer<UnsafeRawPointer?>
  let bufferCount: Int
  private let memory: [ColumnMemory]

  init(_ column: Column) throws(Failure) {
    let form = try Form(column)
    self.column = column
    format = form.format.bytes
    metadata = column.kind == .uuid ? ArrowColumn.uuidMetadata : nil
    memory = form.memory
    bufferCount = form.offsets == nil ? 2 : 3
    buffers = .allocate(capacity: 3)
    buffers.initialize(repeating: nil, count: 3)
    buffers[0] = UnsafeRawPointer(column.validity)
    if let offsets = form.offsets {
      buffers[1] = offsets
      buffers[2] = form.values
    } else {
      buffers[1] = form.values
    }
  }

  deinit { buffers.deallocate() }

  private static let uuidMetadata: Bytes = {
    let packed = ColumnMemory(capacity: 64)
    packed.append(Int32(1))
    for text in ["ARROW:extension:name", "arrow.uuid"] {
      packed.append(Int32(text.utf8.count))
      for byte in text.utf8 { packed.append(byte) }
    }
    return Bytes(UnsafeBufferPointer(start: packed.bound(to: UInt8.self), count: packed.count))
  }()

  private struct Form {
    let format: Text
    let values: UnsafeRawPointer
    var offsets: UnsafeRawPointer?
    var memory: [ColumnMemory] = []

    init(_ column: Column) throws(Failure) {
      switch column.kind {
      case .integer, .objectID: self.init(column, as: "l")
      case .double: self.init(column, as: "g")
      case .uuid: self.init(column, as: "w:16")
      case .boolean: self.init(made: try ArrowColumn.bits(column), as: "b")
      case .date: self.init(made: try ArrowColumn.microseconds(column), as: "tsu:UTC")
      case .decimal:
        if let (scale, made) = try ArrowColumn.decimals(column) {
          self.init(made: made, as: Text("d:38,\(scale)"))
        } else {
          self.init(texts: column, as: "U")
        }
      case .text, .uri: self.init(texts: column, as: "U")
      case .data: self.init(texts: column, as: "Z")
      }
    }

    private init(_ column: Column, as format: Text) {
      self.format = format
      values = column.values
    }

    private init(made: ColumnMemory, as format: Text) {
      self.format = format
      values = UnsafeRawPointer(made.start)
      memory = [made]
    }

    private init(texts column: Column, as format: Text) {
      self.format = format
      values = column.values
      offsets = UnsafeRawPointer(column.offsets)
    }
  }

  private static func memory(_ size: Int, for column: Column) throws(Failure) -> ColumnMemory {
    let made = ColumnMemory(capacity: size)
    try made.require(for: described(column))
    return made
  }

  private static func described(_ column: Column) -> String { "'\(Text(trusted: column.name))' as Arrow has it" }

  private static func bits(_ column: Column) throws(Failure) -> ColumnMemory {
    let bits = try memory((column.length + 7) / 8, for: column)
    let flags = column.values.assumingMemoryBound(to: UInt8.self)
    for first in stride(from: 0, to: column.length, by: 8) {
      var byte: UInt8 = 0
      for row in first..<min(first + 8, column.length) { byte |= flags[row] << UInt8(row - first) }
      bits.append(byte)
    }
    return bits
  }

  /// Rounded as Python rounds them: the fraction by itself, halves to the even number.
  private static func microseconds(_ column: Column) throws(Failure) -> ColumnMemory {
    let made = try memory(column.length * 8, for: column)
    let dates = column.values.assumingMemoryBound(to: Double.self)
    for row in 0..<column.length {
      let seconds = dates[row], whole = seconds.rounded(.towardZero)
      let fraction = ((seconds - whole) * 1_000_000).rounded(.toNearestOrEven)
      guard let integer = Int64(exactly: whole) else { throw tooDistant(row, column) }
      let (product, overflow) = integer.multipliedReportingOverflow(by: 1_000_000)
      let (sum, carry) = product.addingReportingOverflow(Int64(fraction))
      if overflow || carry { throw tooDistant(row, column) }
      made.append(sum)
    }
    return made
  }

  private static func tooDistant(_ row: Int, _ column: Column) -> Failure {
    Failure(
      .invalidArgument,
      "The date in row \(row) of '\(Text(trusted: column.name))' is beyond the years that a timestamp of Arrow "
        + "reaches, about 290,000 on either side of 1970. Leave the column out, or the row.")
  }

  private static let places = 38

  /// As 128-bit integers, with the digits behind the point that all of them have room for; nil where there is no such
  /// number of digits.
  private static func decimals(_ column: Column) throws(Failure) -> (scale: Int, ColumnMemory)? {
    var found: [Decimal?] = []
    try Memory.require(Memory.size(of: column.length, Decimal?.self), for: described(column))
    found.reserveCapacity(column.length)
    var scale = 0
    var isRead = true
    forEachText(column) { (row, text) in
      if column.isNil(row) { return found.append(nil) }
      guard let decimal = Decimal(text) else { return isRead = false }
      scale = max(scale, -decimal.exponent)
      found.append(decimal)
    }
    if !isRead || scale > places { return nil }
    var most: UInt128 = 1
    for _ in 0..<places { most *= 10 }
    let made = try memory(column.length * 16, for: column)
    for decimal in found {
      var magnitude = decimal?.mantissa ?? 0
      if magnitude != 0, let decimal {
        if scale + decimal.exponent > places { return nil }
        for _ in 0..<(scale + decimal.exponent) {
          magnitude *= 10
          if magnitude >= most { return nil }
        }
      }
      let bits = decimal?.isNegative == true ? 0 &- magnitude : magnitude
      made.append(UInt64(truncatingIfNeeded: bits))
      made.append(UInt64(truncatingIfNeeded: bits >> 64))
    }
    return (scale, made)
  }

  /// The bytes of all rows, also of those that are nil.
  @inline(__always)
  private static func forEachText(_ column: Column, _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void) {
    let start = column.values.assumingMemoryBound(to: UInt8.self)
    guard let offsets = column.offsets else { return }
    for row in 0..<column.length {
      let first = Int(offsets[row])
      body(row, UnsafeBufferPointer(start: start + first, count: Int(offsets[row + 1]) - first))
    }
  }
}
