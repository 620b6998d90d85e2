import Testing

@testable import QuireCore

@Suite("Sectioned index: examples")
struct SectionedIndexTests {
  private func index(_ rows: [(Int64, String, String)], isSectioned: Bool = true) -> SectionedIndex {
    let index = SectionedIndex(isSectioned: isSectioned)
    let model = ListModel(
      isSectioned: isSectioned,
      keys: Dictionary(
        uniqueKeysWithValues: rows.map { ($0.0, ListModel.key($0.1, $0.2, id: $0.0)) }))
    index.load(model.rows.map { (id: $0.id, key: $0.key) })
    return index
  }

  private func put(_ id: Int64, _ section: String, _ name: String) -> RowChange {
    RowChange(id: id, newKey: ListModel.key(section, name, id: id))
  }

  private func drop(_ id: Int64) -> RowChange { RowChange(id: id, newKey: nil) }

  private func insert(_ id: Int64, _ section: Int, _ row: Int, flat: Int) -> Change {
    Change(kind: .insert, id: id, newSection: section, newRow: row, newFlat: flat)
  }

  private func delete(_ id: Int64, _ section: Int, _ row: Int, flat: Int) -> Change {
    Change(kind: .delete, id: id, oldSection: section, oldRow: row, oldFlat: flat)
  }

  private func names(_ index: SectionedIndex) -> [String] {
    (0..<index.sectionCount).compactMap { index.section(at: $0)?.key.name.string }
  }

  @Test("A delete, two content edits, a sort edit and two inserts in one section are six changes")
  func sixChanges() {
    let list = index(
      [(1, "", "a"), (2, "", "b"), (3, "", "c"), (4, "", "d"), (5, "", "e")], isSectioned: false)
    let set = list.apply([
      drop(1), put(2, "", "b"), put(3, "", "c"), put(5, "", "a"), put(6, "", "bb"), put(7, "", "z"),
    ])
    #expect(set.sectionChanges.isEmpty)
    #expect(set.changes.map(\.kind) == [.delete, .insert, .insert, .move, .update, .update])
    #expect(set.changes.map(\.id) == [1, 6, 7, 5, 2, 3])
    #expect(list.ids(in: 0..<6) == [5, 2, 6, 3, 4, 7])
  }

  @Test("Renaming every row of two sections deletes both, inserts one, and moves the rows")
  func renamedSections() {
    let list = index([(1, "Adams", "x"), (2, "Adams", "y"), (3, "Brown", "x"), (4, "Cole", "x")])
    let set = list.apply([put(1, "Z", "x"), put(2, "Z", "y"), put(3, "Z", "x")])
    #expect(
      set.sectionChanges == [
        SectionChange(kind: .delete, index: 1, name: "Brown"),
        SectionChange(kind: .delete, index: 0, name: "Adams"),
        SectionChange(kind: .insert, index: 1, name: "Z"),
      ])
    #expect(set.changes.map(\.kind) == [.move, .move, .move])
    #expect(list.section(at: 1)?.count == 3)
  }

  @Test("A row that opens a section of its own is a section insert and a move")
  func moveIntoNewSection() {
    let list = index([(1, "Engineering", "Alice"), (2, "Engineering", "Bob")])
    let set = list.apply([put(2, "Sales", "Bob")])
    #expect(set.sectionChanges == [SectionChange(kind: .insert, index: 1, name: "Sales")])
    #expect(
      set.changes == [
        Change(
          kind: .move, id: 2, oldSection: 0, oldRow: 1, oldFlat: 1, newSection: 1, newRow: 0,
          newFlat: 1)
      ])
    #expect(list.path(of: 2)?.path == IndexPath(section: 1, row: 0))
    #expect(
      set.steps == [
        Step(kind: .insertSection, section: 1),
        Step(kind: .moveRow, id: 2, section: 0, row: 1, toSection: 1, toRow: 0, flat: 1, toFlat: 1),
        Step(kind: .updateRow, id: 2, section: 1, row: 0, flat: 1),
      ])
  }

  @Test("A row inserted after another of its section is one insert")
  func insertIntoSection() {
    let list = index([(1, "Engineering", "Alice")])
    let set = list.apply([put(2, "Engineering", "Bob")])
    #expect(set.changes == [insert(2, 0, 1, flat: 1)])
    #expect(set.sectionChanges.isEmpty)
  }

  @Test("A deleted row is one delete")
  func deleteFromSection() {
    let list = index([(1, "Engineering", "Alice"), (2, "Engineering", "Bob")])
    let set = list.apply([drop(2)])
    #expect(set.changes == [delete(2, 0, 1, flat: 1)])
    #expect(set.sectionChanges.isEmpty)
    #expect(!list.contains(2))
    #expect(list.path(of: 2) == nil)
  }

  @Test("A row whose keys stay is an update, with its place in both frames")
  func updateInPlace() {
    let list = index([(1, "Engineering", "Alice"), (2, "Engineering", "Bob")])
    let set = list.apply([put(1, "Engineering", "Alice")])
    #expect(
      set.changes == [
        Change(
          kind: .update, id: 1, oldSection: 0, oldRow: 0, oldFlat: 0, newSection: 0, newRow: 0,
          newFlat: 0)
      ])
  }

  @Test("A row that stops matching is a delete, and an insert when it matches again")
  func leavesAndReturns() {
    let list = index([(1, "", "Alice")], isSectioned: false)
    #expect(list.apply([drop(1)]).changes == [delete(1, 0, 0, flat: 0)])
    #expect(list.path(of: 1) == nil)
    #expect(list.sectionCount == 1)
    #expect(list.apply([put(1, "", "Alice")]).changes == [insert(1, 0, 0, flat: 0)])
  }

  @Test("A row that was not in the list and still is not changes nothing")
  func neverMatched() {
    let list = index([(1, "Engineering", "Alice")])
    #expect(list.apply([drop(3)]).isEmpty)
    #expect(list.count == 1)
  }

  @Test("The delete of the last row leaves an empty list")
  func lastRowDeleted() {
    let list = index([(304, "", "plate")], isSectioned: false)
    #expect(list.apply([drop(304)]).changes == [delete(304, 0, 0, flat: 0)])
    #expect(list.count == 0)
    #expect(list.ids(in: 0..<10).isEmpty)
  }

  @Test(
    "A sole row that changes its section key is a section delete, a section insert and one move")
  func soleRowRenamed() {
    let list = index([(1, "B", "x")])
    let set = list.apply([put(1, "C", "x")])
    #expect(
      set.sectionChanges == [
        SectionChange(kind: .delete, index: 0, name: "B"),
        SectionChange(kind: .insert, index: 0, name: "C"),
      ])
    #expect(set.changes.map(\.kind) == [.move])
    #expect(
      set.steps == [
        Step(kind: .insertSection, section: 0),
        Step(kind: .moveRow, id: 1, section: 1, row: 0, toSection: 0, toRow: 0, flat: 0, toFlat: 0),
        Step(kind: .deleteSection, section: 1),
        Step(kind: .updateRow, id: 1, section: 0, row: 0, flat: 0),
      ])
  }

  @Test("A section whose only row is exchanged for another stays")
  func sectionRefilledInOneBatch() {
    let list = index([(1, "A", "x"), (2, "B", "x"), (3, "B", "y")])
    let set = list.apply([put(1, "B", "z"), put(2, "A", "x")])
    #expect(set.sectionChanges.isEmpty)
    #expect(set.changes.map(\.kind) == [.move, .move])
    #expect(names(list) == ["A", "B"])
  }

  @Test("A sort key that changes between the same neighbours is an update")
  func sortKeyChangedInPlace() {
    let list = index([(1, "", "a"), (2, "", "c"), (3, "", "e")], isSectioned: false)
    #expect(list.apply([put(2, "", "d")]).changes.map(\.kind) == [.update])
    #expect(list.key(of: 2)?.order == ListModel.key("", "d", id: 2).order)
  }

  @Test("Two neighbours that swap are one move and one update")
  func swappedNeighbours() {
    let list = index([(1, "", "a"), (2, "", "b"), (3, "", "c")], isSectioned: false)
    let set = list.apply([put(1, "", "bb"), put(2, "", "b")])
    #expect(set.changes.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.move, .update])
  }

  @Test("A row moved to another section with the same index path is still a move")
  func samePathOtherSection() {
    let list = index([(1, "A", "x"), (2, "B", "x")])
    let set = list.apply([put(1, "AA", "x")])
    #expect(
      set.changes == [
        Change(
          kind: .move, id: 1, oldSection: 0, oldRow: 0, oldFlat: 0, newSection: 0, newRow: 0,
          newFlat: 0)
      ])
    #expect(set.sectionChanges.map(\.kind) == [.delete, .insert])
  }

  @Test("An empty list has one section without a section key and none with one")
  func emptyLists() {
    #expect(SectionedIndex(isSectioned: false).sectionCount == 1)
    #expect(SectionedIndex(isSectioned: true).sectionCount == 0)
  }

  @Test("Places outside the list are nil, and windows are clamped")
  func outsideTheList() {
    let list = index([(1, "A", "x"), (2, "B", "x")])
    for flat in [Int.min, -1, 2, Int.max] {
      #expect(list.id(atFlat: flat) == nil)
      #expect(list.sectionIndex(containingFlat: flat) == nil)
      #expect(list.id(at: IndexPath(section: 0, row: flat)) == nil)
      #expect(list.id(at: IndexPath(section: flat, row: 0)) == nil)
      #expect(list.section(at: flat) == nil)
    }
    #expect(list.ids(in: -5..<Int.max) == [1, 2])
    #expect(list.ids(in: 7..<9).isEmpty)
  }

  @Test("Rows loaded out of order or twice end up sorted and single")
  func carelessLoad() {
    let list = SectionedIndex(isSectioned: true, rowsPerBlock: 2)
    let names = ["b", "a", "d", "c", "e"]
    var rows = names.enumerated().map { position, name in
      (
        id: Int64(position + 1),
        key: ListModel.key(name < "d" ? "S" : "T", name, id: Int64(position + 1))
      )
    }
    rows.append(rows[0])
    rows.append((id: 5, key: ListModel.key("T", "z", id: 5)))
    list.load(rows)
    #expect(list.checkInvariants().isEmpty)
    #expect(list.ids(in: 0..<9) == [2, 1, 4, 3, 5])
  }

  @Test("Of several changes of one id the last holds")
  func repeatedChange() {
    let list = index([(1, "A", "x")])
    let set = list.apply([put(2, "A", "y"), put(1, "A", "z"), drop(2), put(1, "A", "x")])
    #expect(set.changes.map(\.kind) == [.update])
    #expect(list.count == 1)
  }

  @Test("A row whose place alone is in question is reported only when it moves")
  func resortedRows() {
    let list = index([(1, "", "a"), (2, "", "b"), (3, "", "c")], isSectioned: false)
    let names: [Int64: String] = [1: "k", 2: "l", 3: "j"]
    let set = list.apply(
      names.keys.sorted().map {
        RowChange(id: $0, newKey: ListModel.key("", names[$0] ?? "", id: $0), isUpdated: false)
      })
    #expect(set.changes.map(\.kind) == [.move])
    #expect(set.changes.map(\.id) == [3])
  }

  @Test("A temporary id becomes permanent without moving its row")
  func permanentID() {
    let list = index([(-2, "A", "x"), (-1, "A", "x"), (5, "A", "x"), (6, "B", "x")])
    #expect(list.ids(in: 0..<4) == [5, -1, -2, 6])
    #expect(list.replaceID(-1, with: 7, key: ListModel.key("A", "x", id: 7)))
    #expect(list.replaceID(-2, with: 8, key: ListModel.key("A", "x", id: 8)))
    #expect(list.ids(in: 0..<4) == [5, 7, 8, 6])
    #expect(list.path(of: 8)?.flat == 2)
    #expect(!list.contains(-1))
    #expect(list.checkInvariants().isEmpty)
  }

  @Test("An id is not replaced by one that is there, or whose key belongs elsewhere")
  func refusedReplacement() {
    let list = index([(1, "A", "a"), (-1, "A", "b"), (3, "A", "c")])
    #expect(!list.replaceID(-1, with: 3, key: ListModel.key("A", "b", id: 3)))
    #expect(!list.replaceID(-1, with: 9, key: ListModel.key("A", "d", id: 9)))
    #expect(!list.replaceID(-1, with: 9, key: ListModel.key("B", "b", id: 9)))
    #expect(!list.replaceID(-7, with: 9, key: ListModel.key("A", "b", id: 9)))
    #expect(list.ids(in: 0..<3) == [1, -1, 3])
    #expect(list.checkInvariants().isEmpty)
  }

  @Test("Very long keys split a block early and keep their order")
  func longKeys() {
    let list = SectionedIndex(isSectioned: false)
    let long = String(repeating: "k", count: 20_000)
    for id in (1...40 as ClosedRange<Int64>).reversed() {
      _ = list.apply([put(id, "", long + "\(id % 7)")])
    }
    #expect(list.checkInvariants().isEmpty)
    let expected = (1...40 as ClosedRange<Int64>).sorted { ($0 % 7, $0) < ($1 % 7, $1) }
    #expect(list.ids(in: 0..<40) == expected)
  }
}
