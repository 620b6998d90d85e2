import Testing

@testable import QuireCore

@Suite struct StoreFetchTests {
  let library: LibraryFixture

  /// Ann (1) and Bob (2) are persons, Zoe (3) an author, Acme (4) a company. Books 1 to 6 have prices and authors
  /// with gaps and ties.
  init() throws {
    library = try LibraryFixture()
    try library.save(inserts: [
      try library.new("Person", -1, ["name": .text("Ann"), "age": .integer(30)]),
      try library.new("Person", -2, ["name": .text("Bob")]),
      try library.new("Author", -3, ["name": .text("Zoe"), "age": .integer(50)]),
      try library.new("Company", -4, ["name": .text("Acme")]),
      try library.new(
        "Book", -1, ["title": .text("b"), "price": .double(2), "author": try library.object("Party", -3)]),
      try library.new(
        "Book", -2, ["title": .text("a"), "price": .double(1), "author": try library.object("Party", -1)]),
      try library.new("Book", -3, ["title": .text("c"), "price": .double(2)]),
      try library.new("Book", -4, ["title": .text("B"), "author": try library.object("Party", -2)]),
      try library.new(
        "Book", -5, ["title": .text("é"), "price": .double(-3), "author": try library.object("Party", -3)]),
      try library.new("Book", -6, ["price": .double(10)]),
    ])
  }

  private func plan(_ entity: String, where format: String? = nil, _ sort: String...) throws -> FetchPlan {
    var plan = FetchPlan(entity: try library.entity(entity))
    if let format { plan.predicate = try Predicate.parse(Text(format)) }
    plan.sort = try sort.map { key in
      let path = try self.path(String(key.drop { $0 == "-" }), of: entity, for: .sort)
      return BoundSort(path, isAscending: !key.hasPrefix("-"))
    }
    return plan
  }

  private func path(
    _ text: String, of entity: String, for purpose: ResolvedKeyPath.Purpose = .fetchedProperty
  ) throws -> ResolvedKeyPath {
    try ResolvedKeyPath(
      text.split(separator: ".").map(String.init), of: try library.entity(entity), for: purpose)
  }

  private func ids(_ plan: FetchPlan) throws -> [Int64] { try library.store.newest.ids(plan).map(\.id) }

  @Test func withoutASortRowsComeByPrimaryKey() throws {
    #expect(try ids(try plan("Book")) == [1, 2, 3, 4, 5, 6])
  }

  @Test func nilComesFirstAscendingAndLastDescendingAndTiesFallToThePrimaryKey() throws {
    #expect(try ids(try plan("Book", "price")) == [4, 5, 2, 1, 3, 6])
    #expect(try ids(try plan("Book", "-price")) == [6, 1, 3, 2, 5, 4])
  }

  @Test func textSortsByCodePoint() throws {
    #expect(try ids(try plan("Book", "title")) == [6, 4, 2, 1, 3, 5])
  }

  @Test func keysApplyInTheirOrder() throws {
    #expect(try ids(try plan("Book", "price", "-title")) == [4, 5, 2, 3, 1, 6])
  }

  @Test func sortsThroughAToOneRelationshipKeepRowsWhosePathEndsInNil() throws {
    #expect(try ids(try plan("Book", "author.name", "-price")) == [6, 3, 2, 4, 1, 5])
  }

  @Test func sortsByAToOneRelationshipItself() throws {
    #expect(try ids(try plan("Book", "-author", "price")) == [5, 1, 4, 2, 3, 6])
  }

  @Test func limitAndOffsetCutTheSortedRows() throws {
    var plan = try plan("Book", "price")
    plan.limit = 2
    #expect(try ids(plan) == [4, 5])
    plan.offset = 4
    #expect(try ids(plan) == [3, 6])
    plan.offset = 5
    #expect(try ids(plan) == [6])
    #expect(try library.store.newest.count(plan) == 1)
    plan.offset = 100
    #expect(try ids(plan) == [])
    #expect(try library.store.newest.count(plan) == 0)
    plan.limit = nil
    plan.offset = 3
    #expect(try ids(plan) == [1, 3, 6])
    #expect(try library.store.newest.count(plan) == 3)
    plan.limit = 0
    #expect(try ids(plan) == [])
    plan.limit = .max
    plan.offset = .max
    #expect(try ids(plan) == [])
  }

  @Test func negativeLimitsAndOffsetsAreRefused() throws {
    var plan = try plan("Book")
    plan.limit = -1
    #expect(failure { _ = try ids(plan) }?.kind == .invalidArgument)
    plan.limit = nil
    plan.offset = -1
    #expect(failure { _ = try library.store.newest.count(plan) }?.kind == .invalidArgument)
  }

  @Test func subentitiesAreIncludedOnlyWhenAsked() throws {
    func found(_ entity: String, _ includesSubentities: Bool) throws -> [Int64] {
      var plan = FetchPlan(entity: try library.entity(entity))
      plan.includesSubentities = includesSubentities
      #expect(try library.store.newest.count(plan) == (try ids(plan)).count)
      #expect(try library.store.newest.rows(plan).map(\.id) == (try ids(plan)))
      return try ids(plan)
    }
    #expect(try found("Party", true) == [1, 2, 3, 4])
    #expect(try found("Party", false) == [])
    #expect(try found("Person", true) == [1, 2, 3])
    #expect(try found("Person", false) == [1, 2])
    #expect(try found("Author", true) == [3])
    #expect(try found("Author", false) == [3])
  }

  @Test func identifiersCarryTheConcreteEntity() throws {
    let names = try library.store.newest.ids(try plan("Party")).map {
      library.model.entity(numbered: Int($0.entity))?.name
    }
    #expect(names == ["Person", "Person", "Author", "Company"])
  }

  @Test func predicatesFilterAndTreatNilAsAValue() throws {
    #expect(try ids(try plan("Book", where: "price == 2")) == [1, 3])
    #expect(try ids(try plan("Book", where: "author == nil")) == [3, 6])
    #expect(try ids(try plan("Book", where: "author.name == 'Zoe'", "price")) == [5, 1])
    #expect(try ids(try plan("Book", where: "author.age == nil")) == [3, 4, 6])
    #expect(try library.store.newest.count(try plan("Book", where: "author.name == 'Zoe'")) == 2)
  }

  @Test func predicatesWorkTogetherWithEveryOtherCondition() throws {
    var plan = try plan("Book", where: "author.name == 'Zoe'", "-author.name", "price")
    plan.excluded = [5]
    #expect(try ids(plan) == [1])
    plan.excluded = []
    plan.isRestrictedTo = [2, 5]
    #expect(try ids(plan) == [5])
    plan.limit = 1
    plan.offset = 1
    #expect(try ids(plan) == [])
  }

  @Test func predicatesOfSubentitiesSeeInheritedProperties() throws {
    #expect(try ids(try plan("Author", where: "name == 'Zoe'")) == [3])
    #expect(try ids(try plan("Author", where: "name == 'Ann'")) == [])
    #expect(try ids(try plan("Person", where: "age == nil")) == [2])
  }

  @Test func thousandsOfRowsCanBeLeftOutOrPicked() throws {
    try library.save(inserts: try (1...20_000).map { try library.new("Tag", -Int64($0)) })
    var plan = try plan("Tag")
    plan.excluded = (1...20_000).filter { $0 % 1000 != 0 }.map(Int64.init)
    #expect(try ids(plan) == (1...20).map { Int64($0) * 1000 })
    #expect(try library.store.newest.count(plan) == 20)
    plan.excluded = []
    plan.isRestrictedTo = (5_000...9_999).map(Int64.init) + [1_000_000, -5]
    #expect(try library.store.newest.count(plan) == 5000)
    plan.excluded = (5_000...9_998).map(Int64.init)
    #expect(try ids(plan) == [9_999])
    plan.isRestrictedTo = []
    #expect(try ids(plan) == [])
  }

  @Test func scanYieldsTheValuesOfKeyPathsInOrder() throws {
    var lines: [String] = []
    try library.store.newest.scan(
      try plan("Book", "author.name", "-price"),
      paths: try ["title", "author.name", "author", "price"].map { try path($0, of: "Book") }
    ) { row, values in
      lines.append("\(row.id) " + values.map { $0.sectionName.string }.joined(separator: ","))
    }
    #expect(lines == ["6 ,,,10.0", "3 c,,,2.0", "2 a,Ann,1,1.0", "4 B,Bob,2,", "1 b,Zoe,3,2.0", "5 é,Zoe,3,-3.0"])
  }

  @Test func scanMayKeepItsValuesAndUseTheStore() throws {
    var kept: [[Value]] = []
    let plan = try plan("Book", "title")
    try library.store.newest.scan(plan, paths: [try path("title", of: "Book")]) { row, values throws(Failure) in
      kept.append(values)
      let inner = try library.store.newest.ids(plan)
      #expect(inner.count == 6)
    }
    #expect(kept.map { $0[0].sectionName.string } == ["", "B", "a", "b", "c", "é"])
  }

  @Test func anErrorInScanComesOut() throws {
    let stop = Failure(.invalidState, "Enough.")
    let failure = failure {
      try library.store.newest.scan(try plan("Book"), paths: []) { _, _ throws(Failure) in throw stop }
    }
    #expect(failure === stop)
  }

  @Test func deepPathsShareTheirJoins() throws {
    try library.save(
      inserts: try (1...5).map { depth in
        try library.new(
          "Node", -Int64(depth),
          ["title": .text("n\(depth)")].merging(
            depth > 1 ? ["parent": try library.object("Node", 1 - Int64(depth))] : [:]
          ) { $1 })
      })
    var seen: [String] = []
    let up = try ["parent.parent.parent.title", "parent.parent"].map { try path($0, of: "Node") }
    try library.store.newest.scan(
      try plan("Node", "-parent.parent.parent.title", "parent.parent.title"), paths: up
    ) { row, values in
      seen.append("\(row.id):\(values[0].sectionName):\(values[1].sectionName)")
    }
    #expect(seen == ["5:n2:3", "4:n1:2", "1::", "2::", "3::1"])
  }

  @Test func keyPathsThatTheStoreCannotFollowAreNamed() throws {
    func kind(_ path: String) throws -> (Failure.Kind?, String) {
      let failure = failure { _ = try ids(try plan("Book", path)) }
      return (failure?.kind, failure?.message.string ?? "")
    }
    let unknown = try kind("author.nmae")
    #expect(unknown.0 == .invalidArgument && unknown.1.contains("'Person' has no property 'nmae'"))
    #expect(try kind("title.length").0 == .invalidArgument)
    #expect(try kind("author.books.title").0 == .invalidArgument)
    #expect(try kind("tags").0 == .invalidArgument)
    #expect(try kind("draft").0 == .invalidArgument)
    let transient = failure { _ = try ids(try plan("Sample", "note")) }
    #expect(transient?.message.string.contains("Sample.note") == true && transient?.kind == .invalidArgument)
    #expect(failure { _ = try ResolvedKeyPath([], of: library.entity("Book"), for: .sort) }?.kind == .invalidArgument)
  }

  @Test func rowsThatReachChangedObjectsAreFound() throws {
    func reaching(_ entity: String, _ path: [(String, String)], _ destination: String, _ ids: [Int64]) throws -> [Int64]
    {
      try library.store.newest.ids(
        reaching: try ids.map { try library.reference(destination, $0) },
        along: try path.map { try library.relationship($0.0, $0.1) }, from: try library.entity(entity))
    }
    try library.save(
      inserts: [
        try library.new("Passport", -1, ["holder": try library.object("Party", 3)]), try library.new("Tag", -1),
        try library.new("Shelf", -1), try library.new("Label", -1),
      ],
      updates: [
        try library.change("Author", 3, ["passport": try library.object("Passport", -1)]),
        try library.change("Book", 2, ["shelf": try library.object("Shelf", -1)]),
      ],
      toMany: [
        try library.toMany("Book", "tags", of: 4, added: [-1]),
        try library.toMany("Shelf", "labels", of: -1, added: [-1]),
        try library.toMany("Person", "friends", of: 1, added: [2]),
      ])
    #expect(try reaching("Book", [("Book", "author")], "Party", [3]) == [1, 5])
    #expect(try reaching("Book", [("Book", "author")], "Party", [1, 2, -3]) == [2, 4])
    #expect(try reaching("Book", [("Book", "author"), ("Person", "passport")], "Passport", [1]) == [1, 5])
    #expect(try reaching("Person", [("Person", "books")], "Book", [1, 2]) == [1, 3])
    #expect(try reaching("Author", [("Person", "books")], "Book", [1, 2]) == [3])
    #expect(try reaching("Person", [("Person", "books"), ("Book", "tags")], "Tag", [1]) == [2])
    #expect(try reaching("Book", [("Book", "author"), ("Person", "friends")], "Party", [1]) == [4])
    #expect(try reaching("Book", [("Book", "author"), ("Person", "friends")], "Party", [2]) == [2])
    #expect(try reaching("Book", [("Book", "shelf"), ("Shelf", "labels")], "Label", [1]) == [2])
    #expect(try reaching("Book", [("Book", "author")], "Tag", [1]) == [])
    #expect(failure { _ = try reaching("Book", [], "Tag", [1]) }?.kind == .invalidArgument)
  }

  @Test func anEqualityOnAnIndexedColumnBeatsTheIndexOnTheEntity() throws {
    let explanation = try library.store.newest.explain(try plan("Author", where: "passport == nil AND name == 'Zoe'"))
    #expect(explanation.steps.contains { $0.contains("ZPASSPORT") }, "\(explanation)")
    #expect(explanation.sql.contains("FROM ZPARTY"))
    let sorted = try library.store.newest.explain(try plan("Book", "title"))
    #expect(sorted.steps.contains { $0.contains("ORDER BY") })
  }

  @Test func aReadOnlyStoreAnswersEveryKindOfFetch() throws {
    let folder = try TemporaryFolder()
    let written = try LibraryFixture(in: folder)
    try written.save(inserts: try (1...3000).map { try written.new("Tag", -Int64($0)) })
    try written.store.close()
    let store = try Store.open(
      path: LibraryFixture.path(in: folder), model: try LibraryFixture.makeModel(), options: .init(isReadOnly: true))
    var plan = FetchPlan(entity: try store.model.entity(named: "Tag"))
    plan.excluded = (1...2999).map(Int64.init)
    #expect(try store.newest.ids(plan).map(\.id) == [3000])
    #expect(try store.newest.rows(root: plan.entity, ids: [5]).map(\.id) == [5])
    var request = SaveRequest()
    request.deletes = [.init(entity: plan.entity, id: 1, expectedVersion: 1)]
    #expect(failure { _ = try store.save(request) }?.kind == .readOnly)
    try store.close()
    #expect(failure { _ = try store.newest.ids(plan) }?.kind == .closed)
  }
}
