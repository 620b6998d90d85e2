/// The sort keys of one block's rows, end to end in one run of bytes: an array per key would cost a
/// heap object a row.
struct PackedKeys {
  private var bytes = ContiguousArray<UInt8>()
  private var ends = ContiguousArray<Int>()

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  private func range(of row: Int) -> Range<Int> { (row == 0 ? 0 : ends[row - 1])..<ends[row] }

  subscript(row: Int) -> SortKey { SortKey(bytes: ContiguousArray(bytes[range(of: row)])) }

  /// Negative when the key of `row` sorts before `key`, zero when they are equal.
  func order(of row: Int, against key: SortKey) -> Int {
    let range = range(of: row)
    for offset in 0..<min(range.count, key.bytes.count) {
      let left = bytes[range.lowerBound + offset]
      let right = key.bytes[offset]
      if left != right { return left < right ? -1 : 1 }
    }
    return range.count - key.bytes.count
  }

  /// The first row whose key is not before `key`.
  func lowerBound(of key: SortKey) -> Int {
    ends.partitionPoint { row, _ in order(of: row, against: key) < 0 }
  }

  mutating func append(_ key: SortKey) {
    bytes.append(contentsOf: key.bytes)
    ends.append(bytes.count)
  }

  mutating func insert(_ key: SortKey, at row: Int) {
    let start = row == 0 ? 0 : ends[row - 1]
    bytes.insert(contentsOf: key.bytes, at: start)
    ends.insert(start, at: row)
    for later in row..<ends.count { ends[later] += key.bytes.count }
  }

  mutating func remove(at row: Int) {
    let range = range(of: row)
    bytes.removeSubrange(range)
    ends.remove(at: row)
    for later in row..<ends.count { ends[later] -= range.count }
  }

  mutating func replace(_ key: SortKey, at row: Int) {
    remove(at: row)
    insert(key, at: row)
  }

  mutating func append(contentsOf other: PackedKeys) {
    let start = bytes.count
    bytes.append(contentsOf: other.bytes)
    for end in other.ends { ends.append(start + end) }
  }

  /// Takes out the keys from `row` on.
  mutating func split(at row: Int) -> PackedKeys {
    let start = row == 0 ? 0 : ends[row - 1]
    var upper = PackedKeys()
    upper.bytes = ContiguousArray(bytes[start...])
    upper.ends = ContiguousArray(ends[row...].map { $0 - start })
    bytes.removeSubrange(start...)
    ends.removeSubrange(row...)
    return upper
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// The same keys in memory of exactly their size.
  func compacted() -> PackedKeys {
    var result = PackedKeys()
    result.bytes.reserveCapacity(bytes.count)
    result.bytes.append(contentsOf: bytes)
    result.ends.reserveCapacity(ends.count)
    result.ends.append(contentsOf: ends)
    return result
  }
}
