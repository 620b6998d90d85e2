import CQuire

/// A change set with its records as C sees them. Rows and steps are made when they are first asked for, by whatever
/// thread: of a large set many programs need the number alone.
final class ExportedChanges: @unchecked Sendable {
  let changes: ChangeSet
  let sections: UnsafeMutableBufferPointer<quire_section_change>
  let parts: UnsafeMutableBufferPointer<quire_child_frame>
  let aggregates: UnsafeMutableBufferPointer<quire_aggregate_change>
  /// Guards what the change set works out when it is first asked.
  private let made = Guarded<Made>(Made())

  private struct Made: @unchecked Sendable {
    var rows: UnsafeMutableBufferPointer<quire_change>?
    /// The keys of rows, one list for all that have the same.
    var keys: [[Text]: UnsafeMutableBufferPointer<quire_string>] = [:]
    var steps: UnsafeMutableBufferPointer<quire_step>?
    var plans: [Int: UnsafeMutableBufferPointer<quire_step>] = [:]
    /// What the ids of ranges point to.
    var ids: [UnsafeMutableBufferPointer<Int64>] = []
  }

  init(_ changes: ChangeSet) {
    self.changes = changes
    sections = ExportedChanges.copy(changes.sectionChanges.map { quire_section_change($0) })
    parts = ExportedChanges.copy(
      changes.parts.map {
        quire_child_frame(
          old_section: Int64($0.oldSection), old_flat: Int64($0.oldFlat), new_section: Int64($0.newSection),
          new_flat: Int64($0.newFlat))
      })
    aggregates = ExportedChanges.copy(changes.aggregateChanges.map { quire_aggregate_change($0) })
  }

  deinit {
    sections.deallocate()
    parts.deallocate()
    aggregates.deallocate()
    made.withLock { made in
      made.rows?.deallocate()
      for list in made.keys.values { list.deallocate() }
      made.steps?.deallocate()
      for plan in made.plans.values { plan.deallocate() }
      for ids in made.ids { ids.deallocate() }
    }
  }

  var rowCount: Int { changes.changes.count }

  var rows: UnsafeMutableBufferPointer<quire_change> {
    let made = made.withLock { made in
      if made.rows == nil { makeRows(&made) }
      return made
    }
    return made.rows ?? UnsafeMutableBufferPointer(start: nil, count: 0)
  }

  private func makeRows(_ made: inout Made) {
    // Most rows that follow each other have one list of keys.
    var last = (keys: [Text](), list: ExportedChanges.none)
    made.rows = ExportedChanges.copy(
      changes.changes.map { change in
        if change.keys != last.keys {
          last = (change.keys, made.keys[change.keys] ?? ExportedChanges.copy(change.keys.map(\.lent)))
          made.keys[change.keys] = last.list
        }
        return quire_change(change, UnsafeBufferPointer(last.list))
      })
  }

  var steps: UnsafeMutableBufferPointer<quire_step> {
    let made = made.withLock { made in
      if made.steps == nil { made.steps = ExportedChanges.copy(changes.steps.map { quire_step($0) }) }
      return made
    }
    return made.steps ?? UnsafeMutableBufferPointer(start: nil, count: 0)
  }

  func plan(_ plan: ListPlan, splitsMoves: Bool) -> UnsafeMutableBufferPointer<quire_step> {
    let key = plan.rawValue * 2 + (splitsMoves ? 1 : 0)
    let made = made.withLock { made in
      if made.plans[key] == nil {
        let steps = plan.steps(of: changes, splitsMoves: splitsMoves)
        let ids = ExportedChanges.copy(steps.flatMap { $0.removedIDs + $0.insertedIDs })
        made.ids.append(ids)
        var next = UnsafePointer(ids.baseAddress)
        made.plans[key] = ExportedChanges.copy(
          steps.map { step in
            var exported = quire_step(step)
            if step.kind == .replaceRows {
              exported.removed_ids = step.removed > 0 ? next : nil
              exported.inserted_ids = step.inserted > 0 ? next.map { $0 + step.removed } : nil
              next = next.map { $0 + step.removed + step.inserted }
            }
            return exported
          })
      }
      return made
    }
    return made.plans[key] ?? UnsafeMutableBufferPointer(start: nil, count: 0)
  }

  /// -1 for rows that are gone.
  func mapPositions(_ rows: UnsafeBufferPointer<Int64>, into out: UnsafeMutableBufferPointer<Int64>) {
    made.withLock { _ in
      for (place, row) in rows.enumerated() { out[place] = Int64(changes.mapPosition(oldFlat: Int(row)) ?? -1) }
    }
  }

  private static var none: UnsafeMutableBufferPointer<quire_string> { UnsafeMutableBufferPointer(start: nil, count: 0) }

  private static func copy<Record>(_ records: [Record]) -> UnsafeMutableBufferPointer<Record> {
    let memory = UnsafeMutableBufferPointer<Record>.allocate(capacity: records.count)
    _ = memory.initialize(from: records)
    return memory
  }
}
