/// What became of one object in a batch: its key from now on, or nil when it is not (or no longer)
/// in the list.
struct RowChange {
  var id: Int64
  var newKey: RowKey?
  /// False when only the place is in question, as under a new sort order: a row that keeps it is
  /// not reported.
  var isUpdated = true
  /// What to name in the report of a row that stays in the list.
  var keys = ChangedKeys()
  /// What aggregates have to know of a row that is in the list.
  var values: [Value] = []
}
