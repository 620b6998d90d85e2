/// The decisions of a save: the primary keys of the inserted objects that had none yet.
///
/// Versions follow from the request: `Insert.savedVersion` and `Update.savedVersion`.
struct SaveResult {
  let permanentIDs: PermanentIDs
  /// What the save made of derived attributes, of rows of the request and of others.
  var derived: [DerivedValue] = []
  /// The owners that lost members in relationships without inverse, because the members were deleted or got another
  /// owner. As in `StoreChange`.
  var ownersLosingMembers: [(relationship: Relationship, owners: [RowIdentifier])] = []
}
