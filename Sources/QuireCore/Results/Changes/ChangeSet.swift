/// Everything one batch did to a list, in three forms: Core Data's two frames, linear steps, and a
/// map of positions.
final class ChangeSet {
  /// Deletes descending by old place; then inserts, moves and updates, each ascending by new place.
  /// A move implies its row's update.
  let changes: [Change]
  /// Deletes descending by old index, then inserts ascending by new index.
  let sectionChanges: [SectionChange]
  /// Of the whole list, then by section in the list after the batch.
  let aggregateChanges: [AggregateChange]
  let oldCount: Int
  let newCount: Int
  let oldSectionCount: Int
  let newSectionCount: Int
  /// Whether rows that are not among the changes may show other values.
  let contentsMayDiffer: Bool
  /// Where the lists begin that this one consists of; empty when there is but one.
  let parts: [Part]
  /// The ids of rows that are not touched but drawn into a range (`gaps`), by the number of such rows before them.
  var drawn: [Int: Int64] = [:]

  /// The first section and the first row of one of several lists, in both frames.
  struct Part {
    let oldSection: Int
    let oldFlat: Int
    let newSection: Int
    let newFlat: Int
  }

  /// The same as steps to apply one after the other; worked out at the first call, in O(k log k).
  /// The steps that insert or delete a section come in the order of `sectionChanges`, which knows
  /// the names.
  private(set) lazy var steps: [Step] = Linearization(self).steps()

  /// Deletes and moves by old place, inserts and moves by new place: all rows not mentioned keep
  /// their order.
  private(set) lazy var removed: [Change] = changes.filter {
    $0.kind == .delete || $0.kind == .move
  }
  .sorted { $0.oldFlat < $1.oldFlat }
  private(set) lazy var placed: [Change] = changes.filter { $0.kind == .insert || $0.kind == .move }
    .sorted { $0.newFlat < $1.newFlat }

  init(
    changes: [Change], sectionChanges: [SectionChange], oldCount: Int, newCount: Int,
    oldSectionCount: Int,
    newSectionCount: Int, aggregateChanges: [AggregateChange] = [], parts: [Part] = [], contentsMayDiffer: Bool = false
  ) {
    self.changes = changes
    self.sectionChanges = sectionChanges
    self.aggregateChanges = aggregateChanges
    self.oldCount = oldCount
    self.newCount = newCount
    self.oldSectionCount = oldSectionCount
    self.newSectionCount = newSectionCount
    self.parts = parts
    self.contentsMayDiffer = contentsMayDiffer
  }

  /// Whether there is nothing to report.
  var isEmpty: Bool {
    changes.isEmpty && sectionChanges.isEmpty && aggregateChanges.isEmpty && !contentsMayDiffer
  }

  /// Where the row at an old position is now; nil when it was deleted, or when there was no such
  /// position.
  func mapPosition(oldFlat: Int) -> Int? {
    guard (0..<oldCount).contains(oldFlat) else { return nil }
    let before = removed.partitionPoint { $0.oldFlat < oldFlat }
    if before < removed.count, removed[before].oldFlat == oldFlat {
      return removed[before].kind == .move ? removed[before].newFlat : nil
    }
    let rank = oldFlat - before
    return rank + placed.partitionPoint { $1.newFlat - $0 <= rank }
  }

  /// Where the row at a new position was; nil when it is new, or when there is no such position.
  func mapPosition(newFlat: Int) -> Int? {
    guard (0..<newCount).contains(newFlat) else { return nil }
    let before = placed.partitionPoint { $0.newFlat < newFlat }
    if before < placed.count, placed[before].newFlat == newFlat {
      return placed[before].kind == .move ? placed[before].oldFlat : nil
    }
    let rank = newFlat - before
    return rank + removed.partitionPoint { $1.oldFlat - $0 <= rank }
  }
}

extension ChangeSet {
  /// The same changes with those of aggregates.
  func calculating(_ aggregateChanges: [AggregateChange]) -> ChangeSet {
    if aggregateChanges.isEmpty { return self }
    let set = ChangeSet(
      changes: changes, sectionChanges: sectionChanges, oldCount: oldCount, newCount: newCount,
      oldSectionCount: oldSectionCount, newSectionCount: newSectionCount, aggregateChanges: aggregateChanges,
      contentsMayDiffer: contentsMayDiffer)
    set.drawn = drawn
    return set
  }

  /// The same set, which with `mayDiffer` says that other rows may show other values, too.
  func telling(contentsMayDiffer mayDiffer: Bool) -> ChangeSet {
    mayDiffer ? replacing(changes, mayDiffer: true) : self
  }

  /// The same set with other changes of rows.
  func replacing(_ changes: [Change]) -> ChangeSet { replacing(changes, mayDiffer: contentsMayDiffer) }

  private func replacing(_ changes: [Change], mayDiffer: Bool) -> ChangeSet {
    let set = ChangeSet(
      changes: changes, sectionChanges: sectionChanges, oldCount: oldCount, newCount: newCount,
      oldSectionCount: oldSectionCount, newSectionCount: newSectionCount, aggregateChanges: aggregateChanges,
      parts: parts, contentsMayDiffer: mayDiffer)
    set.drawn = drawn
    return set
  }

  /// The same changes with other ids for rows that got permanent ones.
  func renaming(_ ids: [Int64: Int64]) -> ChangeSet {
    let set = replacing(
      changes.map { change in
        var change = change
        change.id = ids[change.id] ?? change.id
        return change
      })
    set.drawn = drawn.mapValues { ids[$0] ?? $0 }
    return set
  }
}
