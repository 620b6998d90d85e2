import Testing

@testable import QuireCore

@Suite("Fetch templates")
struct FetchTemplateTests {
  private func template(_ format: String) throws -> FetchRequest {
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse(Text(format), arguments: [])
    return request
  }

  @Test func aTemplateGivesACopyWithItsVariablesReplaced() throws {
    let model = try LibraryFixture.makeModel()
    let original = try template(
      "price < $limit AND ANY tags.word == $word AND SUBQUERY(tags, $t, $t.word != $word).@count > 0")
    original.limit = 3
    try model.addFetchTemplate(named: "cheap", original.copy())
    original.limit = 4
    let values: [String: Expression] = ["limit": .constant(.integer(5)), "word": .constant(.text("x"))]
    let request = try model.request(fromTemplate: "cheap", variables: values)
    #expect(request.limit == 3)
    #expect(
      request.predicate?.text
        == "price < 5 AND ANY tags.word == \"x\" AND SUBQUERY(tags, $t, $t.word != \"x\").@count > 0")
    request.limit = 9
    #expect(try model.request(fromTemplate: "cheap", variables: values).limit == 3)
    try model.freeze()
    #expect(failure { try model.addFetchTemplate(named: "late", original) }?.kind == .invalidState)
  }

  @Test func columnsAndTheConditionOnGroupsHaveVariablesToo() throws {
    let model = try LibraryFixture.makeModel()
    let request = try template("price > $least")
    request.resultType = .dictionaries
    request.projection.groups = [["author"]]
    request.projection.columns = [
      Projection.Column(keyPath: ["author"]),
      Projection.Column(name: "total", expression: try Expression.parse("sum:(price) * $rate")),
    ]
    request.projection.having = try Predicate.parse("$total > $least")
    try model.addFetchTemplate(named: "totals", request)
    let made = try model.request(
      fromTemplate: "totals", variables: ["least": .constant(.integer(1)), "rate": .constant(.integer(2))])
    #expect(made.predicate?.text == "price > 1")
    #expect(made.projection.columns.map(\.expression.text) == ["author", "sum:(price) * 2"])
    #expect(made.projection.having?.text == "$total > 1")
    #expect(made.projection.groups == [["author"]])
  }

  @Test func variablesAreAllNeededAndNoOthers() throws {
    let model = try LibraryFixture.makeModel()
    try model.addFetchTemplate(named: "two", template("title == $one OR price == $two OR title == $one"))
    func message(_ values: [String: Expression], _ name: String = "two") throws -> String {
      let failure = try #require(failure { _ = try model.request(fromTemplate: name, variables: values) })
      #expect(failure.kind == .invalidArgument)
      return failure.message.string
    }
    #expect(try message([:]).contains("$one, $two."))
    #expect(try message(["one": .constant(.nil)]).contains("value for $two."))
    #expect(
      try message(["one": .constant(.nil), "two": .constant(.nil), "tow": .constant(.nil)]).contains("no variable $tow")
    )
    #expect(try message([:], "three").contains("It has: two."))
    #expect(
      try model.request(fromTemplate: "two", variables: ["one": .constant(.nil), "two": .constant(.nil)]).predicate
        != nil)
    #expect(failure { try model.addFetchTemplate(named: "two", template("TRUEPREDICATE")) }?.kind == .invalidModel)
    #expect(failure { try model.addFetchTemplate(named: "", template("TRUEPREDICATE")) }?.kind == .invalidModel)
  }

  @Test func theEntityOfATemplateExistsWhenTheModelIsUsed() throws {
    let model = try LibraryFixture.makeModel()
    try model.addFetchTemplate(named: "lost", FetchRequest(entityName: "Nowhere"))
    let failure = try #require(failure { try model.freeze() })
    #expect(failure.kind == .invalidModel && failure.message.string.contains("'lost'"))
  }

  @Test func aCopyHasEveryOptionOfItsOriginal() throws {
    let request = try template("TRUEPREDICATE")
    request.sort = [SortDescriptor(keyPath: ["title"])]
    (request.limit, request.offset, request.batchSize) = (1, 2, 3)
    request.resultType = .ids
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.prefetchedKeyPaths = [["author"]]
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = true
    request.shouldRefreshRefetchedObjects = true
    request.cancellation = Cancellation()
    request.progress = FetchMonitor.Progress(nanoseconds: 1) { _ in true }
    request.projection.columns = [Projection.Column(keyPath: ["title"])]
    func fields(_ request: FetchRequest) -> [String] {
      // The stamp, and what is lent to callers, are each request's own.
      Mirror(reflecting: request).children.filter { $0.label != "stamp" && $0.label != "lent" }
        .map { "\($0.label ?? ""): \($0.value)" }
    }
    let plain = fields(FetchRequest(entityName: "Book"))
    let differing = zip(fields(request), plain).filter { $0 != $1 }.count
    #expect(differing == plain.count - 1, "an option was added: set it here, and copy it in FetchRequest.copy")
    #expect(fields(request.copy()) == fields(request))
  }
}
