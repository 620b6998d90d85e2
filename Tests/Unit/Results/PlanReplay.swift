@testable import QuireCore

/// List views that take plans, each in its own way. What a view could not do is a sentence.
enum PlanReplay {
  static func problem(_ set: ChangeSet, from old: [[Int64]], to new: [[Int64]]) -> String? {
    for splitsMoves in [false, true] {
      let children = children(ListPlan.beforeChild.steps(of: set, splitsMoves: splitsMoves), on: old)
      if children != new { return "before child: \(String(describing: children)) from \(old) to \(new)" }
      let batch = batch(ListPlan.batch.steps(of: set, splitsMoves: splitsMoves), from: old, to: new)
      if batch != new { return "batch: \(String(describing: batch)) from \(old) to \(new)" }
      if splitsMoves {
        for plan in ListPlan.allCases
        where plan.steps(of: set, splitsMoves: true).contains(where: { $0.kind == .moveRow }) {
          return "\(plan) has a move that was to be split"
        }
      }
    }
    return ranges(ListPlan.ranges.steps(of: set, splitsMoves: false), from: old, to: new)
  }

  /// Qt, and a document: nodes are inserted before the one that stands at the destination.
  private static func children(_ steps: [Step], on old: [[Int64]]) -> [[Int64]]? {
    var lists = old
    func start(_ section: Int) -> Int { lists[..<section].reduce(0) { $0 + $1.count } }
    for step in steps {
      switch step.kind {
      case .insertSection: lists.insert([], at: step.section)
      case .deleteSection: if !lists.remove(at: step.section).isEmpty { return nil }
      case .insertRow:
        if step.flat != start(step.section) + step.row { return nil }
        lists[step.section].insert(step.id, at: step.row)
      case .deleteRow:
        if lists[step.section].remove(at: step.row) != step.id { return nil }
      case .updateRow: if lists[step.section][step.row] != step.id { return nil }
      case .moveRow:
        let isSame = step.section == step.toSection
        // `beginMoveRows` refuses these.
        if isSame, step.toRow == step.row || step.toRow == step.row + 1 { return nil }
        if step.flat != start(step.section) + step.row { return nil }
        // Over a border the place in the whole may stay the same, which is written as such.
        let toFlat = start(step.toSection) + step.toRow
        if step.toFlat != (toFlat == step.flat + 1 ? step.flat : toFlat) { return nil }
        let id = lists[step.section].remove(at: step.row)
        if id != step.id { return nil }
        lists[step.toSection].insert(id, at: isSame && step.toRow > step.row ? step.toRow - 1 : step.toRow)
      case .replaceRows: return nil
      }
    }
    return lists
  }

  /// UIKit: a section that comes brings its rows, one that goes takes them along.
  private static func batch(_ steps: [Step], from old: [[Int64]], to new: [[Int64]]) -> [[Int64]]? {
    var lists = old
    let gone = Set(steps.filter { $0.kind == .deleteSection }.map(\.section))
    let come = Set(steps.filter { $0.kind == .insertSection }.map(\.section))
    let leaving = steps.filter { $0.kind == .deleteRow || $0.kind == .moveRow }
    for step in leaving.sorted(by: { ($0.section, $0.row) > ($1.section, $1.row) }) {
      if gone.contains(step.section) || lists[step.section].remove(at: step.row) != step.id { return nil }
    }
    for section in gone.sorted(by: >) { lists.remove(at: section) }
    for section in come.sorted() { lists.insert(new[section], at: section) }
    let arriving = steps.compactMap { step in
      step.kind == .insertRow
        ? (step.section, step.row, step.id) : step.kind == .moveRow ? (step.toSection, step.toRow, step.id) : nil
    }
    for (section, row, id) in arriving.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
      if come.contains(section) { return nil }
      lists[section].insert(id, at: row)
    }
    for step in steps where step.kind == .updateRow {
      if new[step.toSection][step.toRow] != step.id { return nil }
      if step.section >= 0, old[step.section][step.row] != step.id { return nil }
    }
    return lists
  }

  /// GTK: of all that is in no range, neither rows nor the beginnings of sections may have changed.
  private static func ranges(_ steps: [Step], from old: [[Int64]], to new: [[Int64]]) -> String? {
    struct Item: Hashable {
      var id: Int64
      var isFirst: Bool
    }
    func items(_ lists: [[Int64]]) -> [Item] {
      lists.flatMap { list in list.enumerated().map { Item(id: $1, isFirst: $0 == 0) } }
    }
    var shown = items(old), end = -1
    let wanted = items(new)
    for step in steps {
      // Two ranges that touch would be one.
      if step.kind != .replaceRows || step.flat <= end || step.removed + step.inserted <= 0 { return "ranges \(steps)" }
      guard step.flat + step.removed <= shown.count, step.flat + step.inserted <= wanted.count else {
        return "ranges beyond the list: \(steps)"
      }
      let going = shown[step.flat..<step.flat + step.removed], coming = wanted[step.flat..<step.flat + step.inserted]
      if step.removedIDs != going.map(\.id) || step.insertedIDs != coming.map(\.id) { return "ids of ranges \(steps)" }
      shown.replaceSubrange(step.flat..<step.flat + step.removed, with: coming)
      end = step.flat + step.inserted
    }
    return shown == wanted ? nil : "ranges \(steps) from \(old) to \(new)"
  }
}
