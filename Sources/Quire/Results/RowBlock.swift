/// A few hundred neighbouring rows of one section.
struct RowBlock {
  var section: CountedForest.Handle
  var ids = ContiguousArray<Int64>()
  var keys = PackedKeys()

  mutating func insert(_ id: Int64, _ key: SortKey, at row: Int) {
    ids.insert(id, at: row)
    keys.insert(key, at: row)
  }

  mutating func remove(at row: Int) {
    ids.remove(at: row)
    keys.remove(at: row)
  }

  mutating func append(contentsOf other: RowBlock) {
    ids.append(contentsOf: other.ids)
    keys.append(contentsOf: other.keys)
  }

  /// Takes out the rows from `row` on.
  mutating func split(at row: Int) -> RowBlock {
    let upper = RowBlock(
      section: section, ids: ContiguousArray(ids[row...]), keys: keys.split(at: row))
    ids.removeSubrange(row...)
    return upper
  }

  /// The same rows in memory of exactly their size.
  func compacted() -> RowBlock {
    var result = RowBlock(section: section)
    result.ids.reserveCapacity(ids.count)
    result.ids.append(contentsOf: ids)
    result.keys = keys.compacted()
    return result
  }

  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    keys.removeAll()
  }
}
