/// What a save or a batch request did to the file, for contexts to take over.
struct StoreChange: Sendable {
  var inserted: ContiguousArray<RowIdentifier> = []
  /// Rows of which some value or the version is another than before.
  var updated: ContiguousArray<RowIdentifier> = []
  var deleted: ContiguousArray<RowIdentifier> = []
  /// Those of the updated rows that were deleted and inserted again in between.
  var returned: ContiguousArray<RowIdentifier> = []
  /// Objects whose to-many relationship holds others than before. That they are of the relationship's entity is known,
  /// not of which under it.
  var membershipChanges: [(relationship: Relationship, owners: [RowIdentifier])] = []
}
