extension ChangeSet {
  /// The touched rows between two that are not, by their ids, in the old list and in the new one.
  struct Gap {
    var removed: [Int64] = []
    var inserted: [Int64] = []
    /// A first row of a section left or arrived, so that the row behind may have come to be the first, or ceased to be.
    var hasFirstRow = false
  }

  /// Rows that are neither reported nor moved.
  var untouchedCount: Int { newCount - placed.count - changes.count { $0.kind == .update } }

  /// By the number of untouched rows before each, ascending.
  var gaps: [(before: Int, gap: Gap)] {
    let updates = changes.filter { $0.kind == .update }
    let leaving = (removed + updates).sorted { $0.oldFlat < $1.oldFlat }
    let arriving = (placed + updates).sorted { $0.newFlat < $1.newFlat }
    var gaps: [Int: Gap] = [:]
    for (position, change) in leaving.enumerated() {
      gaps[change.oldFlat - position, default: Gap()].removed.append(change.id)
      if change.oldRow == 0, change.kind != .update { gaps[change.oldFlat - position]?.hasFirstRow = true }
    }
    for (position, change) in arriving.enumerated() {
      gaps[change.newFlat - position, default: Gap()].inserted.append(change.id)
      if change.newRow == 0, change.kind != .update { gaps[change.newFlat - position]?.hasFirstRow = true }
    }
    return gaps.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The same for changes that are not those that it was made with.
  func drawingAnew(_ id: (Int) -> Int64?) -> ChangeSet {
    drawn = [:]
    return drawing(id)
  }

  /// The same set, which knows by `id`, of a place in the new list, the rows that ranges draw in though they are not
  /// touched.
  func drawing(_ id: (Int) -> Int64?) -> ChangeSet {
    let firsts = changes.filter { $0.kind != .update && ($0.oldRow == 0 || $0.newRow == 0) }
    if firsts.isEmpty { return self }
    // Every report needs this, and few are asked for `gaps`.
    var leaving: [Int] = [], arriving: [Int] = []
    for change in changes {
      if change.kind != .insert { leaving.append(change.oldFlat) }
      if change.kind != .delete { arriving.append(change.newFlat) }
    }
    leaving.sort()
    arriving.sort()
    let untouched = newCount - arriving.count
    func draw(_ flat: Int, of touched: [Int]) {
      let before = flat - touched.partitionPoint { $0 < flat }
      if before >= untouched || drawn[before] != nil { return }
      drawn[before] = id(before + arriving.partitionPoint { $1 - $0 <= before })
    }
    for change in firsts {
      if change.oldRow == 0 { draw(change.oldFlat, of: leaving) }
      if change.newRow == 0 { draw(change.newFlat, of: arriving) }
    }
    return self
  }
}
