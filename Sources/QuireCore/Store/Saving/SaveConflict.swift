/// Why a save was not written, as far as a merge policy can settle it.
enum SaveConflict: Sendable {
  /// The row has another version than it was read with, or is gone.
  case changed(ObjectReference)
  /// Another writer has had that row refer, through the inverse of the relationship, to one that was to be deleted.
  case referred(ObjectReference, by: RowIdentifier, Relationship)
  /// Something was to refer to a row that is gone.
  case missing(ObjectReference)
  /// There is a row with the id of an object that was to be inserted.
  case taken(ObjectReference)
}
