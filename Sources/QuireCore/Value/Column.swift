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
  private let memory: [ColumnMemory?]

  /// Takes the memory over.
  init(
    name: Text, kind: Kind, length: Int, nilCount: Int, validity: ColumnMemory?, offsets: ColumnMemory?,
    values: ColumnMemory
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
  }

  @inline(__always)
  func isNil(_ row: Int) -> Bool {
    guard let validity else { return false }
    return validity[row >> 3] & (1 << UInt8(row & 7)) == 0
  }
}
