/// Section indexes of the state between the frames, in which the new sections are already there and
/// the old ones all still are. A new section stands right after the one before it in the new list,
/// before any section that will go.
struct SectionFrames {
  /// Old indexes, ascending.
  let deleted: [Int]
  /// New sections by their index in the middle state, ascending.
  private(set) var inserted: [Int] = []
  /// New indexes of the inserted sections, ascending, and how many old sections stand before each.
  private let insertedNew: [Int]
  private var oldBefore: [Int] = []

  init(_ set: ChangeSet) {
    deleted = set.sectionChanges.filter { $0.kind == .delete }.map(\.index).reversed()
    insertedNew = set.sectionChanges.filter { $0.kind == .insert }.map(\.index)
    for (position, index) in insertedNew.enumerated() {
      let survivorsBefore = index - position
      let before = survivorsBefore == 0 ? 0 : oldIndex(ofSurvivor: survivorsBefore - 1) + 1
      oldBefore.append(before)
      inserted.append(before + position)
    }
  }

  private func oldIndex(ofSurvivor rank: Int) -> Int {
    rank + deleted.partitionPoint { $1 - $0 <= rank }
  }

  func middle(ofOld index: Int) -> Int {
    index + oldBefore.partitionPoint { $0 <= index }
  }

  func middle(ofNew index: Int) -> Int {
    let position = insertedNew.partitionPoint { $0 < index }
    if position < insertedNew.count, insertedNew[position] == index { return inserted[position] }
    return middle(ofOld: oldIndex(ofSurvivor: index - position))
  }
}
