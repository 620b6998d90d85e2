/// What a batch request did to the file, for contexts to take over.
struct StoreChange {
  var inserted: ContiguousArray<RowIdentifier> = []
  /// Rows of which some value or the version is another than before.
  var updated: ContiguousArray<RowIdentifier> = []
  var deleted: ContiguousArray<RowIdentifier> = []
  /// Objects whose to-many relationship holds others than before.
  var regrouped: [(relationship: Relationship, owners: [RowIdentifier])] = []
}
