import Testing

@testable import QuireCore

@Suite struct StoreRelationshipTests {
  let library: LibraryFixture

  init() throws { library = try LibraryFixture() }

  // MARK: To-one

  @Test func toOneColumnsHoldKeyAndEntityOfTheDestination() throws {
    try library.save(inserts: [
      try library.new(
        "Book", -1, ["author": try library.object("Party", -2), "publisher": try library.object("Party", -3)]),
      try library.new("Author", -2), try library.new("Company", -3),
    ])
    let column = "Z\(try library.number("Person"))_AUTHOR"
    #expect(
      try library.sql("SELECT ZAUTHOR, \(column), ZPUBLISHER FROM ZBOOK") == ["1|\(try library.number("Author"))|2"])
    try library.save(
      inserts: [try library.new("Person", -1)],
      updates: [try library.change("Book", 1, ["author": try library.object("Party", -1), "publisher": .nil])])
    #expect(
      try library.sql("SELECT ZAUTHOR, \(column), ZPUBLISHER FROM ZBOOK") == ["3|\(try library.number("Person"))|-"])
    guard case .object(let box) = try library.value("Book", 1, "author") else {
      Issue.record("The author is not an object.")
      return
    }
    #expect(box.reference == (try library.reference("Party", 3)))
    try library.save(updates: [try library.change("Book", 1, version: 2, ["author": .nil])])
    #expect(try library.sql("SELECT ZAUTHOR, \(column) FROM ZBOOK") == ["-|-"])
    #expect(try library.related("Person", "books", of: 3) == [])
  }

  @Test func oneToOneRelationshipsHaveAColumnOnBothSides() throws {
    try library.save(inserts: [
      try library.new("Person", -1, ["passport": try library.object("Passport", -1)]),
      try library.new("Passport", -1, ["holder": try library.object("Party", -1)]),
    ])
    #expect(try library.sql("SELECT ZPASSPORT FROM ZPARTY") == ["1"])
    #expect(
      try library.sql("SELECT ZHOLDER, Z\(try library.number("Person"))_HOLDER FROM ZPASSPORT") == [
        "1|\(try library.number("Person"))"
      ]
    )
    #expect(try library.related("Person", "passport", of: 1) == [1])
    #expect(try library.related("Passport", "holder", of: 1) == [1])
  }

  @Test func referencesToWhatIsNotThereAreRefused() throws {
    let gone = try library.failing(
      .conflict, inserts: [try library.new("Book", -1, ["author": try library.object("Party", 44)])])
    #expect(gone.contains("'Book.author'") && gone.contains("Person 44"))
    try library.failing(
      .invalidState, inserts: [try library.new("Book", -1, ["author": try library.object("Party", -44)])])
    try library.failing(
      .invalidArgument,
      inserts: [try library.new("Tag", -1), try library.new("Book", -1, ["author": try library.object("Tag", -1)])])
    try library.failing(
      .invalidArgument,
      inserts: [
        try library.new("Company", -2), try library.new("Book", -1, ["author": try library.object("Party", -2)]),
      ])
  }

  @Test func aReferenceToARowThatTheSameSaveDeletesIsRefused() throws {
    try library.save(inserts: [try library.new("Person", -1)])
    try library.failing(
      .conflict, inserts: [try library.new("Book", -1, ["author": try library.object("Party", 1)])],
      deletes: [try library.removal("Person", 1)])
  }

  // MARK: To-many

  @Test func toManyFollowsTheInverseAndSkipsOtherEntities() throws {
    try library.save(inserts: [try library.new("Person", -1), try library.new("Person", -2)])
    try library.save(
      inserts: try [1, 2, 1, 2, 1].enumerated().map {
        try library.new("Book", -1 - Int64($0), ["author": try library.object("Party", $1)])
      })
    #expect(try library.related("Person", "books", of: 1) == [1, 3, 5])
    #expect(try library.related("Person", "books", of: 2) == [2, 4])
    #expect(try library.related("Person", "books", of: 3) == [])
    #expect(failure { _ = try library.related("Book", "draft", of: 1) }?.kind == .invalidArgument)
  }

  @Test func membersOfAnOrderedRelationshipAreAppendedAndKeepTheirPlace() throws {
    try library.save(
      inserts: [try library.new("Shelf", -1), try library.new("Shelf", -2)]
        + (try (1...3).map { try library.new("Book", -$0, ["shelf": try library.object("Shelf", -1)]) }))
    #expect(try library.sql("SELECT Z_FOK_SHELF FROM ZBOOK") == ["1024", "2048", "3072"])
    // Book 1 stays, book 2 leaves, book 4 comes.
    try library.save(
      inserts: [try library.new("Book", -1, ["shelf": try library.object("Shelf", 1)])],
      updates: [
        try library.change("Book", 1, ["shelf": try library.object("Shelf", 1)]),
        try library.change("Book", 2, ["shelf": try library.object("Shelf", 2)]),
        try library.change("Book", 3, ["shelf": .nil]),
      ])
    #expect(
      try library.sql("SELECT ZSHELF, Z_FOK_SHELF IS NULL, Z_FOK_SHELF % 1024 FROM ZBOOK") == [
        "1|0|0", "2|0|0", "-|1|-", "1|0|0",
      ])
    #expect(try library.related("Shelf", "books", of: 1) == [1, 4])
    #expect(try library.related("Shelf", "books", of: 2) == [2])
  }

  @Test func anOrderIsWrittenWithFewChanges() throws {
    try library.save(
      inserts: [try library.new("Shelf", -1)]
        + (try (1...5).map { try library.new("Book", -$0, ["shelf": try library.object("Shelf", -1)]) }),
      toMany: [try library.toMany("Shelf", "books", of: -1, order: [-5, -1, -2, -3, -4])])
    #expect(try library.related("Shelf", "books", of: 1) == [5, 1, 2, 3, 4])
    #expect(try library.sql("SELECT Z_FOK_SHELF FROM ZBOOK") == ["1024", "2048", "3072", "4096", "512"])
    try library.save(toMany: [try library.toMany("Shelf", "books", of: 1, order: [4, 3, 3, 99, 2])])
    #expect(try library.related("Shelf", "books", of: 1) == [4, 3, 2, 5, 1])
  }

  @Test func orderKeysThatRunOutOfRoomAreRenumbered() throws {
    try library.save(
      inserts: [try library.new("Shelf", -1)]
        + (try (1...2).map { try library.new("Book", -$0, ["shelf": try library.object("Shelf", -1)]) }))
    var order: [Int64] = [1, 2]
    for round in 1...20 {
      let id = Int64(round + 2)
      order.insert(id, at: 1)
      try library.save(
        inserts: [try library.new("Book", -1, ["shelf": try library.object("Shelf", 1)])],
        toMany: [try library.toMany("Shelf", "books", of: 1, order: order.map { $0 == id ? -1 : $0 })])
      #expect(try library.related("Shelf", "books", of: 1) == order)
    }
  }

  @Test func manyToManyPairsLiveInAJoinTableWithTheOrderOfItsOrderedSide() throws {
    try library.save(
      inserts: [try library.new("Book", -1), try library.new("Book", -2)]
        + (try (1...3).map { try library.new("Tag", -$0) }),
      toMany: [
        try library.toMany("Book", "tags", of: -1, added: [-3, -1]),
        try library.toMany("Tag", "books", of: -1, added: [-1, -2]),
      ])
    #expect(try library.related("Book", "tags", of: 1) == [3, 1])
    #expect(try library.related("Book", "tags", of: 2) == [1])
    #expect(try library.related("Tag", "books", of: 1) == [1, 2])
    let book = try library.number("Book"), tag = try library.number("Tag")
    #expect(
      try library.sql("SELECT Z_\(book)BOOKS, Z_\(tag)TAGS, Z_FOK_\(tag)TAGS FROM Z_\(book)TAGS ORDER BY 1, 3")
        .sorted() == ["1|1|2048", "1|3|1024", "2|1|1024"])
    try library.save(toMany: [
      try library.toMany("Book", "tags", of: 1, added: [2], removed: [3], order: [2, 1]),
      try library.toMany("Tag", "books", of: 3, removed: [1]),
    ])
    #expect(try library.related("Book", "tags", of: 1) == [2, 1])
    #expect(try library.related("Tag", "books", of: 3) == [])
    #expect(try library.related("Tag", "books", of: 2) == [1])
  }

  @Test func aSelfInverseRelationshipIsTheSameFromBothSides() throws {
    try library.save(
      inserts: try (1...3).map { try library.new("Person", -$0) },
      toMany: [
        try library.toMany("Person", "friends", of: -1, added: [-2, -3, -1]),
        try library.toMany("Person", "friends", of: -2, added: [-1]),
      ])
    let person = try library.number("Person")
    #expect(
      try library.sql("SELECT Z_\(person)FRIENDS, REFLEXIVE FROM Z_\(person)FRIENDS").sorted() == ["1|1", "1|2", "1|3"])
    #expect(try library.related("Person", "friends", of: 1) == [1, 2, 3])
    #expect(try library.related("Person", "friends", of: 2) == [1])
    #expect(try library.related("Person", "friends", of: 3) == [1])
    try library.save(toMany: [try library.toMany("Person", "friends", of: 2, removed: [1])])
    #expect(try library.related("Person", "friends", of: 1) == [1, 3])
    #expect(try library.related("Person", "friends", of: 2) == [])
  }

  @Test func aToManyWithoutInverseIsAKeyInTheDestination() throws {
    try library.save(
      inserts: [try library.new("Shelf", -1), try library.new("Shelf", -2)]
        + (try (1...3).map { try library.new("Label", -$0) }),
      toMany: [
        try library.toMany("Shelf", "labels", of: -1, added: [-2, -1]),
        try library.toMany("Shelf", "pins", of: -1, added: [-3, -1]),
      ])
    let shelf = try library.number("Shelf")
    #expect(
      try library.sql("SELECT Z\(shelf)LABELS, Z\(shelf)PINS, Z_FOK_\(shelf)PINS FROM ZLABEL") == [
        "1|1|2048", "1|-|-", "-|1|1024",
      ])
    #expect(try library.related("Shelf", "labels", of: 1) == [1, 2])
    #expect(try library.related("Shelf", "pins", of: 1) == [3, 1])
    try library.save(toMany: [
      try library.toMany("Shelf", "labels", of: 2, removed: [1]),
      try library.toMany("Shelf", "labels", of: 1, removed: [2]),
      try library.toMany("Shelf", "pins", of: 1, added: [2], order: [2, 1, 3]),
    ])
    #expect(try library.related("Shelf", "labels", of: 1) == [1])
    #expect(try library.related("Shelf", "pins", of: 1) == [2, 1, 3])
  }

  @Test func deletedObjectsLeaveNoPairsAndOwnNothing() throws {
    try library.save(
      inserts: [
        try library.new("Book", -1), try library.new("Tag", -1), try library.new("Shelf", -1),
        try library.new("Label", -1),
      ]
        + (try (1...2).map { try library.new("Author", -$0) }),
      toMany: [
        try library.toMany("Book", "tags", of: -1, added: [-1]),
        try library.toMany("Shelf", "pins", of: -1, added: [-1]),
        try library.toMany("Person", "friends", of: -1, added: [-2]),
      ])
    try library.save(deletes: [
      try library.removal("Tag", 1), try library.removal("Shelf", 1), try library.removal("Author", 2),
    ])
    let book = try library.number("Book"), person = try library.number("Person"), shelf = try library.number("Shelf")
    #expect(try library.sql("SELECT * FROM Z_\(book)TAGS") == [])
    #expect(try library.sql("SELECT * FROM Z_\(person)FRIENDS") == [])
    #expect(try library.sql("SELECT Z\(shelf)PINS, Z_FOK_\(shelf)PINS FROM ZLABEL") == ["-|-"])
    #expect(try library.sql("SELECT Z_PK FROM ZPARTY") == ["1"])
  }

  @Test func malformedToManyChangesAreRefused() throws {
    try library.save(inserts: [
      try library.new("Book", -1), try library.new("Tag", -1), try library.new("Shelf", -1),
      try library.new("Person", -1),
    ])
    try library.failing(.conflict, toMany: [try library.toMany("Book", "tags", of: 1, added: [9])])
    try library.failing(.conflict, toMany: [try library.toMany("Book", "tags", of: 9, added: [1])])
    try library.failing(.invalidState, toMany: [try library.toMany("Book", "tags", of: 1, added: [-9])])
    try library.failing(.invalidArgument, toMany: [try library.toMany("Tag", "books", of: 1, order: [1])])
    try library.failing(.invalidArgument, toMany: [try library.toMany("Book", "author", of: 1, added: [1])])
    let wrongOwner = SaveRequest.ToManyChange(
      relationship: try library.relationship("Book", "tags"), owner: try library.reference("Person", 1), added: [])
    try library.failing(
      .invalidArgument,
      toMany: [
        SaveRequest.ToManyChange(
          relationship: wrongOwner.relationship, owner: wrongOwner.owner, added: [try library.reference("Tag", 1)])
      ])
  }

  // MARK: Order keys

  @Test(arguments: Dice.seeds(1)) func orderKeysRiseAfterEveryRearrangement(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    for _ in 0..<2000 {
      let count = Int.random(in: 0...12, using: &generator)
      var keys: [Int64?] = (0..<count).map { _ in
        switch Int.random(in: 0...9, using: &generator) {
        case 0: nil
        case 1: Int64.random(in: .min ... .max, using: &generator)
        case 2: .max
        default: Int64.random(in: 0...20, using: &generator) * (Bool.random(using: &generator) ? 1024 : 1)
        }
      }
      let before = keys
      for (place, key) in OrderKeys.assign(current: keys) { keys[place] = key }
      let rising = zip(keys, keys.dropFirst()).allSatisfy { ($0 ?? 0) < ($1 ?? 0) } && keys.allSatisfy { ($0 ?? 0) > 0 }
      #expect(rising, "\(before) became \(keys)")
      #expect(OrderKeys.assign(current: keys).isEmpty)
    }
  }

  @Test func movingOneMemberWritesOneKey() {
    #expect(OrderKeys.assign(current: [1024, 4096, 2048, 3072]).map(\.place) == [1])
    #expect(OrderKeys.assign(current: [nil, 1024, 2048]).map(\.key) == [512])
    #expect(OrderKeys.assign(current: [1024, 2048, nil, nil]).map(\.key) == [3072, 4096])
    #expect(OrderKeys.next(after: nil) == 1024)
    #expect(OrderKeys.next(after: 1500) == 2048)
    #expect(OrderKeys.next(after: .max) == .max)
  }
}
