/// Any number of values in one argument, for IN: each kept with its type, as JSON could not. It needs no temporary
/// table, so it works in a store that is read-only, and the statement's text does not depend on the number.
enum PackedList {
  /// The values: at least one.
  static func list(_ values: [Value], _ arguments: SQLArguments) -> SQLList {
    let count = arguments.parameter(.integer(Int64(values.count)))
    return .packed(count: count, values: arguments.parameter(pack(values)))
  }

  private enum Tag {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let data: UInt8 = 4
  }

  /// The layout begins with the count. For each value follows the offset of its end from the first value, eight bytes
  /// each. Then come the values, each a tag and its bytes.
  static func pack(_ values: [Value]) -> Value {
    var ends: [UInt8] = [], content: [UInt8] = []
    append(UInt64(values.count), to: &ends)
    for value in values {
      switch value {
      case .integer(let integer): content.append(Tag.integer); append(UInt64(bitPattern: integer), to: &content)
      case .double(let double): content.append(Tag.real); append(double.bitPattern, to: &content)
      case .text(let text): content.append(Tag.text); content += text.bytes.buffer
      case .data(let data): content.append(Tag.data); content += data.buffer
      default: content.append(Tag.null)
      }
      append(UInt64(content.count), to: &ends)
    }
    return .data(Bytes(ends + content))
  }

  enum Element {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case data(UnsafeRawBufferPointer)
  }

  /// Null for what is no packed list, or beyond its end.
  static func read(_ packed: UnsafeRawBufferPointer, at index: Int) -> Element {
    guard packed.count >= 8 else { return .null }
    let count = word(packed, 0)
    guard count >= 0, count < packed.count / 8, index >= 0, index < count else { return .null }
    let header = (count + 1) * 8
    let start = index == 0 ? 0 : word(packed, index), end = word(packed, index + 1)
    guard start >= 0, start < end, end <= packed.count - header else { return .null }
    let body = UnsafeRawBufferPointer(rebasing: packed[(header + start + 1)..<(header + end)])
    switch packed[header + start] {
    case Tag.integer where body.count == 8: return .integer(Int64(bitPattern: body.loadUnaligned(as: UInt64.self)))
    case Tag.real where body.count == 8: return .real(Double(bitPattern: body.loadUnaligned(as: UInt64.self)))
    case Tag.text: return .text(body)
    case Tag.data: return .data(body)
    default: return .null
    }
  }

  private static func word(_ packed: UnsafeRawBufferPointer, _ index: Int) -> Int {
    Int(truncatingIfNeeded: packed.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
  }

  private static func append(_ bits: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: bits) { bytes.append(contentsOf: $0) }
  }
}
