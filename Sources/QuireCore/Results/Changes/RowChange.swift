/// What became of one object in a batch: its key from now on, or nil when it is not (or no longer)
/// in the list.
struct RowChange {
  var id: Int64
  var newKey: RowKey?
  /// False when only the place is in question, as under a new sort order: a row that keeps it is
  /// not reported.
  var isUpdated = true
  /// True of a row that is in the list and stays where it is; `newKey` is nil then.
  var keepsPlace = false
  /// Its changed properties.
  var keys = ChangedKeys()
  /// The same as the report of a row that stays in the list names it.
  var names: [Text] = []
  /// The values of a row in the list for aggregates.
  var values: [Value] = []

  /// Whether the row belongs to the list.
  var isIn: Bool { newKey != nil || keepsPlace }
}
