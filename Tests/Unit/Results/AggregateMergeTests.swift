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
    let request = FetchRequest(entityName: "Book")
    request.sort = [SortDescriptor(keyPath: ["price"])]
    let list = try ResultsController(context: mine, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.calculate("sum", Expression.parse("sum:(tags.@count)"))
    try list.performFetch()
    try second.set([tag], for: relationship(second, "tags"))
    try other.save()
    try first.set([mine.existingObject(entityNamed: "Tag", id: tag.id)], for: relationship(first, "tags"))
    try mine.save()
    let sum = try list.aggregate("sum", of: nil).value
    #expect(Value.areSame(sum, .integer(2)), "\(sum)")
  }
}
