import Testing

@testable import QuireCore

/// New objects with the unique values of others: of an item by its code, and of a part of it by two properties.
@Suite("Uniqueness and upsert")
struct UpsertTests {
  private let store: Store
  private let context: Context
  private let existing: ManagedObject
  private let owners: [ManagedObject]
  private let tags: [ManagedObject]
  private let box: ManagedObject

  init() throws {
    let sketch = ModelSketch()
    try sketch.entity("Item", ["code": .string, "name": .string, "note": .string])
    try sketch.model.addAttribute(
      named: "count", to: "Item", type: .integer64, isOptional: true, defaultValue: .integer(0))
    try sketch.entity("Tool", parent: "Item", ["weight": .double])
    for name in ["Owner", "Tag", "Box"] { try sketch.entity(name) }
    try sketch.entity("Part", ["label": .string])
    try sketch.toOne("Item.owner", "Owner.items")
    try sketch.toMany("Owner.items", "Item.owner")
    try sketch.toMany("Item.tags", "Tag.items")
    try sketch.toMany("Tag.items", "Item.tags")
    try sketch.toOne("Part.item", "Item.parts")
    try sketch.toMany("Item.parts", "Part.item")
    try sketch.toOne("Box.item", "Item")
    try sketch.toMany("Box.items", "Item", isOrdered: true)
    try sketch.model.addUniquenessConstraint(to: "Item", properties: ["code"])
    try sketch.model.addUniquenessConstraint(to: "Part", properties: ["item", "label"])
    store = try Store.open(path: ":memory:", model: try sketch.frozen())
    context = Context(store: store)
    owners = try [context.insert(entityNamed: "Owner"), context.insert(entityNamed: "Owner")]
    tags = try [context.insert(entityNamed: "Tag"), context.insert(entityNamed: "Tag")]
    box = try context.insert(entityNamed: "Box")
    existing = try context.insert(entityNamed: "Item")
    try set(existing, ["code": .text("a"), "name": .text("old"), "count": .integer(5), "owner": object(owners[0])])
    try existing.add(tags[0], to: relation(existing, "tags"))
    try context.save()
  }

  private func object(_ object: ManagedObject) -> Value { .object(object.reference) }

  private func set(_ object: ManagedObject, _ values: KeyValuePairs<String, Value>) throws {
    for (key, value) in values { try object.set(value, for: object.entity.property(named: key)) }
  }

  private func relation(_ object: ManagedObject, _ key: String) throws -> Relationship {
    try #require(object.entity.property(named: key) as? Relationship)
  }

  private func new(_ values: KeyValuePairs<String, Value>, _ entity: String = "Item") throws -> ManagedObject {
    let item = try context.insert(entityNamed: entity)
    try set(item, values)
    return item
  }

  private func sql(_ sql: String) throws -> [String] {
    try store.withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql)
      var rows: [String] = []
      while try statement.step() {
        rows.append((0..<statement.columnCount).map { statement.text(at: $0)?.string ?? "-" }.joined(separator: "|"))
      }
      return rows
    }
  }

  private func items() throws -> [String] {
    try sql("SELECT Z_PK, ZCODE, ZNAME, ZNOTE, ZCOUNT, ZOWNER FROM ZITEM ORDER BY Z_PK")
  }

  @Test func byDefaultTheSaveFailsAndNamesTheObjectAndTheRow() throws {
    let item = try new(["code": .text("a"), "name": .text("new")])
    let failed = failure(of: { try context.save() })
    let conflict = (failed?.report as? ConflictReport)?.conflicts.first
    #expect(failed?.kind == .constraint && conflict?.kind == .unique)
    #expect(conflict?.object === item && conflict?.other === existing && conflict?.committed == nil)
    let slot = try item.entity.property(named: "name").slot
    #expect(conflict?.stored?[slot].isIdentical(to: .text("old")) == true)
    #expect(conflict?.current?[slot].isIdentical(to: .text("new")) == true)
    #expect(try context.hasChanges && items().count == 1)
  }

  @Test(arguments: [
    (MergePolicy.objectWins, "new|n|5"), (.storeWins, "old|n|5"), (.overwrite, "new|n|0"), (.rollback, "old|-|5"),
  ]) func aNewObjectIsFoldedIntoTheRowThatHasItsUniqueValues(_ policy: MergePolicy, _ values: String) throws {
    let item = try new(["code": .text("a"), "name": .text("new"), "note": .text("n"), "owner": object(owners[1])])
    try item.add(tags[1], to: relation(item, "tags"))
    let part = try new(["item": object(item), "label": .text("p")], "Part")
    try set(box, ["item": object(item)])
    try box.set([item], for: relation(box, "items"))
    context.mergePolicy = policy
    try context.save()
    #expect(!context.hasChanges && item.isDeleted && existing.isLive && context.settledCount == 1)
    let owner = policy == .objectWins || policy == .overwrite ? 1 : 0
    #expect(try items() == ["\(existing.id)|a|\(values)|\(owners[owner].id)"])
    #expect(try part.value(forKey: "item").isIdentical(to: object(existing)))
    #expect(try sql("SELECT ZITEM FROM ZPART") == ["\(existing.id)"])
    #expect(try sql("SELECT ZITEM FROM ZBOX") == ["\(existing.id)"])
    #expect(try box.objects(of: relation(box, "items")).map(\.id) == [existing.id])
    let held = try existing.objects(of: relation(existing, "tags")).map(\.id)
    #expect(held == (policy == .rollback ? [tags[0].id] : tags.map(\.id)))
    #expect(try store.newest.relatedIDs(relation(existing, "tags"), of: existing.id).map(\.id) == held)
    for (place, each) in owners.enumerated() {
      #expect(try each.objects(of: relation(each, "items")).map(\.id) == (place == owner ? [existing.id] : []))
    }
  }

  @Test(arguments: [
    (MergePolicy.objectWins, "second|x|0"), (.storeWins, "first|x|0"), (.overwrite, "second|x|0"),
    (.rollback, "first|-|0"), (.error, ""),
  ]) func ofTwoNewObjectsTheLaterIsFoldedIntoTheEarlier(_ policy: MergePolicy, _ values: String) throws {
    let first = try new(["code": .text("b"), "name": .text("first")])
    let second = try new(["code": .text("b"), "name": .text("second"), "note": .text("x")])
    context.mergePolicy = policy
    let failed = failure(of: { try context.save() })
    if policy == .error {
      let conflict = (failed?.report as? ConflictReport)?.conflicts.first
      #expect(failed?.kind == .constraint && conflict?.object === second && conflict?.other === first)
      #expect(conflict?.stored == nil)
      return
    }
    #expect(failed == nil && first.isLive && second.isDeleted)
    #expect(try items().dropFirst() == ["\(first.id)|b|\(values)|-"])
  }

  @Test func severalNewObjectsAreFoldedIntoOneRowInTheirOrder() throws {
    for name in ["x", "y", "z"] { _ = try new(["code": .text("a"), "name": .text(name)]) }
    context.mergePolicy = .objectWins
    try context.save()
    #expect(try items() == ["\(existing.id)|a|z|-|5|\(owners[0].id)"])
  }

  @Test func nilConflictsWithNothing() throws {
    for _ in 0..<3 { _ = try new(["name": .text("n")]) }
    context.mergePolicy = .objectWins
    try context.save()
    #expect(try items().count == 4 && context.settledCount == 0)
  }

  @Test func partsFollowAnItemThatIsFoldedAndAreFoldedThemselves() throws {
    let kept = try new(["item": object(existing), "label": .text("p")], "Part")
    try context.save()
    let item = try new(["code": .text("a")])
    let part = try new(["item": object(item), "label": .text("p")], "Part")
    context.mergePolicy = .objectWins
    try context.save()
    #expect(part.isDeleted && kept.isLive && item.isDeleted)
    #expect(try sql("SELECT Z_PK, ZITEM FROM ZPART") == ["\(kept.id)|\(existing.id)"])
  }

  @Test func aSavedObjectThatTakesAUniqueValueGivesItUpOrFails() throws {
    let other = try new(["code": .text("b"), "name": .text("other")])
    try context.save()
    for policy in [MergePolicy.objectWins, .overwrite, .error] {
      context.mergePolicy = policy
      try set(other, ["code": .text("a"), "note": .text("n")])
      #expect(failure(of: { try context.save() })?.kind == .constraint)
    }
    context.mergePolicy = .storeWins
    try context.save()
    #expect(try items().last == "\(other.id)|b|other|n|0|-")
    try set(other, ["code": .text("a"), "note": .text("m")])
    context.mergePolicy = .rollback
    try context.save()
    #expect(try items().last == "\(other.id)|b|other|n|0|-" && !context.hasChanges)
  }

  @Test func uniqueValuesThatAreExchangedOrBecomeFreeAreNoConflict() throws {
    let other = try new(["code": .text("b")])
    try context.save()
    context.mergePolicy = .objectWins
    try set(other, ["code": .text("a")])
    try set(existing, ["code": .text("b")])
    try context.save()
    try context.delete(existing)
    let fresh = try new(["code": .text("b")])
    try context.save()
    #expect(context.settledCount == 0 && fresh.isLive)
    #expect(try sql("SELECT Z_PK, ZCODE FROM ZITEM ORDER BY 1") == ["\(other.id)|a", "\(fresh.id)|b"])
  }

  @Test func anObjectOfASubentityIsNotFoldedIntoOneOfItsParent() throws {
    _ = try new(["code": .text("a"), "weight": .double(1)], "Tool")
    context.mergePolicy = .objectWins
    #expect(failure(of: { try context.save() })?.kind == .constraint)
    try context.rollback()
    let tool = try new(["code": .text("t")], "Tool")
    try context.save()
    let item = try new(["code": .text("t"), "name": .text("hammer")])
    try context.save()
    #expect(try item.isDeleted && tool.value(forKey: "name").isIdentical(to: .text("hammer")))
  }

  @Test func anotherWritersVersionIsSettledBeforeUniqueness() throws {
    let other = Context(store: store)
    let theirs = try other.existingObject(entityNamed: "Item", id: existing.id)
    try set(theirs, ["note": .text("theirs")])
    try other.save()
    try set(existing, ["name": .text("mine")])
    _ = try new(["code": .text("a"), "count": .integer(9)])
    var kinds: [Conflict.Kind] = []
    context.mergeHandler = MergeHandler {
      kinds.append($0.kind)
      return .objectWins
    }
    try context.save()
    #expect(kinds == [.changed, .unique])
    #expect(try items() == ["\(existing.id)|a|mine|theirs|9|\(owners[0].id)"])
  }

  // MARK: In bulk

  private func upsert(_ keys: [String], _ rows: [[Value]]) throws -> [Int64] {
    try context.insertIntoStore(
      entityNamed: "Item", keys: keys, rowCount: rows.count, merges: true, upserts: true
    ) { (column, row) throws(Failure) in rows[row][column] }.map(\.id)
  }

  @Test func rowsAreInsertedOrUpdatedByTheirUniqueValues() throws {
    try set(existing, ["note": .text("pending")])
    let ids = try upsert(
      ["code", "name"],
      [
        [.text("b"), .text("one")], [.text("a"), .text("new")], [.text("b"), .text("two")], [.nil, .text("none")],
        [.nil, .text("none")],
      ])
    #expect(ids.count == 5 && ids[0] == ids[2] && ids[1] == existing.id && Set(ids).count == 4)
    #expect(
      try items() == [
        "\(existing.id)|a|new|-|5|\(owners[0].id)", "\(ids[0])|b|two|-|0|-", "\(ids[3])|-|none|-|0|-",
        "\(ids[4])|-|none|-|0|-",
      ])
    // What is pending stays on top of what the context took over.
    #expect(try existing.value(forKey: "name").isIdentical(to: .text("new")) && existing.isUpdated)
    try context.save()
    #expect(try sql("SELECT ZNOTE, Z_OPT FROM ZITEM WHERE ZCODE = 'a'") == ["pending|3"])
    // Values that a row has already are no change.
    #expect(try upsert(["code", "name"], [[.text("a"), .text("new")]]) == [existing.id])
    #expect(try sql("SELECT Z_OPT FROM ZITEM WHERE ZCODE = 'a'") == ["3"])
  }

  @Test func upsertNeedsAConstraintAndAFittingEntity() throws {
    let refused = failure(of: {
      _ = try context.insertIntoStore(
        entityNamed: "Owner", keys: [], rowCount: 1, merges: true, upserts: true
      ) { (_, _) throws(Failure) in .nil }
    })
    #expect(refused?.kind == .invalidArgument)
    let tool = failure(of: {
      _ = try context.insertIntoStore(
        entityNamed: "Tool", keys: ["code"], rowCount: 1, merges: true, upserts: true
      ) { (_, _) throws(Failure) in .text("a") }
    })
    #expect(tool?.kind == .constraint)
  }

  /// The same rows one by one through objects, as objectWins folds them when every property is given.
  @Test func randomUpsertsLeaveWhatADictionaryHolds() throws {
    for seed in Dice.seeds(4) {
      var dice = Dice(seed: seed)
      try sql("DELETE FROM ZITEM").forEach { _ in }
      var model: [String: (name: String, count: Int64)] = [:]
      for _ in 0..<20 {
        let rows = (0..<(1 + dice.roll(8))).map { _ in
          (code: "c\(dice.roll(12))", name: "n\(dice.roll(3))", count: Int64(dice.roll(3)))
        }
        for row in rows { model[row.code] = (row.name, row.count) }
        let ids = try upsert(
          ["name", "count", "code"], rows.map { [.text($0.name), .integer($0.count), .text($0.code)] })
        let codes = try sql("SELECT Z_PK, ZCODE FROM ZITEM")
        for (row, id) in zip(rows, ids) { #expect(codes.contains("\(id)|\(row.code)"), "seed \(seed)") }
        let stored = try sql("SELECT ZCODE, ZNAME, ZCOUNT FROM ZITEM ORDER BY ZCODE")
        #expect(stored == model.sorted { $0.key < $1.key }.map { "\($0)|\($1.name)|\($1.count)" }, "seed \(seed)")
      }
    }
  }
}
