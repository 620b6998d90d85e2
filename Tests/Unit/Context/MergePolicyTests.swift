import Testing

@testable import QuireCore

/// Two contexts of one store know a book by the title Alice and the price 10. The first saves, then the second.
/// The tests hold the facts of `docs/behaviour/objects.md`, section 2.
@Suite("Merge policies")
struct MergePolicyTests {
  private let library: LibraryFixture
  private let first: Context
  private let second: Context

  init() throws {
    library = try LibraryFixture()
    first = Context(store: library.store)
    second = Context(store: library.store)
  }

  private static let policies: [MergePolicy] = [.storeWins, .objectWins, .overwrite, .rollback]

  private func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try first.insert(entityNamed: entity)
    try set(object, values)
    return object
  }

  private func set(_ object: ManagedObject, _ values: [String: Value]) throws {
    for (key, value) in values { try object.set(value, for: object.entity.property(named: key)) }
  }

  private func twin(_ object: ManagedObject) throws -> ManagedObject {
    try second.existingObject(entityNamed: object.entity.name, id: object.id)
  }

  private func relationship(_ object: ManagedObject, _ name: String) throws -> Relationship {
    try library.relationship(object.entity.name, name)
  }

  /// Saves the changes of the first context, and then those of the second, made before, by a policy; gives the object
  /// of the second.
  private func race(
    _ policy: MergePolicy, theirs: [String: Value], mine: [String: Value]
  ) throws -> (ManagedObject, Failure?) {
    let alice = try insert("Book", ["title": .text("Alice"), "price": .double(10)])
    try first.save()
    let object = try twin(alice)
    try set(object, mine)
    try set(alice, theirs)
    try first.save()
    second.mergePolicy = policy
    let failed = failure(of: { try second.save() })
    return (object, failed)
  }

  private func list(_ format: String = "TRUEPREDICATE") throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse(Text(format))
    let results = try ResultsController(
      context: second, request: request, sectionKeyPath: nil, queuesChanges: true)
    try results.performFetch()
    return results
  }

  private func shownCount(_ results: ResultsController) -> Int {
    ControllerProbe.lists(results).joined().count
  }

  private func shown(_ object: ManagedObject) throws -> [String] {
    let title = try object.value(forKey: "title"), price = try object.value(forKey: "price")
    guard case .text(let text) = title, case .double(let number) = price else { return [] }
    return ["\(text)|\(number)"]
  }

  private func stored() throws -> [String] { try library.sql("SELECT ZTITLE, ZPRICE FROM ZBOOK") }

  // MARK: The policies, fact by fact

  @Test func theErrorPolicyFailsAndTellsWhatWasReadWhatIsStoredAndWhatIsHere() throws {
    let (object, failed) = try race(.error, theirs: ["title": .text("FromCtx1")], mine: ["title": .text("FromCtx2")])
    let report = try #require(failed?.report as? ConflictReport)
    #expect(failed?.kind == .conflict && report.conflicts.count == 1)
    let conflict = try #require(report.conflicts.first)
    let slot = try object.entity.property(named: "title").slot
    #expect(conflict.object === object && conflict.kind == .changed && conflict.other == nil)
    #expect(conflict.committed?[slot].isIdentical(to: .text("Alice")) == true)
    #expect(conflict.stored?[slot].isIdentical(to: .text("FromCtx1")) == true)
    #expect(conflict.current?[slot].isIdentical(to: .text("FromCtx2")) == true)
    #expect(try stored() == ["FromCtx1|10.0"] && second.hasChanges)
  }

  @Test func whereTheStoreWinsItsValueReplacesMineAndMyOtherChangesStay() throws {
    let (object, failed) = try race(
      .storeWins, theirs: ["title": .text("FromCtx1")], mine: ["title": .text("FromCtx2"), "price": .double(99)])
    #expect(failed == nil && !second.hasChanges && second.settledCount == 1)
    #expect(try shown(object) == ["FromCtx1|99.0"] && stored() == ["FromCtx1|99.0"])
  }

  @Test func whereTheObjectWinsMyValueReplacesTheStoresAndItsOtherChangesStay() throws {
    let (object, failed) = try race(
      .objectWins, theirs: ["title": .text("FromCtx1"), "price": .double(50)], mine: ["title": .text("FromCtx2")])
    #expect(failed == nil && !second.hasChanges)
    #expect(try shown(object) == ["FromCtx2|50.0"] && stored() == ["FromCtx2|50.0"])
  }

  @Test func overwritingWritesTheWholeObjectFromMemory() throws {
    let (object, failed) = try race(
      .overwrite, theirs: ["title": .text("FromCtx1"), "price": .double(77)], mine: ["title": .text("FromCtx2")])
    #expect(failed == nil && !second.hasChanges)
    #expect(try shown(object) == ["FromCtx2|10.0"] && stored() == ["FromCtx2|10.0"])
  }

  @Test func rollingBackLeavesTheStoreAsItIsAndTheObjectWithoutChanges() throws {
    let (object, failed) = try race(
      .rollback, theirs: ["title": .text("FromCtx1")], mine: ["title": .text("FromCtx2"), "price": .double(5)])
    #expect(failed == nil && !second.hasChanges && object.committed.isEmpty)
    #expect(try shown(object) == ["FromCtx1|10.0"] && stored() == ["FromCtx1|10.0"])
    #expect(try library.sql("SELECT Z_OPT FROM ZBOOK") == ["2"])
  }

  @Test(arguments: [MergePolicy.error] + policies)
  func changingOneObjectAndInsertingAnotherIsNoConflict(_ policy: MergePolicy) throws {
    let alice = try insert("Book", ["title": .text("Alice")])
    try first.save()
    _ = try twin(alice)
    try set(alice, ["title": .text("FromCtx1")])
    try set(second.insert(entityNamed: "Book"), ["title": .text("new")])
    try first.save()
    second.mergePolicy = policy
    try second.save()
    #expect(second.settledCount == 0)
    #expect(try library.sql("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK") == ["FromCtx1", "new"])
  }

  // MARK: Deletions

  @Test(arguments: policies) func changedHereAndDeletedThere(_ policy: MergePolicy) throws {
    let book = try insert("Book", ["title": .text("a"), "price": .double(1)])
    let tag = try insert("Tag"), shelf = try insert("Shelf")
    try book.add(tag, to: relationship(book, "tags"))
    try first.save()
    let mine = try twin(book), place = try twin(shelf), results = try list()
    _ = try mine.objects(of: relationship(book, "tags"))
    try set(mine, ["title": .text("mine"), "shelf": .object(place.reference)])
    try first.delete(book)
    try first.save()
    second.mergePolicy = policy
    try second.save()
    #expect(!second.hasChanges)
    let isKept = policy == .objectWins || policy == .overwrite
    #expect(
      try library.sql("SELECT Z_PK, ZTITLE, ZPRICE, ZSHELF, Z_OPT FROM ZBOOK")
        == (isKept ? ["\(book.id)|mine|1.0|\(shelf.id)|1"] : []))
    #expect(try library.related("Book", "tags", of: book.id) == (isKept ? [tag.id] : []))
    #expect(mine.isDeleted != isKept && shownCount(results) == (isKept ? 1 : 0))
    #expect(try twin(shelf).objects(of: relationship(shelf, "books")).count == (isKept ? 1 : 0))
    if isKept {
      try set(mine, ["title": .text("again")])
      try second.save()
      #expect(try library.sql("SELECT ZTITLE, Z_OPT FROM ZBOOK") == ["again|2"])
    }
  }

  @Test(arguments: policies) func deletedHereAndChangedThere(_ policy: MergePolicy) throws {
    let book = try insert("Book", ["title": .text("a")]), tag = try insert("Tag"), shelf = try insert("Shelf")
    try book.add(tag, to: relationship(book, "tags"))
    try set(book, ["shelf": .object(shelf.reference)])
    try first.save()
    let mine = try twin(book), results = try list()
    try second.delete(mine)
    try second.process()
    #expect(shownCount(results) == 0)
    try set(book, ["title": .text("theirs")])
    try first.save()
    second.mergePolicy = policy
    try second.save()
    let isDeleted = policy == .objectWins || policy == .overwrite
    #expect(!second.hasChanges && mine.isDeleted == isDeleted && shownCount(results) == (isDeleted ? 0 : 1))
    #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == (isDeleted ? [] : ["theirs"]))
    #expect(try library.related("Book", "tags", of: book.id) == (isDeleted ? [] : [tag.id]))
    if !isDeleted {
      #expect(try mine.value(forKey: "title").isIdentical(to: .text("theirs")))
      #expect(try twin(shelf).objects(of: relationship(shelf, "books")).map(\.id) == [book.id])
      #expect(try twin(tag).objects(of: relationship(tag, "books")).map(\.id) == [book.id])
    }
  }

  @Test(arguments: policies) func whatIsDeletedOnBothSidesIsGone(_ policy: MergePolicy) throws {
    let book = try insert("Book")
    try first.save()
    try second.delete(twin(book))
    try first.delete(book)
    try first.save()
    second.mergePolicy = policy
    try second.save()
    #expect(try !second.hasChanges && library.sql("SELECT * FROM ZBOOK").isEmpty)
  }

  @Test(arguments: [MergePolicy.error] + policies)
  func aReferenceThatAnotherWriterAddsToADeletedObject(_ policy: MergePolicy) throws {
    let person = try insert("Person"), book = try insert("Book")
    try first.save()
    let mine = try twin(person), theirs = try twin(book)
    try second.delete(mine)
    try second.process()
    try set(book, ["author": .object(person.reference)])
    try first.save()
    second.mergePolicy = policy
    let failed = failure(of: { try second.save() })
    if policy == .error {
      let conflict = (failed?.report as? ConflictReport)?.conflicts.first
      #expect(failed?.kind == .conflict && conflict?.kind == .referred && conflict?.object === mine)
      #expect(conflict?.other === theirs && conflict?.current == nil)
      return
    }
    let isDeleted = policy == .objectWins || policy == .overwrite
    #expect(failed == nil && !second.hasChanges && mine.isDeleted == isDeleted)
    #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == [isDeleted ? "-" : "\(person.id)"])
    #expect(try library.sql("SELECT count(*) FROM ZPARTY") == [isDeleted ? "0" : "1"])
    if isDeleted { #expect(try theirs.value(forKey: "author").isNil) }
  }

  @Test(arguments: policies) func aReferenceToWhatAnotherWriterDeletedIsLetGoOf(_ policy: MergePolicy) throws {
    let person = try insert("Person"), book = try insert("Book"), tag = try insert("Tag")
    try first.save()
    let mine = try twin(book), author = try twin(person), word = try twin(tag)
    try set(mine, ["author": .object(author.reference), "title": .text("mine")])
    try mine.add(word, to: relationship(book, "tags"))
    let new = try second.insert(entityNamed: "Book")
    try set(new, ["author": .object(author.reference)])
    try first.delete(person)
    try first.delete(tag)
    try first.save()
    second.mergePolicy = .error
    #expect(failure(of: { try second.save() })?.kind == .conflict)
    second.mergePolicy = policy
    try second.save()
    #expect(!second.hasChanges && author.isDeleted)
    #expect(try mine.value(forKey: "author").isNil && new.value(forKey: "author").isNil)
    // The tag was changed here too, by being put on the book.
    let isKept = policy == .objectWins || policy == .overwrite
    #expect(word.isDeleted != isKept)
    #expect(try library.related("Book", "tags", of: book.id) == (isKept ? [tag.id] : []))
    #expect(try mine.objects(of: relationship(book, "tags")).map(\.id) == (isKept ? [tag.id] : []))
    #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == ["-", "-"])
    #expect(try library.sql("SELECT ZTITLE FROM ZBOOK WHERE Z_PK = \(book.id)") == ["mine"])
  }

  // MARK: Relationships

  @Test(arguments: policies) func aToOneRelationshipThatBothSidesChangedAndItsInverse(_ policy: MergePolicy) throws {
    let people = try (0..<3).map { _ in try insert("Person") }, book = try insert("Book")
    try set(book, ["author": .object(people[0].reference)])
    try first.save()
    let mine = try twin(book), twins = try people.map { try twin($0) }
    let books = try library.relationship("Person", "books")
    for person in twins { _ = try person.objects(of: books) }
    try set(mine, ["author": .object(twins[1].reference)])
    try set(book, ["author": .object(people[2].reference)])
    try first.save()
    second.mergePolicy = policy
    try second.save()
    let winner = policy == .objectWins || policy == .overwrite ? 1 : 2
    #expect(try library.sql("SELECT ZAUTHOR FROM ZBOOK") == ["\(people[winner].id)"])
    for (place, person) in twins.enumerated() {
      #expect(try person.objects(of: books).map(\.id) == (place == winner ? [book.id] : []), "\(policy) \(place)")
    }
    #expect(!second.hasChanges)
  }

  @Test(arguments: policies) func aRelationshipThatIsToOneOnBothSides(_ policy: MergePolicy) throws {
    let person = try insert("Person"), passports = try (0..<3).map { _ in try insert("Passport") }
    try set(person, ["passport": .object(passports[0].reference)])
    try first.save()
    let mine = try twin(person), twins = try passports.map { try twin($0) }
    try set(mine, ["passport": .object(twins[1].reference)])
    try set(person, ["passport": .object(passports[2].reference)])
    try first.save()
    second.mergePolicy = policy
    try second.save()
    let winner = policy == .objectWins || policy == .overwrite ? 1 : 2
    #expect(try library.sql("SELECT ZPASSPORT FROM ZPARTY") == ["\(passports[winner].id)"])
    for (place, passport) in twins.enumerated() {
      let holder: Value = place == winner ? .object(mine.reference) : .nil
      #expect(try passport.value(forKey: "holder").isIdentical(to: holder), "\(policy) \(place)")
    }
    #expect(
      try library.sql("SELECT Z_PK FROM ZPASSPORT WHERE ZHOLDER = \(person.id)") == ["\(passports[winner].id)"])
  }

  @Test(arguments: policies) func membersThatBothSidesAddedAndRemoved(_ policy: MergePolicy) throws {
    let book = try insert("Book"), tags = try (0..<5).map { _ in try insert("Tag") }
    let relation = try relationship(book, "tags")
    try book.set(Array(tags[0..<3]), for: relation)
    try first.save()
    let mine = try twin(book), twins = try tags.map { try twin($0) }
    try mine.add(twins[3], to: relation)
    try mine.remove(twins[0], from: relation)
    try book.add(tags[4], to: relation)
    try book.remove(tags[1], from: relation)
    try first.save()
    second.mergePolicy = policy
    try second.save()
    let expected: [Int] =
      switch policy {
      case .overwrite: [1, 2, 3]
      case .rollback: [0, 2, 4]
      default: [2, 3, 4]
      }
    #expect(try library.related("Book", "tags", of: book.id).sorted() == expected.map { tags[$0].id })
    #expect(try mine.objects(of: relation).map(\.id).sorted() == expected.map { tags[$0].id })
    for (place, tag) in twins.enumerated() {
      let isHeld = try tag.objects(of: relationship(tag, "books")).contains { $0 === mine }
      #expect(isHeld == expected.contains(place), "\(policy) \(place)")
    }
    #expect(!second.hasChanges)
  }

  // MARK: The handler

  @Test func aHandlerDecidesObjectByObjectAndMayReadButNotChange() throws {
    let books = try (0..<3).map { try insert("Book", ["title": .text("b\($0)"), "price": .double(0)]) }
    try first.save()
    let twins = try books.map { try twin($0) }
    for (mine, theirs) in zip(twins, books) {
      try set(mine, ["title": .text("mine")])
      try set(theirs, ["title": .text("theirs"), "price": .double(1)])
    }
    try first.save()
    var asked: [Int64] = []
    var refusals: [Failure.Kind?] = []
    second.mergeHandler = MergeHandler { [second] conflict in
      asked.append(conflict.object.id)
      refusals = [
        failure(of: { try twins[0].set(.text("x"), for: twins[0].entity.property(named: "title")) })?.kind,
        failure(of: { _ = try second.insert(entityNamed: "Book") })?.kind,
        failure(of: { try second.save() })?.kind, failure(of: { try second.rollback() })?.kind,
        failure(of: { try second.delete(twins[0]) })?.kind,
        failure(of: { try second.obtainPermanentIDs() })?.kind,
      ]
      let count = (try? second.fetch(FetchRequest(entityName: "Book")).count) ?? 0
      return count == 3 ? [.objectWins, .storeWins, .overwrite][asked.count - 1] : .error
    }
    try second.save()
    #expect(asked == books.map(\.id) && second.settledCount == 3)
    #expect(refusals == Array(repeating: .invalidState, count: 6))
    #expect(try stored() == ["mine|1.0", "theirs|1.0", "mine|0.0"])
    #expect(!second.activity.contains(.askingHandler))
  }

  @Test func oneObjectThatTheHandlerLeavesInConflictLeavesAllAsTheyWere() throws {
    let books = try (0..<2).map { try insert("Book", ["title": .text("b\($0)")]) }
    try first.save()
    let twins = try books.map { try twin($0) }
    for (mine, theirs) in zip(twins, books) {
      try set(mine, ["title": .text("mine")])
      try set(theirs, ["title": .text("theirs")])
    }
    try first.save()
    second.mergeHandler = MergeHandler { $0.object === twins[1] ? .error : .storeWins }
    let failed = failure(of: { try second.save() })
    #expect((failed?.report as? ConflictReport)?.conflicts.map(\.object.id) == [books[1].id])
    #expect(second.settledCount == 0 && twins.allSatisfy(\.isUpdated))
    second.mergeHandler = nil
    second.mergePolicy = .objectWins
    try second.save()
    #expect(try library.sql("SELECT ZTITLE FROM ZBOOK") == ["mine", "mine"])
  }

  @Test func aSaveEndsWhenOthersGoOnWriting() throws {
    let book = try insert("Book", ["title": .text("a")])
    try first.save()
    let mine = try twin(book)
    try set(mine, ["title": .text("mine")])
    try set(book, ["price": .double(-1)])
    try first.save()
    var rounds = 0
    second.mergeHandler = MergeHandler { [first] _ in
      rounds += 1
      // Another context; this one is not affected.
      try? book.set(.double(Double(rounds)), for: book.entity.property(named: "price"))
      try? first.save()
      return .objectWins
    }
    let failed = failure(of: { try second.save() })
    #expect(failed?.kind == .conflict && rounds == 19)
    second.mergeHandler = nil
    second.mergePolicy = .objectWins
    try second.save()
    #expect(try stored() == ["mine|19.0"])
  }

  @Test func liveListsAreToldOfTheValuesThatTheStoreHad() throws {
    let book = try insert("Book", ["title": .text("a"), "price": .double(1)])
    try first.save()
    let mine = try twin(book)
    let results = try list("price < 5")
    try set(mine, ["title": .text("mine")])
    try set(book, ["price": .double(9)])
    try first.save()
    second.mergePolicy = .objectWins
    #expect(shownCount(results) == 1)
    try second.save()
    #expect(shownCount(results) == 0)
    #expect(try stored() == ["mine|9.0"])
  }

  @Test func aRollbackAfterASettledConflictThatCouldNotBeSavedShowsTheStore() throws {
    let book = try insert("Book", ["title": .text("a")])
    let account = try insert("Account", ["email": .text("x")])
    try first.save()
    let mine = try twin(book)
    try set(mine, ["title": .text("mine")])
    try set(book, ["price": .double(3)])
    try first.save()
    try set(second.insert(entityNamed: "Account"), ["email": .text("x")])
    second.mergeHandler = MergeHandler { $0.kind == .unique ? .error : .objectWins }
    #expect(failure(of: { try second.save() })?.kind == .constraint)
    #expect(try mine.value(forKey: "price").isIdentical(to: .double(3)) && second.settledCount == 1)
    try second.rollback()
    #expect(try shown(mine) == ["a|3.0"] && twin(account).isLive)
  }

  @Test(arguments: policies)
  func aDeletionTellsOfItsPairsWhateverBecomesOfTheirOtherSide(policy: MergePolicy) throws {
    let tag = try insert("Tag"), request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse("tags.@count == 1")
    let results = try ResultsController(context: first, request: request, sectionKeyPath: nil, queuesChanges: false)
    try results.performFetch()
    let mine = try {
      let book = try insert("Book", ["title": .text("a")])
      try first.save()
      let mine = try twin(book)
      try set(mine, ["title": .text("mine")])
      try book.set([tag], for: relationship(book, "tags"))
      try first.save()
      // The second context knows of the pair, and not of what comes after it.
      try second.merge()
      try set(book, ["price": .double(5)])
      try first.save()
      return mine
    }()
    // The book has no reference in the first context any more.
    #expect(shownCount(results) == 1)
    second.mergePolicy = policy
    try second.delete(try twin(tag))
    try second.save()
    #expect(try mine.objects(of: relationship(mine, "tags")).isEmpty)
    try first.merge()
    #expect(shownCount(results) == 0)
  }

  @Test func aSaveWithoutChangesAfterAConflictMovesNothing() throws {
    let tag = try insert("Tag")
    try first.save()
    let mine = try twin(tag)
    try second.enableUndo(levels: 0)
    try set(mine, ["word": .text("mine")])
    try first.delete(tag)
    try first.save()
    #expect(failure(of: { try second.save() })?.kind == .conflict)
    try second.undo()
    #expect(!second.hasChanges)
    try second.save()
    #expect(mine.isLive)
    try second.merge()
    #expect(!mine.isLive)
  }
}
