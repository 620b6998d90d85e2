/// What one transaction has changed, for the history.
struct HistoryRecord {
  var inserted: [RowIdentifier] = []
  /// Rows of which some value is another than before.
  var updated: [RowIdentifier] = []
  var deleted: [RowIdentifier] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// Each row once: one that came counts as inserted, one that went as deleted.
  mutating func settle() {
    var seen = Set(deleted)
    if !updated.isEmpty {
      seen.formUnion(inserted)
      updated = updated.filter { seen.insert($0).inserted }
    }
    inserted.sort(by: HistoryRecord.isBefore)
    updated.sort(by: HistoryRecord.isBefore)
    deleted.sort(by: HistoryRecord.isBefore)
  }

  private static func isBefore(_ left: RowIdentifier, _ right: RowIdentifier) -> Bool {
    (left.entity, left.id) < (right.entity, right.id)
  }
}
