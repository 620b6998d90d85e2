/// Values of one kind side by side, at addresses that hold as long as the column: what crosses the ABI in bulk.
final class Column: @unchecked Sendable {
  /// Mirrors `quire_column_type`.
  enum Kind: UInt32, Sendable {
    case integer = 1, boolean, double, date, text, decimal, uri, data, uuid, objectID
  }

  let name: Bytes
  let kind: Kind
  let length: Int
  let nilCount: Int
  /// One bit a row, least significant first; nil when no row is nil.
  let validity: UnsafePointer<UInt8>?
  /// Where each value begins, and where the last one ends; nil for fixed widths and NUL-separated text.
  let offsets: UnsafePointer<Int64>?
  let values: UnsafeRawPointer
  let valuesSize: Int
  /// Whether what looks at it wants a NUL behind each text instead of offsets.
  let isToBeSeparated: Bool
  private let memory: [ColumnMemory?]

  /// Takes the memory over.
  init(
    name: Text, kind: Kind, length: Int, nilCount: Int, validity: ColumnMemory?, offsets: ColumnMemory?,
    values: ColumnMemory, isToBeSeparated: Bool = false
  ) {
    self.name = name.bytes
    self.kind = kind
    self.length = length
    self.nilCount = nilCount
    self.validity = nilCount == 0 ? nil : validity?.bound(to: UInt8.self)
    self.offsets = offsets?.bound(to: Int64.self)
    self.values = UnsafeRawPointer(values.start)
    valuesSize = values.count
    memory = [validity, offsets, values]
    self.isToBeSeparated = isToBeSeparated
  }

  /// The same texts, with a NUL behind each.
  private init(separating column: Column, into made: ColumnMemory) {
    name = column.name
    kind = column.kind
    length = column.length
    nilCount = column.nilCount
    validity = column.validity
    offsets = nil
    values = UnsafeRawPointer(made.start)
    valuesSize = made.count
    memory = column.memory.prefix(1) + [made]
    isToBeSeparated = false
  }

  /// With a NUL behind each text instead of offsets; none of the texts contains one. nil without memory for that.
  func separated() -> Column? {
    let made = ColumnMemory(capacity: valuesSize + length)
    if made.missing > 0 { return nil }
    if let offsets {
      for row in 0..<length {
        let first = Int(offsets[row]), end = Int(offsets[row + 1])
        made.append(bytes: UnsafeRawBufferPointer(start: values + first, count: end - first))
        made.append(0 as UInt8)
      }
    }
    return Column(separating: self, into: made)
  }

  @inline(__always)
  func isNil(_ row: Int) -> Bool {
    guard let validity else { return false }
    return validity[row >> 3] & (1 << UInt8(row & 7)) == 0
  }
}
