/// Objects that a fetch made without reading their rows: when a value of one is needed, those of all are read, in one
/// statement.
final class UnreadBatch {
  /// The number of their root entity.
  let root: Int
  /// Ascending where there are columns.
  let ids: [Int64]
  /// The slots of the properties that the fetch did read, and the values of each in the order of `ids`.
  private var slots: [Int]
  private var columns: [[Value]]

  init(root: Int, ids: [Int64], slots: [Int], columns: [[Value]]) {
    self.root = root
    self.ids = ids
    self.slots = slots
    self.columns = columns
  }

  /// After the rows of some have changed.
  func forgetValues() {
    slots = []
    columns = []
  }

  /// nil when it was not among what was read.
  func value(at slot: Int, of id: Int64) -> Value? {
    guard let column = slots.firstIndex(of: slot) else { return nil }
    var low = 0, high = ids.count
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < ids.count && ids[low] == id ? columns[column][low] : nil
  }
}
