/// Which block holds a row. Four bytes a row where ids are dense, as primary keys are. A dictionary has the rest:
/// temporary ids, which are negative, and the few rows of a huge table.
struct RowMap {
  /// Handle plus one, zero for none.
  private var dense = ContiguousArray<CountedForest.Handle>()
  private var sparse: [Int64: CountedForest.Handle] = [:]
  private(set) var count = 0

  /// The table may be this many times longer than the rows in it.
  private static let slack = 4

  init() {}

  /// Of ids from zero on, each with its block's handle plus one, zero for none; nil where there are not so many blocks.
  @_optimize(speed)
  init?(dense: ContiguousArray<CountedForest.Handle>, of blockCount: Int) {
    let last = CountedForest.Handle(blockCount)
    // Without branches, so that several go at a time; `signs` is below zero when any of them is out of place.
    let found = dense.withContiguousStorageIfAvailable { dense in
      var signs: CountedForest.Handle = 0
      var free: CountedForest.Handle = 0
      for block in dense {
        signs |= block | (last &- block)
        free &+= block == 0 ? 1 : 0
      }
      return (signs: signs, free: Int(free))
    }
    guard let found, found.signs >= 0 else { return nil }
    self.dense = dense
    count = dense.count - found.free
  }

  /// How long the table must be for the ids in it; nil where some are not in it.
  var largestDense: Int? { sparse.isEmpty ? (dense.lastIndex { $0 != 0 } ?? -1) + 1 : nil }

  subscript(id: Int64) -> CountedForest.Handle {
    if id >= 0, id < dense.count { return dense[Int(id)] - 1 }
    return sparse[id] ?? CountedForest.none
  }

  /// Makes room for `count` rows with ids up to `largest`.
  mutating func reserve(count: Int, largest: Int64) {
    if isDense(largest, among: count) {
      grow(toHold: largest)
    } else {
      sparse.reserveCapacity(count)
    }
  }

  mutating func set(_ block: CountedForest.Handle, for id: Int64) {
    assert(block >= 0)
    if id >= dense.count, isDense(id, among: count + 256) {
      grow(toHold: max(id, Int64(dense.count * 2)))
    }
    if id >= 0, id < dense.count {
      if dense[Int(id)] == 0 { count += 1 }
      dense[Int(id)] = block + 1
    } else if sparse.updateValue(block, forKey: id) == nil {
      count += 1
    }
  }

  /// The same for all rows of a block.
  @_optimize(speed)
  mutating func set(_ block: CountedForest.Handle, for ids: ContiguousArray<Int64>) {
    for id in ids {
      guard id >= 0, id < dense.count else {
        set(block, for: id)
        continue
      }
      if dense[Int(id)] == 0 { count += 1 }
      dense[Int(id)] = block + 1
    }
  }

  mutating func remove(_ id: Int64) {
    if id >= 0, id < dense.count {
      if dense[Int(id)] != 0 { count -= 1 }
      dense[Int(id)] = 0
    } else if sparse.removeValue(forKey: id) != nil {
      count -= 1
    }
  }

  private func isDense(_ id: Int64, among count: Int) -> Bool {
    id >= 0 && id / Int64(RowMap.slack) < count
  }

  private mutating func grow(toHold id: Int64) {
    guard id >= dense.count else { return }
    dense.append(contentsOf: repeatElement(0, count: Int(id) + 1 - dense.count))
    for (id, block) in sparse where id >= 0 && id < dense.count {
      dense[Int(id)] = block + 1
      sparse.removeValue(forKey: id)
    }
  }
}
