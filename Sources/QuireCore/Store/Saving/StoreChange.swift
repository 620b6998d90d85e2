/// The changes of a save or a batch request, for contexts to take over.
struct StoreChange: Sendable {
  var inserted: ContiguousArray<RowIdentifier> = []
  /// Rows of which some value or the version is another than before.
  var updated: ContiguousArray<RowIdentifier> = []
  var deleted: ContiguousArray<RowIdentifier> = []
  /// Those of the updated rows that were deleted and inserted again in between.
  var returned: ContiguousArray<RowIdentifier> = []
  /// Objects whose to-many relationship has other members than before. They are known to be of the relationship's
  /// entity, but not of which one under it.
  var membershipChanges: [(relationship: Relationship, owners: [RowIdentifier])] = []
}
