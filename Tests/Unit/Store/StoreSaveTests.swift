import Testing

@testable import QuireCore

@Suite struct StoreSaveTests {
  let library: LibraryFixture

  init() throws { library = try LibraryFixture() }

  // MARK: Identity

  @Test func keysFollowTheOrderOfInsertionWithinEachTree() throws {
    let result = try library.save(inserts: [
      try library.new("Author", -9, ["name": .text("third")]), try library.new("Tag", -4, ["word": .text("only")]),
      try library.new("Person", -1, ["name": .text("first")]),
      try library.new("Company", -5, ["name": .text("second")]),
    ])
    #expect(
      try library.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZPARTY") == [
        "1|\(try library.number("Person"))|1|first", "2|\(try library.number("Company"))|1|second",
        "3|\(try library.number("Author"))|1|third",
      ])
    #expect(result.permanentIDs[try library.reference("Author", -9)] == 3)
    #expect(result.permanentIDs[try library.reference("Tag", -4)] == 1)
    #expect(result.permanentIDs[try library.reference("Tag", -5)] == nil)
    #expect(result.permanentIDs[try library.reference("Book", -1)] == nil)
    var pairs: [Int64] = []
    result.permanentIDs.forEach { pairs += [$0.id, $1] }
    #expect(pairs == [-1, 1, -5, 2, -9, 3, -4, 1])
    #expect(
      try library.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Party', 'Person', 'Tag') ORDER BY Z_NAME")
        == ["3", "0", "1"])
  }

  @Test func keysAreNeverGivenTwice() throws {
    #expect(try library.store.allocateIDs(root: try library.entity("Tag"), count: 10) == 1)
    try library.save(inserts: [try library.new("Tag", -1)])
    try library.save(deletes: [try library.removal("Tag", 11)])
    try library.save(inserts: [try library.new("Tag", -1)])
    #expect(try library.sql("SELECT Z_PK FROM ZTAG") == ["12"])
    #expect(
      failure { _ = try library.store.allocateIDs(root: try library.entity("Tag"), count: 0) }?.kind == .invalidArgument
    )
    #expect(
      failure { _ = try library.store.allocateIDs(root: try library.entity("Tag"), count: .max) }?.kind == .database)
  }

  @Test func keysTakenBeforeTheSaveAreKept() throws {
    let first = try library.store.allocateIDs(root: try library.entity("Party"), count: 3)
    try library.save(
      inserts: [
        try library.new("Company", 2), try library.new("Book", -1, ["author": try library.object("Party", 3)]),
        try library.new("Author", 3), try library.new("Person", -1),
      ],
      toMany: [try library.toMany("Person", "friends", of: 3, added: [-1])])
    #expect(first == 1)
    #expect(try library.sql("SELECT Z_PK FROM ZPARTY") == ["2", "3", "4"])
    #expect(
      try library.sql("SELECT Z\(try library.number("Person"))_AUTHOR FROM ZBOOK") == [
        "\(try library.number("Author"))"
      ])
    #expect(try library.related("Person", "friends", of: 4) == [3])
    try library.failing(.conflict, inserts: [try library.new("Person", 3)])
  }

  @Test func rowsAddedByOtherProgramsDoNotCollide() throws {
    try library.store.withConnection { connection throws(Failure) in
      try connection.execute(
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 70, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")
    }
    let result = try library.save(inserts: [try library.new("Tag", -1)])
    #expect(result.permanentIDs[try library.reference("Tag", -1)] == 71)
  }

  @Test func malformedInsertsAreRefused() throws {
    try library.failing(.invalidArgument, inserts: [try library.new("Tag", 0)])
    try library.failing(.invalidArgument, inserts: [try library.new("Tag", 5), try library.new("Tag", 5)])
    try library.failing(.invalidArgument, inserts: [try library.new("Tag", -1), try library.new("Tag", -1)])
    try library.failing(.invalidArgument, inserts: [try library.new("Party", -1)])
    try library.failing(.invalidArgument, inserts: [.init(entity: try library.entity("Tag"), id: -1, values: [])])
    try library.failing(.invalidArgument, inserts: [try library.new("Book", -1, ["author": .text("Ann")])])
  }

  // MARK: Versions

  @Test func updatesAdvanceTheVersionAndWriteOnlyWhatChanged() throws {
    try library.save(inserts: [try library.new("Book", -1, ["title": .text("old"), "price": .double(3)])])
    try library.save(updates: [try library.change("Book", 1, ["title": .text("new")])])
    #expect(try library.sql("SELECT Z_OPT, ZTITLE, ZPRICE FROM ZBOOK") == ["2|new|3.0"])
    try library.save(updates: [try library.change("Book", 1, version: 2)])
    #expect(try library.row("Book", 1).version == 3)
  }

  @Test func aRowThatAnotherWriterChangedIsAConflict() throws {
    try library.save(inserts: [try library.new("Author", -1, ["name": .text("Ann")])])
    try library.save(updates: [try library.change("Author", 1, ["name": .text("Anna")])])
    let update = try library.failing(.conflict, updates: [try library.change("Author", 1, ["name": .text("Nan")])])
    #expect(update.contains("update Author 1") && update.contains("version 2") && update.contains("read with 1"))
    #expect(try library.failing(.conflict, deletes: [try library.removal("Author", 1)]).contains("delete Author 1"))
  }

  @Test func aRowThatAnotherWriterDeletedIsAConflict() throws {
    #expect(try library.failing(.conflict, updates: [try library.change("Tag", 7)]).contains("deleted it"))
    #expect(try library.failing(.conflict, deletes: [try library.removal("Tag", 7)]).contains("deleted it"))
  }

  @Test func allConflictsAreReportedTogether() throws {
    try library.save(inserts: try (1...3).map { try library.new("Tag", -Int64($0)) })
    let failure = try #require(
      failure {
        try library.save(
          updates: [try library.change("Tag", 1), try library.change("Tag", 2, version: 9)],
          deletes: [try library.removal("Tag", 3, version: 4), try library.removal("Tag", 4)])
      })
    #expect(failure.kind == .conflict && failure.details.count == 3)
    #expect(try library.sql("SELECT Z_PK, Z_OPT FROM ZTAG") == ["1|1", "2|1", "3|1"])
  }

  // MARK: Uniqueness

  private func account(_ id: Int64, _ email: String, realm: String? = nil, handle: String? = nil) throws
    -> SaveRequest.Insert
  {
    try library.new(
      "Account", id,
      ["email": .text(email), "realm": realm.map { .text($0) } ?? .nil, "handle": handle.map { .text($0) } ?? .nil])
  }

  @Test func aTakenValueIsNamedWithItsHolder() throws {
    try library.save(inserts: [try account(-1, "a", realm: "r", handle: "h"), try account(-2, "b")])
    let insert = try library.failing(.constraint, inserts: [try account(-1, "a")])
    #expect(insert.contains("unique by email: the new Account has email 'a', and so has Account 1"))
    let update = try library.failing(
      .constraint, updates: [try library.change("Account", 2, ["realm": .text("r"), "handle": .text("h")])])
    #expect(update.contains("unique by realm, handle: Account 2 has realm 'r', handle 'h', and so has Account 1"))
    let pair = try library.failing(.constraint, inserts: [try account(-1, "c"), try account(-2, "c")])
    #expect(pair.contains("another new Account"))
  }

  @Test func valuesOfDeletedAndChangedRowsCanBeReused() throws {
    try library.save(inserts: [try account(-1, "a"), try account(-2, "b")])
    try library.save(
      inserts: [try account(-1, "b")], updates: [try library.change("Account", 2, ["email": .text("a")])],
      deletes: [try library.removal("Account", 1)])
    #expect(try library.sql("SELECT Z_PK, ZEMAIL FROM ZACCOUNT") == ["2|a", "3|b"])
  }

  @Test func twoUpdatesMayExchangeUniqueValues() throws {
    try library.save(inserts: [
      try account(-1, "a", realm: "r", handle: "1"), try account(-2, "b", realm: "r", handle: "2"),
      try account(-3, "c", realm: "r", handle: "3"),
    ])
    try library.save(updates: [
      try library.change("Account", 1, ["email": .text("b"), "handle": .text("2")]),
      try library.change("Account", 2, ["email": .text("c"), "handle": .text("3")]),
      try library.change("Account", 3, ["email": .text("a"), "handle": .text("1")]),
    ])
    #expect(
      try library.sql("SELECT ZEMAIL, ZREALM, ZHANDLE, Z_OPT FROM ZACCOUNT") == ["b|r|2|2", "c|r|3|2", "a|r|1|2"])
    try library.failing(
      .constraint,
      updates: [
        try library.change("Account", 1, version: 2, ["email": .text("x")]),
        try library.change("Account", 2, version: 2, ["email": .text("x")]),
      ])
  }

  // MARK: All or nothing

  @Test func aFailureAtTheEndLeavesTheFileAsItWas() throws {
    try library.save(inserts: [try account(-1, "a"), try library.new("Tag", -1), try library.new("Tag", -2)])
    try library.failing(
      .constraint, inserts: [try library.new("Book", -1), try account(-1, "new"), try account(-2, "a")],
      updates: [try library.change("Tag", 1, ["word": .text("x")])], deletes: [try library.removal("Tag", 2)])
    let result = try library.save(inserts: [try library.new("Book", -1)])
    #expect(result.permanentIDs[try library.reference("Book", -1)] == 1)
  }

  @Test func aFullDiskLeavesTheFileAsItWas() throws {
    let folder = try TemporaryFolder()
    let library = try LibraryFixture(in: folder)
    try library.save(inserts: [try library.new("Tag", -1, ["word": .text("kept")])])
    let before = try library.contents()
    let pages = try library.sql("PRAGMA page_count")[0]
    _ = try library.sql("PRAGMA max_page_count = \(pages)")
    let big = Value.text(String(repeating: "x", count: 100_000))
    let failure = failure {
      try library.save(inserts: try (1...50).map { try library.new("Tag", -$0, ["word": big]) })
    }
    #expect(failure?.kind == .database && failure?.message.string.contains("disk is full") == true)
    #expect(try library.contents() == before)
    _ = try library.sql("PRAGMA max_page_count = 1000000")
    let result = try library.save(inserts: [try library.new("Tag", -1, ["word": big])])
    #expect(result.permanentIDs[try library.reference("Tag", -1)] == 2)
  }

  @Test func aFileThatAnotherWriterHasLockedIsBusy() throws {
    let folder = try TemporaryFolder()
    let writer = try LibraryFixture(in: folder)
    let other = try Store.open(
      path: LibraryFixture.path(in: folder), model: try LibraryFixture.makeModel(),
      options: .init(busyTimeoutMilliseconds: 0))
    let tag = try other.model.entity(named: "Tag")
    let request = SaveRequest(deletes: [.init(entity: tag, id: 1, expectedVersion: 1)])
    let failure = failure {
      try writer.store.withConnection { connection throws(Failure) in
        try connection.transaction { () throws(Failure) in _ = try other.save(request) }
      }
    }
    #expect(failure?.kind == .busy)
    #expect(try other.newest.count(FetchPlan(entity: tag)) == 0)
    try other.close()
  }

  @Test func savingInTheMidstOfASnapshotIsRefused() throws {
    let request = SaveRequest(inserts: [try library.new("Tag", -1)])
    let failure = failure {
      try library.store.withConnection { connection throws(Failure) in
        try connection.snapshot { () throws(Failure) in _ = try library.store.save(request) }
      }
    }
    #expect(failure?.kind == .invalidState)
    #expect(try library.sql("SELECT * FROM ZTAG") == [])
  }

  @Test func aScanMaySaveAsItGoes() throws {
    try library.save(inserts: try (1...100).map { try library.new("Tag", -$0, ["word": .text("old")]) })
    let slot = try library.entity("Tag").property(named: "word").slot
    var seen = 0
    let tag = try library.entity("Tag")
    try library.store.newest.scan(
      FetchPlan(entity: tag), paths: [try ResolvedKeyPath(["word"], of: tag, for: .fetchedProperty)]
    ) { row, _ throws(Failure) in
      seen += 1
      let update = SaveRequest.Update(entity: tag, id: row.id, expectedVersion: 1, changes: [(slot, .text("new"))])
      _ = try library.store.save(SaveRequest(updates: [update]))
    }
    #expect(seen == 100)
    #expect(try library.sql("SELECT DISTINCT ZWORD, Z_OPT FROM ZTAG") == ["new|2"])
  }

  @Test func anEmptyRequestDoesNothing() throws {
    let before = try library.contents()
    try library.save()
    #expect(try library.contents() == before)
  }

  @Test func whatWasSavedIsThereWhenTheFileIsOpenedAgain() throws {
    let folder = try TemporaryFolder()
    let written = try LibraryFixture(in: folder)
    try written.save(
      inserts: [try written.new("Book", -1, ["title": .text("kept")]), try written.new("Tag", -1)],
      toMany: [try written.toMany("Book", "tags", of: -1, added: [-1])])
    try written.store.close()
    let read = try LibraryFixture(in: folder)
    #expect(Value.areSame(try read.value("Book", 1, "title"), .text("kept")))
    #expect(try read.related("Tag", "books", of: 1) == [1])
  }
}
