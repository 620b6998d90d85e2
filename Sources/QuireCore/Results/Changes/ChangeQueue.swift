/// Change sets that wait to be taken, oldest first. Adding, taking and renaming cost what they touch.
struct ChangeQueue {
  private var waiting: [ChangeSet?] = []
  private var first = 0
  /// Places in `waiting` of change sets with temporary ids.
  private var unsettled: [Int] = []

  /// What was taken last leaves nothing behind.
  var isEmpty: Bool { waiting.isEmpty }

  mutating func append(_ changes: ChangeSet) {
    if changes.changes.contains(where: { $0.id < 0 }) { unsettled.append(waiting.count) }
    waiting.append(changes)
  }

  mutating func takeFirst() -> ChangeSet? {
    guard first < waiting.count else { return nil }
    let changes = waiting[first]
    waiting[first] = nil
    first += 1
    if first == waiting.count {
      self = ChangeQueue()
    } else if first > 32, first * 2 > waiting.count {
      waiting.removeFirst(first)
      unsettled = unsettled.compactMap { $0 < first ? nil : $0 - first }
      first = 0
    }
    return changes
  }

  /// Replaces the ids of rows by the permanent ids that they got meanwhile.
  mutating func rename(_ ids: [Int64: Int64]) {
    unsettled.removeAll { place in
      guard let changes = waiting[place]?.renaming(ids) else { return true }
      waiting[place] = changes
      return !changes.changes.contains { $0.id < 0 }
    }
  }
}
