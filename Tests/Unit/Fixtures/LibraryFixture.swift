import Testing

@testable import QuireCore

/// A store with one entity of every shape, and short ways to fill and to look into it.
struct LibraryFixture {
  let model: Model
  let store: Store
  private let folder: TemporaryFolder?

  /// In memory unless there is a folder for it.
  init(in folder: TemporaryFolder? = nil, options: Store.Options = .init()) throws {
    self.folder = folder
    model = try LibraryFixture.makeModel()
    store = try Store.open(path: folder.map(LibraryFixture.path) ?? ":memory:", model: model, options: options)
  }

  static func path(in folder: TemporaryFolder) -> Text { Text(folder.file("library.sqlite")) }

  static func makeModel() throws -> Model {
    let model = Model()
    func entity(_ name: String, parent: String = "", isAbstract: Bool = false, _ attributes: [(String, AttributeType)])
      throws
    {
      try model.addEntity(named: name, parent: parent, isAbstract: isAbstract)
      for (attribute, type) in attributes {
        try model.addAttribute(named: attribute, to: name, type: type, isOptional: true)
      }
    }
    func relate(
      _ owner: String, _ name: String, to destination: String, inverse: String = "", toMany: Bool = false,
      ordered: Bool = false, transient: Bool = false
    ) throws {
      try model.addRelationship(
        { entity in
          Relationship(
            name: name, entity: entity, destinationName: destination, inverseName: inverse, isToMany: toMany,
            isOrdered: ordered, isOptional: true, isTransient: transient)
        }, named: name, to: owner)
    }
    try entity(
      "Sample",
      [
        ("short", .integer16), ("middle", .integer32), ("long", .integer64), ("flag", .boolean), ("real", .double),
        ("single", .float), ("exact", .decimal), ("name", .string), ("moment", .date), ("bytes", .binary),
        ("key", .uuid), ("link", .uri), ("blob", .transformable),
      ])
    try model.addAttribute(
      named: "note", to: "Sample", type: .string, isOptional: true, isTransient: true, defaultValue: .text("unwritten"))

    try entity("Party", isAbstract: true, [("name", .string)])
    try entity("Person", parent: "Party", [("age", .integer32), ("code", .string)])
    try entity("Author", parent: "Person", [("prize", .string)])
    try entity("Company", parent: "Party", [("code", .integer64)])
    try entity("Book", [("title", .string), ("price", .double)])
    try entity("Shelf", [("place", .string)])
    try entity("Tag", [("word", .string)])
    try entity("Label", [("text", .string)])
    try entity("Passport", [("number", .string)])
    try entity("Account", [("email", .string), ("realm", .string), ("handle", .string)])
    try entity("Node", [("title", .string)])

    try relate("Book", "author", to: "Person", inverse: "books")
    try relate("Person", "books", to: "Book", inverse: "author", toMany: true)
    try relate("Book", "shelf", to: "Shelf", inverse: "books")
    try relate("Shelf", "books", to: "Book", inverse: "shelf", toMany: true, ordered: true)
    try relate("Book", "tags", to: "Tag", inverse: "books", toMany: true, ordered: true)
    try relate("Tag", "books", to: "Book", inverse: "tags", toMany: true)
    try relate("Book", "publisher", to: "Company")
    try relate("Book", "draft", to: "Label", transient: true)
    try relate("Person", "passport", to: "Passport", inverse: "holder")
    try relate("Passport", "holder", to: "Person", inverse: "passport")
    try relate("Person", "friends", to: "Person", inverse: "friends", toMany: true)
    try relate("Shelf", "labels", to: "Label", toMany: true)
    try relate("Shelf", "pins", to: "Label", toMany: true, ordered: true)
    try relate("Node", "parent", to: "Node", inverse: "children")
    try relate("Node", "children", to: "Node", inverse: "parent", toMany: true)
    try model.addUniquenessConstraint(to: "Account", properties: ["email"])
    try model.addUniquenessConstraint(to: "Account", properties: ["realm", "handle"])
    return model
  }

  func entity(_ name: String) throws -> Entity { try model.entity(named: name) }

  func relationship(_ entity: String, _ name: String) throws -> Relationship {
    try #require(try model.entity(named: entity).property(named: name) as? Relationship)
  }

  func reference(_ entity: String, _ id: Int64) throws -> ObjectReference {
    ObjectReference(root: try model.entity(named: entity).rootNumber, id: id)
  }

  func object(_ entity: String, _ id: Int64) throws -> Value { .object(try reference(entity, id)) }

  func new(_ entityName: String, _ id: Int64, _ values: [String: Value] = [:]) throws -> SaveRequest.Insert {
    let entity = try entity(entityName)
    var slots = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
    for (name, value) in values { slots[try entity.property(named: name).slot] = value }
    return SaveRequest.Insert(entity: entity, id: id, values: slots)
  }

  func change(
    _ entityName: String, _ id: Int64, version: Int64 = 1, _ values: [String: Value] = [:]
  ) throws -> SaveRequest.Update {
    let entity = try entity(entityName)
    var changes: [(slot: Int, value: Value)] = []
    for (name, value) in values { changes.append((try entity.property(named: name).slot, value)) }
    return SaveRequest.Update(entity: entity, id: id, expectedVersion: version, changes: changes)
  }

  func removal(_ entityName: String, _ id: Int64, version: Int64 = 1) throws -> SaveRequest.Delete {
    SaveRequest.Delete(entity: try entity(entityName), id: id, expectedVersion: version)
  }

  func toMany(
    _ entity: String, _ name: String, of id: Int64, added: [Int64] = [], removed: [Int64] = [], order: [Int64]? = nil
  ) throws -> SaveRequest.ToManyChange {
    let relationship = try relationship(entity, name)
    func references(_ ids: [Int64]) -> [ObjectReference] {
      ids.map { ObjectReference(root: relationship.destination.rootNumber, id: $0) }
    }
    return SaveRequest.ToManyChange(
      relationship: relationship, owner: try reference(entity, id), added: references(added),
      removed: references(removed), order: order.map(references))
  }

  @discardableResult
  func save(
    inserts: [SaveRequest.Insert] = [], updates: [SaveRequest.Update] = [], deletes: [SaveRequest.Delete] = [],
    toMany: [SaveRequest.ToManyChange] = []
  ) throws -> SaveResult {
    try store.save(
      SaveRequest(inserts: ContiguousArray(inserts), updates: updates, deletes: deletes, toManyChanges: toMany))
  }

  /// The message of a save that must fail and leave the file as it was.
  @discardableResult
  func failing(
    _ kind: Failure.Kind, inserts: [SaveRequest.Insert] = [], updates: [SaveRequest.Update] = [],
    deletes: [SaveRequest.Delete] = [], toMany: [SaveRequest.ToManyChange] = []
  ) throws -> String {
    let before = try contents()
    let failure = try #require(
      failure { try save(inserts: inserts, updates: updates, deletes: deletes, toMany: toMany) })
    #expect(failure.kind == kind, "\(failure)")
    #expect(try contents() == before)
    return failure.message.string
  }

  func number(_ entityName: String) throws -> Int { try entity(entityName).number }

  /// The rows that plain SQL yields, columns joined by a bar, NULL as "-".
  func sql(_ sql: String) throws -> [String] {
    try store.withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql)
      var rows: [String] = []
      while try statement.step() {
        rows.append(
          (0..<statement.columnCount).map { statement.text(at: $0)?.string ?? "-" }.joined(separator: "|"))
      }
      return rows
    }
  }

  /// Everything that the file holds, row by row.
  func contents() throws -> [String] {
    var contents: [String] = []
    for table in try sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
      let columns = try sql("SELECT name FROM pragma_table_info('\(table)')")
      let quoted = columns.map { "quote(\($0))" }.joined(separator: ", ")
      contents += try sql("SELECT '\(table)', \(quoted) FROM \(table) ORDER BY rowid")
    }
    return contents
  }

  func related(_ entity: String, _ name: String, of id: Int64) throws -> [Int64] {
    try store.newest.relatedIDs(try relationship(entity, name), of: id).map(\.id)
  }

  func row(_ entity: String, _ id: Int64) throws -> Row {
    try #require(try store.newest.rows(root: try self.entity(entity).root, ids: [id]).first)
  }

  func value(_ entity: String, _ id: Int64, _ property: String) throws -> Value {
    let row = try row(entity, id)
    return row.values[try row.entity.property(named: property).slot]
  }
}

/// The failure that `body` throws; nil, hence a failed expectation, when it throws none.
func failure(of body: () throws -> Void) -> Failure? {
  do { try body() } catch { return error as? Failure }
  return nil
}

extension Store {
  /// Runs `body` in the midst of a read, when new objects get temporary ids.
  func withoutReservedIDs<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try withConnection { connection throws(Failure) in
      returnReservedIDs(on: connection)
      return try connection.snapshot(body)
    }
  }
}
