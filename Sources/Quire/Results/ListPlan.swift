/// A step of a plan: what one kind of list view is told. Numbers without a meaning are -1; the id of a step that is not
/// of a row is 0.
struct PlanStep: Hashable, Sendable {
  enum Kind: Int, Sendable {
    case insertRow = 1
    case deleteRow, moveRow, updateRow, insertSection, deleteSection, replaceRows
  }

  var kind: Kind
  var id: Int64 = 0
  var section = -1
  var row = -1
  var toSection = -1
  var toRow = -1
  var flat = -1
  var toFlat = -1
  var removed = -1
  var inserted = -1
}

/// The changes of a list in the order and the coordinates of one kind of list view.
enum ListPlan: Int, CaseIterable, Sendable {
  /// One step after the other; a row moves before the one at its destination, which is counted with the row still in
  /// its old place.
  case beforeChild = 1
  /// Ranges of a flat list, one after the other.
  case ranges
  /// All at once: what goes by its place before, what comes by its place after.
  case batch

  func steps(of set: ChangeSet, splitsMoves: Bool) -> [PlanStep] {
    switch self {
    case .beforeChild: ListPlan.beforeChild(set, splitsMoves)
    case .ranges: ListPlan.ranges(set)
    case .batch: ListPlan.batch(set, splitsMoves)
    }
  }

  private static func beforeChild(_ set: ChangeSet, _ splitsMoves: Bool) -> [PlanStep] {
    var steps: [PlanStep] = []
    for step in set.steps {
      var made = PlanStep(
        kind: PlanStep.Kind(rawValue: step.kind.rawValue) ?? .updateRow, id: step.id, section: step.section,
        row: step.row, toSection: step.toSection, toRow: step.toRow, flat: step.flat, toFlat: step.toFlat)
      if step.kind != .moveRow {
        steps.append(made)
      } else if splitsMoves {
        steps.append(
          PlanStep(kind: .deleteRow, id: step.id, section: step.section, row: step.row, flat: step.flat))
        steps.append(
          PlanStep(kind: .insertRow, id: step.id, section: step.toSection, row: step.toRow, flat: step.toFlat))
      } else {
        if step.section == step.toSection, step.toRow > step.row { made.toRow += 1 }
        // Over the border of two sections a row may move and keep its place in the whole.
        if step.toFlat > step.flat { made.toFlat += 1 }
        steps.append(made)
      }
    }
    return steps
  }

  /// What lies between rows that are not touched is one range.
  ///
  /// A row that comes to be the first of its section, or ceases to be, without being touched is drawn in: its header
  /// comes or goes. That can only be the one behind a first row that left or arrived.
  private static func ranges(_ set: ChangeSet) -> [PlanStep] {
    struct Gap {
      var removed = 0
      var inserted = 0
      var hasFirstRow = false
    }
    let updates = set.changes.filter { $0.kind == .update }
    let leaving = (set.removed + updates).sorted { $0.oldFlat < $1.oldFlat }
    let arriving = (set.placed + updates).sorted { $0.newFlat < $1.newFlat }
    // By the number of untouched rows before it.
    var gaps: [Int: Gap] = [:]
    for (position, change) in leaving.enumerated() {
      gaps[change.oldFlat - position, default: Gap()].removed += 1
      if change.oldRow == 0, change.kind != .update { gaps[change.oldFlat - position]?.hasFirstRow = true }
    }
    for (position, change) in arriving.enumerated() {
      gaps[change.newFlat - position, default: Gap()].inserted += 1
      if change.newRow == 0, change.kind != .update { gaps[change.newFlat - position]?.hasFirstRow = true }
    }
    let untouched = set.newCount - arriving.count
    var steps: [PlanStep] = []
    var inserted = 0
    // The number of the untouched row that the last range goes up to.
    var reached = -1
    for (before, gap) in gaps.sorted(by: { $0.key < $1.key }) {
      let drawn = gap.hasFirstRow && before < untouched ? 1 : 0
      if before == reached, let last = steps.indices.last {
        steps[last].removed += gap.removed + drawn
        steps[last].inserted += gap.inserted + drawn
      } else {
        steps.append(
          PlanStep(
            kind: .replaceRows, flat: before + inserted, removed: gap.removed + drawn, inserted: gap.inserted + drawn))
      }
      reached = before + drawn
      inserted += gap.inserted
    }
    return steps
  }

  private static func batch(_ set: ChangeSet, _ splitsMoves: Bool) -> [PlanStep] {
    var gone: Set<Int> = [], come: Set<Int> = []
    for change in set.sectionChanges {
      if change.kind == .delete { gone.insert(change.index) } else { come.insert(change.index) }
    }
    var deletes: [Change] = [], inserts: [Change] = [], moves: [Change] = []
    for change in set.removed {
      let stays = change.kind == .move && !gone.contains(change.oldSection) && !come.contains(change.newSection)
      if stays, !splitsMoves {
        moves.append(change)
      } else if !gone.contains(change.oldSection) {
        deletes.append(change)
      }
    }
    for change in set.placed where !come.contains(change.newSection) {
      let stays = change.kind == .move && !gone.contains(change.oldSection)
      if !stays || splitsMoves { inserts.append(change) }
    }
    var steps = deletes.reversed().map {
      PlanStep(kind: .deleteRow, id: $0.id, section: $0.oldSection, row: $0.oldRow, flat: $0.oldFlat)
    }
    steps += set.sectionChanges.map {
      PlanStep(kind: $0.kind == .delete ? .deleteSection : .insertSection, section: $0.index)
    }
    steps += inserts.map {
      PlanStep(kind: .insertRow, id: $0.id, section: $0.newSection, row: $0.newRow, flat: $0.newFlat)
    }
    steps += moves.sorted { $0.newFlat < $1.newFlat }.map {
      PlanStep(
        kind: .moveRow, id: $0.id, section: $0.oldSection, row: $0.oldRow, toSection: $0.newSection, toRow: $0.newRow,
        flat: $0.oldFlat, toFlat: $0.newFlat)
    }
    let shown = moves.map { ($0, -1) } + set.changes.filter { $0.kind == .update }.map { ($0, $0.oldSection) }
    steps += shown.sorted { $0.0.newFlat < $1.0.newFlat }.map { change, section in
      PlanStep(
        kind: .updateRow, id: change.id, section: section, row: section < 0 ? -1 : change.oldRow,
        toSection: change.newSection, toRow: change.newRow, flat: section < 0 ? -1 : change.oldFlat,
        toFlat: change.newFlat)
    }
    return steps
  }
}
