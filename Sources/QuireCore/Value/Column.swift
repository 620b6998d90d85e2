import Glibc

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
  private let memory: [UnsafeMutableRawPointer]

  init(
    name: Text, kind: Kind, length: Int, nilCount: Int, validity: [UInt8]?, offsets: [Int64]?,
    values: UnsafeRawBufferPointer
  ) {
    var memory: [UnsafeMutableRawPointer] = []
    func keep(_ source: UnsafeRawBufferPointer) -> UnsafeRawPointer {
      // Never empty, so that there is always an address to lend; aligned for what it holds.
      let copy = UnsafeMutableRawPointer.allocate(byteCount: max(source.count, 8), alignment: 8)
      if let base = source.baseAddress, source.count > 0 { memcpy(copy, base, source.count) }
      memory.append(copy)
      return UnsafeRawPointer(copy)
    }
    self.name = name.bytes
    self.kind = kind
    self.length = length
    self.nilCount = nilCount
    self.validity = nilCount == 0 ? nil : validity?.withUnsafeBytes { keep($0).assumingMemoryBound(to: UInt8.self) }
    self.offsets = offsets?.withUnsafeBytes { keep($0).assumingMemoryBound(to: Int64.self) }
    self.values = keep(values)
    self.valuesSize = values.count
    self.memory = memory
  }

  deinit { for block in memory { block.deallocate() } }
}
