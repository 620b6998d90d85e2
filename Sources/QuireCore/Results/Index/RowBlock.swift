/// A few hundred neighbouring rows of one section.
struct RowBlock {
  var section: CountedForest.Handle
  var ids = ContiguousArray<Int64>()
  var keys = PackedKeys()

  func key(at row: Int) -> SortKey { keys.key(of: row, ids[row]) }

  /// Negative when the key of `row` sorts before `key`, zero when they are equal.
  func order(of row: Int, against key: SortKey) -> Int { keys.order(of: row, ids[row], against: key) }

  /// The first row whose key is not before `key`.
  func lowerBound(of key: SortKey) -> Int { ids.partitionPoint { row, _ in order(of: row, against: key) < 0 } }

  mutating func insert(_ id: Int64, _ key: SortKey, at row: Int) {
    assert(row >= 0 && row <= ids.count)
    keys.insert(key, id, at: row, among: ids)
    ids.insert(id, at: row)
  }

  mutating func remove(at row: Int) {
    assert(ids.indices.contains(row))
    ids.remove(at: row)
    keys.remove(at: row)
  }

  mutating func append(contentsOf other: RowBlock) {
    assert(section == other.section)
    for row in other.ids.indices { insert(other.ids[row], other.key(at: row), at: ids.count) }
  }

  /// Takes out the rows from `row` on.
  mutating func split(at row: Int) -> RowBlock {
    assert(row > 0 && row < ids.count)
    let upper = RowBlock(
      section: section, ids: ContiguousArray(ids[row...]), keys: keys.split(at: row))
    ids.removeSubrange(row...)
    return upper
  }
}
