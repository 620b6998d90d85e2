/// What a save decided: the primary keys of the inserted objects that had none yet.
///
/// Versions follow from the request: `Insert.savedVersion` and `Update.savedVersion`.
struct SaveResult {
  let permanentIDs: PermanentIDs
  /// What the save made of derived attributes, of rows of the request and of others.
  var derived: [DerivedValue] = []
  /// Who lost members in relationships without inverse, because they were deleted or given to another, as in
  /// `StoreChange`.
  var ownersLosingMembers: [(relationship: Relationship, owners: [RowIdentifier])] = []
}
