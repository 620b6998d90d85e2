/// One row of a change set. Old places count in the list before the batch, new ones in the list after all of it. A
/// place is -1 where a frame does not know the row.
struct Change: Hashable, Sendable {
  /// Core Data's raw values.
  enum Kind: Int, Sendable {
    case insert = 1
    case delete, move, update
  }

  var kind: Kind
  var id: Int64
  var oldSection = -1
  var oldRow = -1
  var oldFlat = -1
  var newSection = -1
  var newRow = -1
  var newFlat = -1
  /// Names of properties, and key paths to what changed in related objects: of updates and moves.
  var keys: [Text] = []
}
