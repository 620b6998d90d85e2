import Testing

@testable import QuireCore

/// Aggregates of what a save finds others to have saved before it.
@Suite("Aggregates and saves of others")
struct AggregateMergeTests {
  @Test(
    "A save takes members over that others have saved before it",
    arguments: [MergePolicy.storeWins, .objectWins, .overwrite])
  func membersBesideASave(policy: MergePolicy) throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = policy
    func relationship(_ object: ManagedObject, _ name: String) throws -> Relationship {
      try #require(try object.entity.property(named: name) as? Relationship)
    }
    let tag = try other.insert(entityNamed: "Tag"), second = try other.insert(entityNamed: "Book")
    try other.save()
    let first = try mine.insert(entityNamed: "Book")
    try mine.save()
    let list = try sumOfTags(in: mine)
    try second.set([tag], for: relationship(second, "tags"))
    try other.save()
    try first.set([mine.existingObject(entityNamed: "Tag", id: tag.id)], for: relationship(first, "tags"))
    try mine.save()
    try check(list, policy)
  }

  @Test(
    "A save takes new objects over that others have related to an object of which it saves members, too",
    arguments: [MergePolicy.storeWins, .objectWins, .overwrite])
  func newMembersBesideASave(policy: MergePolicy) throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = policy
    let books = try #require(try store.model.entity(named: "Tag").property(named: "books") as? Relationship)
    let tag = try mine.insert(entityNamed: "Tag")
    let first = try mine.insert(entityNamed: "Book")
    try mine.save()
    let list = try sumOfTags(in: mine)
    try tag.set([first], for: books)
    let theirs = try other.existingObject(entityNamed: "Tag", id: tag.id)
    try theirs.set([other.insert(entityNamed: "Book")], for: books)
    try other.save()
    try mine.save()
    try check(list, policy)
  }

  @Test(
    "A save takes members over of objects that came by an earlier save",
    arguments: [MergePolicy.storeWins, .objectWins, .overwrite])
  func membersOfWhatCame(policy: MergePolicy) throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = policy
    let tags = try #require(try store.model.entity(named: "Book").property(named: "tags") as? Relationship)
    let list = try sumOfTags(in: mine)
    let tag = try other.insert(entityNamed: "Tag")
    let second = try other.insert(entityNamed: "Book")
    try other.save()
    let first = try mine.insert(entityNamed: "Book")
    try mine.save()
    try second.set([tag], for: tags)
    try other.save()
    try first.set([mine.existingObject(entityNamed: "Tag", id: tag.id)], for: tags)
    try mine.save()
    try check(list, policy)
  }

  @Test("What a save overwrites counts as it is then, where others have added members")
  func overwrittenMembers() throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = .overwrite
    let tags = try #require(try store.model.entity(named: "Book").property(named: "tags") as? Relationship)
    let books = try #require(try store.model.entity(named: "Tag").property(named: "books") as? Relationship)
    let list = try sumOfTags(in: mine)
    let tag = try other.insert(entityNamed: "Tag")
    let first = try mine.insert(entityNamed: "Book"), second = try other.insert(entityNamed: "Book")
    try other.save()
    try mine.save()
    let mines = try mine.existingObject(entityNamed: "Tag", id: tag.id)
    _ = try mines.members(of: books)
    try second.set([tag], for: tags)
    try other.save()
    try first.set([mines], for: tags)
    try mine.save()
    #expect(try mines.members(of: books) == [first.reference])
    #expect(try mine.existingObject(entityNamed: "Book", id: second.id).members(of: tags).isEmpty)
    #expect(try list.aggregate("sum", of: nil).value.isIdentical(to: .integer(1)))
  }

  /// An object that is saved as it is in memory loses what others have added to it.
  private func check(_ list: ResultsController, _ policy: MergePolicy) throws {
    let fresh = try sumOfTags(in: Context(store: list.context.store)).aggregate("sum", of: nil).value
    #expect(fresh.isIdentical(to: .integer(policy == .overwrite ? 1 : 2)))
    #expect(try list.aggregate("sum", of: nil).value.isIdentical(to: fresh))
  }

  private func sumOfTags(in context: Context) throws -> ResultsController {
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["price"])]
    let list = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.calculate("sum", Expression.parse("sum:(tags.@count)"))
    try list.performFetch()
    return list
  }

  @Test("What is inserted again has its members, where they are not held")
  func insertedAgain() throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = .overwrite
    let tags = try #require(try store.model.entity(named: "Book").property(named: "tags") as? Relationship)
    let tag = try other.insert(entityNamed: "Tag")
    let second = try other.insert(entityNamed: "Book")
    try second.set([tag], for: tags)
    try other.save()
    let first = try mine.insert(entityNamed: "Book")
    try mine.save()
    let list = try sumOfTags(in: mine)
    try first.set([mine.existingObject(entityNamed: "Tag", id: tag.id)], for: tags)
    let books = try #require(tags.inverse)
    #expect(try mine.existingObject(entityNamed: "Tag", id: tag.id).members(of: books).count == 2)
    try other.delete(tag)
    try other.save()
    try mine.save()
    #expect(try sumOfTags(in: Context(store: store)).aggregate("sum", of: nil).value.isIdentical(to: .integer(2)))
    #expect(try list.aggregate("sum", of: nil).value.isIdentical(to: .integer(2)))
  }

  @Test("A child shows what its parent took back, with members that it has read meanwhile")
  func membersOfAChild() throws {
    let store = try LibraryFixture().store
    let parent = Context(store: store), other = Context(store: store)
    let child = Context(parent: parent)
    let author = try #require(try store.model.entity(named: "Book").property(named: "author") as? Relationship)
    let books = try #require(author.inverse)
    let person = try parent.insert(entityNamed: author.destination.name)
    let book = try parent.insert(entityNamed: "Book")
    try book.relate(to: person, through: author)
    try parent.save()
    try book.relate(to: nil, through: author)
    try parent.process()
    try child.merge()
    let mine = try child.existingObject(entityNamed: author.destination.name, id: person.id)
    #expect(try mine.members(of: books).isEmpty)
    let theirs = try other.existingObject(entityNamed: "Book", id: book.id)
    try theirs.set(.text("Emma"), for: theirs.entity.property(named: "title"))
    try other.save()
    #expect(throws: Failure.self) { try parent.save() }
    try parent.rollback()
    try child.merge()
    #expect(try mine.members(of: books) == [book.reference])
  }

  @Test("A suspended list counts members that come while a conflict is settled", arguments: [true, false])
  func membersOfASuspendedList(isSuspended: Bool) throws {
    let store = try LibraryFixture().store
    let parent = Context(store: store), child = Context(parent: parent)
    child.mergePolicy = .storeWins
    let author = try #require(try store.model.entity(named: "Book").property(named: "author") as? Relationship)
    let title = try store.model.entity(named: "Book").property(named: "title")
    let doomed = try parent.insert(entityNamed: "Book"), book = try parent.insert(entityNamed: "Book")
    try parent.save()
    let request = FetchRequest(entityName: author.destination.name)
    let list = try ResultsController(context: child, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.calculate("most", Expression.parse("max:(books.@count)"))
    try list.performFetch()
    if isSuspended { try list.suspend() }
    for each in [doomed, book] {
      try child.existingObject(entityNamed: "Book", id: each.id).set(.text("Emma"), for: title)
    }
    try book.relate(to: parent.insert(entityNamed: author.destination.name), through: author)
    try parent.delete(doomed)
    try child.save()
    if isSuspended { try list.resume(telling: true) }
    #expect(try list.aggregate("most", of: nil).value.isIdentical(to: .integer(1)))
  }
}
