/// A row of a batch while the batch is worked out: where it was, where it is, and what to call
/// that. Sorted and copied all the time, so that nothing in it is counted.
struct TouchedRow {
  struct Place {
    /// The section itself: its index may differ between the frames, and another section may have
    /// the same index.
    var identity: CountedForest.Handle
    var section: Int
    var row: Int
    var flat: Int
  }

  var id: Int64
  /// False when a row that keeps its place is not worth a report.
  var isUpdated = true
  var old: Place?
  var new: Place?
  /// Set by the classifier; nil when there is nothing to report.
  var kind: Change.Kind?

  var change: Change? {
    guard let kind else { return nil }
    return Change(
      kind: kind, id: id, oldSection: old?.section ?? -1, oldRow: old?.row ?? -1,
      oldFlat: old?.flat ?? -1,
      newSection: new?.section ?? -1, newRow: new?.row ?? -1, newFlat: new?.flat ?? -1)
  }
}
