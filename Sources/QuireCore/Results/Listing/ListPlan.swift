/// The changes of a list in the order and the coordinates of one kind of list view.
enum ListPlan: Int, CaseIterable, Sendable {
  /// One step after the other; a row moves before the one at its destination, which is counted with the row still in
  /// its old place.
  case beforeChild = 1
  /// Ranges of a flat list, one after the other.
  case ranges
  /// All at once: what goes by its place before, what comes by its place after.
  case batch

  func steps(of set: ChangeSet, splitsMoves: Bool) -> [Step] {
    switch self {
    case .beforeChild: ListPlan.beforeChild(set, splitsMoves)
    case .ranges: ListPlan.ranges(set)
    case .batch: ListPlan.batch(set, splitsMoves)
    }
  }

  private static func beforeChild(_ set: ChangeSet, _ splitsMoves: Bool) -> [Step] {
    var steps: [Step] = []
    for step in set.steps {
      var made = step
      if step.kind != .moveRow {
        steps.append(made)
      } else if splitsMoves {
        steps.append(
          Step(kind: .deleteRow, id: step.id, section: step.section, row: step.row, flat: step.flat))
        steps.append(
          Step(kind: .insertRow, id: step.id, section: step.toSection, row: step.toRow, flat: step.toFlat))
      } else {
        if step.section == step.toSection, step.toRow > step.row { made.toRow += 1 }
        // Over the border of two sections a row may move and keep its place in the whole.
        if step.toFlat > step.flat { made.toFlat += 1 }
        steps.append(made)
      }
    }
    return steps
  }

  /// The rows between untouched rows are one range.
  ///
  /// A row that becomes the first of its section, or ceases to be, without being touched belongs to the range: its
  /// header comes or goes. That can only be the row behind a first row that left or arrived.
  private static func ranges(_ set: ChangeSet) -> [Step] {
    let untouched = set.untouchedCount
    var steps: [Step] = []
    var inserted = 0
    // The number of the untouched row that the last range goes up to.
    var reached = -1
    for (before, gap) in set.gaps {
      let drawn = gap.hasFirstRow && before < untouched ? [set.drawn[before] ?? 0] : []
      if before != reached || steps.isEmpty {
        steps.append(Step(kind: .replaceRows, flat: before + inserted, removed: 0, inserted: 0))
      }
      let last = steps.endIndex - 1
      steps[last].removedIDs += gap.removed + drawn
      steps[last].insertedIDs += gap.inserted + drawn
      steps[last].removed = steps[last].removedIDs.count
      steps[last].inserted = steps[last].insertedIDs.count
      reached = before + drawn.count
      inserted += gap.inserted.count
    }
    return steps
  }

  private static func batch(_ set: ChangeSet, _ splitsMoves: Bool) -> [Step] {
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
      Step(kind: .deleteRow, id: $0.id, section: $0.oldSection, row: $0.oldRow, flat: $0.oldFlat)
    }
    steps += set.sectionChanges.map {
      Step(kind: $0.kind == .delete ? .deleteSection : .insertSection, section: $0.index)
    }
    steps += inserts.map {
      Step(kind: .insertRow, id: $0.id, section: $0.newSection, row: $0.newRow, flat: $0.newFlat)
    }
    steps += moves.sorted { $0.newFlat < $1.newFlat }.map {
      Step(
        kind: .moveRow, id: $0.id, section: $0.oldSection, row: $0.oldRow, toSection: $0.newSection, toRow: $0.newRow,
        flat: $0.oldFlat, toFlat: $0.newFlat)
    }
    let shown = moves.map { ($0, -1) } + set.changes.filter { $0.kind == .update }.map { ($0, $0.oldSection) }
    steps += shown.sorted { $0.0.newFlat < $1.0.newFlat }.map { change, section in
      Step(
        kind: .updateRow, id: change.id, section: section, row: section < 0 ? -1 : change.oldRow,
        toSection: change.newSection, toRow: change.newRow, flat: section < 0 ? -1 : change.oldFlat,
        toFlat: change.newFlat)
    }
    return steps
  }
}
