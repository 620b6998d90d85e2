import Testing

@testable import QuireCore

/// What a save has changed, as bytes in the change journal.
@Suite struct JournalEntryTests {
  private let model: Model

  init() throws {
    model = try LibraryFixture.makeModel()
    try model.freeze()
  }

  private func entity(_ name: String) throws -> Entity { try #require(model.entities.first { $0.name == name }) }

  private func rows(_ ids: [Int64], of name: String) throws -> ContiguousArray<RowIdentifier> {
    let number = Int32(try entity(name).number)
    return ContiguousArray(ids.map { RowIdentifier(id: $0, entity: number) })
  }

  private func decoded(_ change: StoreChange) throws -> StoreChange {
    let bytes = try #require(JournalEntry.encoded(change))
    return try #require(JournalEntry.decoded(bytes, model))
  }

  @Test(arguments: Dice.seeds(20)) func anEntrySaysWhatWasChanged(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    func ids() -> Set<Int64> {
      var ids: Set<Int64> = []
      for _ in 0..<dice.roll(6) {
        let first = Int64(dice.roll(1 << 20)) << Int64(dice.roll(40))
        let start = dice.roll(8) == 0 ? -first : first
        for offset in 0..<Int64(dice.roll(30)) { ids.insert(start + offset) }
      }
      return ids
    }
    var change = StoreChange()
    for name in ["Book", "Author", "Company"] {
      change.inserted += try rows(Array(ids()), of: name)
      change.updated += try rows(Array(ids()), of: name)
      change.deleted += try rows(Array(ids()), of: name)
    }
    for relationship in try entity("Author").relationships where relationship.isToMany {
      let number = Int32(relationship.entity.number)
      change.membershipChanges.append((relationship, ids().map { RowIdentifier(id: $0, entity: number) }))
    }
    let found = try decoded(change)
    #expect(Set(found.inserted) == Set(change.inserted))
    #expect(Set(found.updated) == Set(change.updated))
    #expect(Set(found.deleted) == Set(change.deleted))
    #expect(found.inserted.count == change.inserted.count)
    for (relationship, owners) in change.membershipChanges where !owners.isEmpty {
      let read = try #require(found.membershipChanges.first { $0.relationship === relationship })
      #expect(Set(read.owners) == Set(owners))
    }
  }

  @Test func aMillionRowsInARowTakeSomeBytes() throws {
    var change = StoreChange()
    change.inserted = try rows(Array(1...1_000_000), of: "Book")
    let bytes = try #require(JournalEntry.encoded(change)), found = try decoded(change)
    #expect(bytes.count < 10)
    #expect(found.inserted == change.inserted)
  }

  @Test func theLeastAndTheGreatestIDsAreKept() throws {
    var change = StoreChange()
    change.updated = try rows([.min, .min + 1, -1, 0, 1, .max - 1, .max], of: "Book")
    let found = try decoded(change)
    #expect(found.updated == change.updated)
  }

  @Test func whatIsTooMuchOrUnknownIsNoEntry() throws {
    var change = StoreChange()
    change.updated = try rows((0..<60_000).map { $0 * 3 }, of: "Book")
    #expect(JournalEntry.encoded(change) == nil)
    #expect(JournalEntry.encoded(.unknown) == nil)
  }

  @Test(arguments: Dice.seeds(20)) func anyBytesAreReadOrRefused(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    var change = StoreChange()
    change.updated = try rows([1, 2, 3, 9, 70_000], of: "Book")
    let whole = try #require(JournalEntry.encoded(change))
    for _ in 0..<200 {
      var bytes = Array(whole.buffer)
      for _ in 0...dice.roll(3) {
        switch dice.roll(3) {
        case 0: bytes[dice.roll(bytes.count)] = UInt8(dice.roll(256))
        case 1: bytes.append(UInt8(dice.roll(256)))
        default: if bytes.count > 1 { bytes.removeLast() }
        }
      }
      if let found = JournalEntry.decoded(Bytes(bytes), model) { #expect(found.rowCount < 1 << 24) }
    }
  }
}
