import Testing

@testable import QuireCore

@Suite("Fetch indexes in the file")
struct FetchIndexTests {
  private func model(origin: ModelOrigin = .program) throws -> Model {
    let model = Model(origin: origin)
    try model.addEntity(named: "Photo")
    for (name, type) in [
      ("favorite", AttributeType.boolean), ("state", .integer16), ("name", .string), ("latitude", .double),
      ("longitude", .double), ("taken", .date),
    ] { try model.addAttribute(named: name, to: "Photo", type: type, isOptional: true) }
    try model.addEntity(named: "Album")
    try model.addRelationship(
      {
        Relationship(
          name: "photos", entity: $0, destinationName: "Photo", inverseName: "album", isToMany: true, isOptional: true)
      }, named: "photos", to: "Album")
    try model.addRelationship(
      { Relationship(name: "album", entity: $0, destinationName: "Album", inverseName: "photos", isOptional: true) },
      named: "album", to: "Photo")
    return model
  }

  private func made(_ model: Model) throws -> [String] {
    try model.freeze()
    let statements = try Schema(model: model).statements()
    let connection = try Connection.opened(
      path: ":memory:", access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
    for statement in statements { try connection.execute(statement) }
    connection.close()
    return statements.filter { $0.contains("Z_Photo") || $0.contains("Z_Album") || $0.contains("Z_RT_") }
  }

  private func failure(_ model: Model) throws -> Failure? {
    try model.freeze()
    do throws(Failure) { _ = try Schema(model: model).statements() } catch { return error }
    return nil
  }

  @Test("The object and its entity are columns of every row")
  func objectAndEntity() throws {
    let model = try model()
    try model.addFetchIndex(
      named: "byAge", to: "Photo",
      elements: [.init(property: "taken", isDescending: true), .init(.object), .init(.entity)])
    #expect(
      try made(model) == [
        "CREATE INDEX Z_Photo_byAge ON ZPHOTO (ZTAKEN COLLATE BINARY DESC, Z_PK COLLATE BINARY ASC, "
          + "Z_ENT COLLATE BINARY ASC)"
      ])
  }

  @Test(
    "Conditions are spelled as in stores of Core Data",
    arguments: [
      ("favorite == YES", "ZFAVORITE = 1"), ("state != 0", "ZSTATE <> 0"), ("state > 1", "ZSTATE > 1"),
      ("1 < state", "ZSTATE > 1"), ("name != nil", "ZNAME IS NOT NULL"), ("album == nil", "ZALBUM IS NULL"),
      ("state == 2 OR state == 4", "(ZSTATE = 2 OR ZSTATE = 4)"),
      ("state == 0 AND favorite == NO AND state == -1", "(ZSTATE = 0 AND ZFAVORITE = 0 AND ZSTATE = -1)"),
      (
        "album == nil AND state == 0 AND (latitude != 0 OR longitude == 0)",
        "(ZALBUM IS NULL AND ZSTATE = 0 AND (ZLATITUDE <> 0 OR ZLONGITUDE = 0))"
      ),
      ("name == \"it's\"", "ZNAME = 'it''s'"), ("NOT state == 1", "NOT (ZSTATE = 1)"),
    ])
  func conditions(format: String, sql: String) throws {
    let model = try model()
    try model.addFetchIndex(
      named: "some", to: "Photo", elements: [.init(property: "state", isDescending: false)],
      condition: IndexPredicate(try Predicate.parse(Text(format))))
    #expect(try made(model) == ["CREATE INDEX Z_Photo_some ON ZPHOTO (ZSTATE COLLATE BINARY ASC) WHERE \(sql)"])
  }

  @Test("An R-Tree is a virtual table and three triggers, spelled as in stores of Core Data")
  func rTree() throws {
    let model = try model()
    try model.addFetchIndex(
      named: "boundedByRect", to: "Photo", kind: .rTree,
      elements: [.init(.property("latitude")), .init(.property("longitude"))])
    let row =
      "INTO Z_RT_Photo_boundedByRect (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) "
      + "VALUES (NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END"
    #expect(
      try made(model) == [
        "CREATE VIRTUAL TABLE Z_RT_Photo_boundedByRect USING RTREE (Z_PK INTEGER PRIMARY KEY, "
          + "ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)",
        "CREATE TRIGGER Z_RT_Photo_boundedByRect_INSERT AFTER INSERT ON ZPHOTO FOR EACH ROW BEGIN "
          + "INSERT OR REPLACE \(row)",
        "CREATE TRIGGER Z_RT_Photo_boundedByRect_UPDATE AFTER UPDATE ON ZPHOTO FOR EACH ROW BEGIN "
          + "DELETE FROM Z_RT_Photo_boundedByRect WHERE Z_PK = NEW.Z_PK ; INSERT \(row)",
        "CREATE TRIGGER Z_RT_Photo_boundedByRect_DELETE AFTER DELETE ON ZPHOTO FOR EACH ROW BEGIN "
          + "DELETE FROM Z_RT_Photo_boundedByRect WHERE Z_PK = OLD.Z_PK ; END",
      ])
  }

  @Test("Indexes on relationships alone, with a to-many one, or of a name that is there make nothing")
  func nothing() throws {
    let model = try model(origin: .file)
    try model.addFetchIndex(named: "photos", to: "Album", elements: [.init(.property("photos"))])
    try model.addFetchIndex(named: "album", to: "Photo", elements: [.init(.property("album"))])
    for (name, property) in [("twice", "name"), ("TWICE", "state"), ("with blank", "name")] {
      try model.addFetchIndex(named: name, to: "Photo", elements: [.init(.property(property))])
    }
    #expect(
      try made(model) == [
        "CREATE INDEX Z_Photo_twice ON ZPHOTO (ZNAME COLLATE BINARY ASC)",
        "CREATE INDEX \"Z_Photo_with blank\" ON ZPHOTO (ZNAME COLLATE BINARY ASC)",
      ])
  }

  @Test("What cannot be made is an error that names the index")
  func failures() throws {
    let expression = try model()
    let entity = try expression.entity(named: "Photo")
    try expression.addFetchIndex(
      named: "loud", to: "Photo",
      elements: [.init(IndexedExpression.target(try Expression.parse("uppercase:(name)"), of: entity))])
    let condition = try model()
    try condition.addFetchIndex(
      named: "loud", to: "Photo", elements: [.init(.property("state"))],
      condition: IndexPredicate(try Predicate.parse("name CONTAINS 'x'")))
    let tree = try model()
    try tree.addFetchIndex(named: "loud", to: "Photo", kind: .rTree, elements: [.init(.property("name"))])
    for model in [expression, condition, tree] {
      let failure = try #require(try failure(model))
      #expect(failure.kind == .unsupported)
      #expect("\(failure.message)".contains("index 'loud' of entity 'Photo'"))
    }
  }

  @Test("SELF, entity and single keys are elements without an expression")
  func plainExpressions() throws {
    let entity = try model().entity(named: "Photo")
    for (format, expected) in [
      ("SELF", FetchIndex.Target.object), ("entity", .entity), ("SELF.name", .property("name")),
      ("name", .property("name")),
    ] {
      #expect("\(IndexedExpression.target(try Expression.parse(Text(format)), of: entity))" == "\(expected)")
    }
  }

  @Test("The properties of an index and of its condition must be there, unless a file says so")
  func names() throws {
    let wrong = try model()
    try wrong.addFetchIndex(named: "x", to: "Photo", elements: [.init(.property("gone"))])
    #expect(throws: Failure.self) { try wrong.freeze() }
    for origin in [ModelOrigin.program, .file] {
      let model = try model(origin: origin)
      try model.addFetchIndex(
        named: "x", to: "Photo", elements: [.init(.property("state"))],
        condition: IndexPredicate(try Predicate.parse("album.photos.@count > 1")))
      if origin == .file { try model.freeze() } else { #expect(throws: Failure.self) { try model.freeze() } }
    }
  }
}
