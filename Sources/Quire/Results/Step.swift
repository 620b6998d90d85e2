/// One of the steps that turn the old list into the new one when applied one after the other; every
/// number is valid in the state at that moment.
///
/// The destination of a move is counted after the row was taken out of its source: remove, then
/// insert there. Toolkits that count it before (Qt) add one when a row moves down inside its
/// section. A section is empty when it is inserted and when it is deleted. Numbers without a
/// meaning are -1; the id of a section's step is 0, since -1 names an object.
struct Step: Hashable, Sendable {
  enum Kind: Int, Sendable {
    case insertRow = 1
    case deleteRow, moveRow, updateRow, insertSection, deleteSection
  }

  var kind: Kind
  var id: Int64 = 0
  var section: Int
  var row = -1
  var toSection = -1
  var toRow = -1
  var flat = -1
  var toFlat = -1
}
