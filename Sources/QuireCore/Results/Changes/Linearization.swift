/// Makes the linear steps of a change set from its records alone, in O(k log k): no list is copied.
///
/// The order: row deletes from the end; new sections, empty, each after the section before it; inserts and moves in the
/// order of the new list, each right after the row before it; sections that have become empty, from the end; updates.
///
/// Until its turn comes, a row that will move stands where it was. In between, everything in place has its new order.
/// The position of any row is therefore a count of rows in place plus a count of rows still to leave.
struct Linearization {
  /// A row that moves, in old order.
  private struct Leaver {
    var section: Int
    /// Rows of the section before it that neither move nor go.
    var gap: Int
    /// Flat position when only the deletes are done.
    var flat: Int
  }

  /// A row that moves or is new, in new order.
  private struct Arrival {
    var section: Int
    var gap: Int
  }

  private let set: ChangeSet
  private let sections: SectionFrames
  private var leavers: [Leaver] = []
  /// By old place: two lists in one may both have a row.
  private var leaverAt: [Int: Int] = [:]
  private var arrivals: [Arrival] = []

  init(_ set: ChangeSet) {
    self.set = set
    sections = SectionFrames(set)
    var deletes = 0
    for (change, gap) in Linearization.gaps(of: set.removed, section: \.oldSection, row: \.oldRow) {
      guard change.kind == .move else {
        deletes += 1
        continue
      }
      leaverAt[change.oldFlat] = leavers.count
      leavers.append(
        Leaver(
          section: sections.middle(ofOld: change.oldSection), gap: gap,
          flat: change.oldFlat - deletes))
    }
    for (change, gap) in Linearization.gaps(of: set.placed, section: \.newSection, row: \.newRow) {
      arrivals.append(Arrival(section: sections.middle(ofNew: change.newSection), gap: gap))
    }
  }

  func steps() -> [Step] {
    var steps: [Step] = []
    steps.reserveCapacity(set.changes.count + set.sectionChanges.count)
    for change in set.changes where change.kind == .delete {
      steps.append(
        Step(
          kind: .deleteRow, id: change.id, section: change.oldSection, row: change.oldRow,
          flat: change.oldFlat))
    }
    for index in sections.inserted { steps.append(Step(kind: .insertSection, section: index)) }
    appendArrivals(to: &steps)
    for index in sections.deleted.reversed() {
      steps.append(Step(kind: .deleteSection, section: sections.middle(ofOld: index)))
    }
    let updates = set.changes.filter { $0.kind == .update || $0.kind == .move }
    for change in updates.sorted(by: { $0.newFlat < $1.newFlat }) {
      steps.append(
        Step(
          kind: .updateRow, id: change.id, section: change.newSection, row: change.newRow,
          flat: change.newFlat))
    }
    return steps
  }

  private func appendArrivals(to steps: inout [Step]) {
    // One for each leaver that is still where it was.
    var waiting = FenwickTree(ones: leavers.count)
    for (turn, change) in set.placed.enumerated() {
      var step = Step(kind: .insertRow, id: change.id, section: -1)
      if let leaver = leaverAt[change.oldFlat] {
        let source = source(of: leaver, turn: turn, waiting: waiting)
        step.kind = .moveRow
        step.section = leavers[leaver].section
        step.row = source.row
        step.flat = source.flat
        waiting.add(-1, at: leaver)
      }
      let arrival = arrivals[turn]
      let firstHere = leavers.partitionPoint { $0.section < arrival.section }
      let before = leavers.partitionPoint { ($0.section, $0.gap) < (arrival.section, arrival.gap) }
      let row = change.newRow + waiting.sum(before: before) - waiting.sum(before: firstHere)
      let flat = change.newFlat + waiting.sum(before: before)
      if step.kind == .moveRow {
        step.toSection = arrival.section
        step.toRow = row
        step.toFlat = flat
      } else {
        step.section = arrival.section
        step.row = row
        step.flat = flat
      }
      steps.append(step)
    }
  }

  /// Where a row that has not moved yet is when `turn` arrivals are done.
  private func source(of index: Int, turn: Int, waiting: FenwickTree) -> (row: Int, flat: Int) {
    let leaver = leavers[index]
    let firstHere = leavers.partitionPoint { $0.section < leaver.section }
    let waitingBefore = waiting.sum(before: index)
    // Arrivals of the same gap stand before its leavers.
    let arrived = min(
      turn, arrivals.partitionPoint { ($0.section, $0.gap) <= (leaver.section, leaver.gap) })
    let arrivedEarlier = min(turn, arrivals.partitionPoint { $0.section < leaver.section })
    return (
      row: leaver.gap + waitingBefore - waiting.sum(before: firstHere) + arrived - arrivedEarlier,
      flat: leaver.flat - (index - waitingBefore) + arrived
    )
  }

  /// With each change, the number of rows before it in its section that are not in `changes`, which
  /// are in order.
  private static func gaps(
    of changes: [Change], section: (Change) -> Int, row: (Change) -> Int
  ) -> [(change: Change, gap: Int)] {
    var current = -1
    var before = 0
    return changes.map { change in
      if section(change) != current {
        current = section(change)
        before = 0
      }
      defer { before += 1 }
      return (change, row(change) - before)
    }
  }
}
