/// One of the steps that turn the old list into the new one, in the linear form or as one kind of list view takes them.
///
/// In the linear form they apply one after the other, and every number is valid in the state at that moment. The
/// destination of a move is counted after the row was taken out of its source: remove, then insert there. A section is
/// empty when it is inserted and when it is deleted. Numbers without a meaning are -1. Without a row the id is 0, since
/// -1 names an object.
struct Step: Hashable, Sendable {
  enum Kind: Int, Sendable {
    case insertRow = 1
    case deleteRow, moveRow, updateRow, insertSection, deleteSection
    /// In plans only: a range of a flat list.
    case replaceRows
  }

  var kind: Kind
  var id: Int64 = 0
  var section = -1
  var row = -1
  var toSection = -1
  var toRow = -1
  var flat = -1
  var toFlat = -1
  var removed = -1
  var inserted = -1
  var removedIDs: [Int64] = []
  var insertedIDs: [Int64] = []
}
