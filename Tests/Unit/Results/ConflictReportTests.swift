import Testing

@testable import QuireCore

/// What lists tell of rows that others have changed, where a save finds some of that in conflict with its own changes.
@Suite("Reports after a conflict")
struct ConflictReportTests {
  @Test("A row of no object is told of with all that became different, members and values")
  func valuesAndMembers() throws {
    let store = try LibraryFixture().store
    let mine = Context(store: store), other = Context(store: store)
    mine.mergePolicy = .overwrite
    let entity = try store.model.entity(named: "Person")
    let name = try entity.property(named: "name")
    let friends = try #require(try entity.property(named: "friends") as? Relationship)
    let theirs = try (0..<3).map { _ in try other.insert(entityNamed: "Person") }
    try other.save()
    try mine.merge()

    let request = FetchRequest(entityName: "Person")
    request.sort = [SortDescriptor(keyPath: ["age"])]
    let list = try ResultsController(context: mine, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.performFetch()
    try mine.delete(mine.existingObject(entityNamed: "Person", id: theirs[2].id))
    for person in theirs { try person.set(.text("Bob"), for: name) }
    try theirs[0].set([theirs[1]], for: friends)
    try other.save()
    try mine.save()

    var keys: [Text] = []
    while let changes = try list.nextChanges() {
      for change in changes.changes where change.id == theirs[0].id { keys += change.keys }
    }
    #expect(keys.contains("name") && keys.contains("friends"), "\(keys)")
  }
}
