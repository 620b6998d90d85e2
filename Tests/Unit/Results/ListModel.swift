@testable import QuireCore

/// The plainest list that a sectioned index must equal: every row, sorted.
struct ListModel {
  struct Row: Hashable {
    var id: Int64
    var key: RowKey
  }

  /// A section as its key and the ids in it.
  struct Section: Equatable {
    var order: SortKey
    var ids: [Int64]
  }

  var isSectioned: Bool { didSet { sections = sorted() } }
  var keys: [Int64: RowKey] { didSet { sections = sorted() } }
  /// Sorted once for each batch: tests ask for it often.
  private(set) var sections: [Section] = []

  init(isSectioned: Bool, keys: [Int64: RowKey] = [:]) {
    self.isSectioned = isSectioned
    self.keys = keys
    sections = sorted()
  }

  var rows: [Row] {
    keys.map { Row(id: $0, key: $1) }.sorted { left, right in
      if isSectioned, left.key.section != right.key.section {
        return left.key.section.order < right.key.section.order
      }
      return left.key.order < right.key.order
    }
  }

  private func sorted() -> [Section] {
    guard isSectioned else { return [Section(order: SortKey(), ids: rows.map(\.id))] }
    var result: [Section] = []
    for row in rows {
      if result.last?.order == row.key.section.order {
        result[result.count - 1].ids.append(row.id)
      } else {
        result.append(Section(order: row.key.section.order, ids: [row.id]))
      }
    }
    return result
  }

  mutating func apply(_ changes: [RowChange]) {
    var changed = keys
    for change in changes { changed[change.id] = change.newKey }
    keys = changed
  }

  static func key(_ section: String, _ name: String, id: Int64) -> RowKey {
    var sectionOrder = SortKey()
    sectionOrder.append(.text(section))
    var order = SortKey()
    order.append(.text(name))
    order.append(tieBreak: id)
    return RowKey(section: SectionKey(order: sectionOrder, name: Text(section)), order: order)
  }
}

/// Applies a change set to plain arrays of ids, the way a list on screen would.
enum Replay {
  /// Core Data's two frames.
  static func classic(_ set: ChangeSet, on old: [[Int64]]) -> [[Int64]]? {
    var lists = old
    let leaving = set.changes.filter { $0.kind == .delete || $0.kind == .move }
      .sorted { ($0.oldSection, $0.oldRow) > ($1.oldSection, $1.oldRow) }
    for change in leaving {
      guard lists.indices.contains(change.oldSection),
        lists[change.oldSection].indices.contains(change.oldRow),
        lists[change.oldSection].remove(at: change.oldRow) == change.id
      else { return nil }
    }
    for change in set.sectionChanges where change.kind == .delete {
      guard lists.indices.contains(change.index), lists.remove(at: change.index).isEmpty else {
        return nil
      }
    }
    for change in set.sectionChanges where change.kind == .insert {
      guard change.index <= lists.count else { return nil }
      lists.insert([], at: change.index)
    }
    let arriving = set.changes.filter { $0.kind == .insert || $0.kind == .move }
      .sorted { ($0.newSection, $0.newRow) < ($1.newSection, $1.newRow) }
    for change in arriving {
      guard lists.indices.contains(change.newSection),
        change.newRow <= lists[change.newSection].count
      else {
        return nil
      }
      lists[change.newSection].insert(change.id, at: change.newRow)
    }
    return lists
  }

  /// One step after the other; nil when a step is not valid in its moment.
  static func linear(_ steps: [Step], on old: [[Int64]]) -> [[Int64]]? {
    var lists = old
    for step in steps { guard apply(step, to: &lists) else { return nil } }
    return lists
  }

  private static func apply(_ step: Step, to lists: inout [[Int64]]) -> Bool {
    func flat(_ section: Int, _ row: Int) -> Int { lists[..<section].reduce(row) { $0 + $1.count } }
    switch step.kind {
    case .insertSection:
      guard step.section <= lists.count, step.id == 0, step.row == -1, step.flat == -1 else {
        return false
      }
      lists.insert([], at: step.section)
      return true
    case .deleteSection:
      guard lists.indices.contains(step.section) else { return false }
      return lists.remove(at: step.section).isEmpty
    case .insertRow:
      guard lists.indices.contains(step.section), step.row <= lists[step.section].count,
        step.flat == flat(step.section, step.row)
      else { return false }
      lists[step.section].insert(step.id, at: step.row)
      return step.toSection == -1 && step.toRow == -1 && step.toFlat == -1
    // Of plans alone.
    case .replaceRows: return false
    case .deleteRow, .updateRow, .moveRow:
      guard lists.indices.contains(step.section), lists[step.section].indices.contains(step.row),
        lists[step.section][step.row] == step.id, step.flat == flat(step.section, step.row)
      else { return false }
      if step.kind == .updateRow { return true }
      lists[step.section].remove(at: step.row)
      if step.kind == .deleteRow { return true }
      guard lists.indices.contains(step.toSection), step.toRow <= lists[step.toSection].count,
        step.toFlat == flat(step.toSection, step.toRow)
      else { return false }
      lists[step.toSection].insert(step.id, at: step.toRow)
      return step.section != step.toSection || step.row != step.toRow
    }
  }
}
