import Testing

@testable import QuireCore

@Suite("The model that a store keeps")
struct KeptModelTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private var path: Text { Text(folder.file("a.sqlite")) }

  /// Persons with two relationships to each other.
  private func model(naming: String? = nil, on relationship: String = "friends") throws -> Model {
    let model = Model()
    try model.addEntity(named: "Person", className: "App.Person")
    try model.addAttribute(named: "name", to: "Person", type: .string, isSearchable: true, defaultValue: .text("x"))
    try model.addAttribute(named: "link", to: "Person", type: .uri, isOptional: true)
    try model.setUserInfo(of: "Person", property: "name", key: "shown", to: "first")
    for (name, inverse) in [("friends", "friendOf"), ("friendOf", "friends")] {
      try model.addRelationship(
        {
          Relationship(
            name: name, entity: $0, destinationName: "Person", inverseName: inverse, isToMany: true, isOptional: true,
            namesJoinTable: naming == name)
        }, named: name, to: "Person")
    }
    try model.addFetchIndex(named: "byName", to: "Person", elements: [FetchIndex.Element(.property("name"))])
    try model.addVersionIdentifier("v1")
    return model
  }

  @Test("A file opens without its model, which is the same with all that is Quire's own")
  func keeps() throws {
    let model = try model()
    try Store.open(path: path, model: model).close()
    let kept = try ModelFile.load(path: path)
    #expect(try ModelSummary.lines(of: kept) == ModelSummary.lines(of: model))
    #expect(try ModelSummary.hashes(of: kept) == ModelSummary.hashes(of: model))
    let name = try #require(kept.entity(named: "Person").propertiesByName["name"] as? Attribute)
    #expect(name.isSearchable && name.userInfo.entries.map(\.key) == ["shown"])
    let source = try XMLModelReader.model(of: XMLModelWriter.contents(of: kept), "It")
    #expect((try source.entity(named: "Person").ownAttributes.first { $0.name == "name" })?.isSearchable == true)
    try Store.open(path: path, model: kept, options: Store.Options(mustExist: true)).close()
  }

  @Test("Either of two relationships of one entity can name the table, and a file says which")
  func joinTables() throws {
    for name in ["friends", "friendOf"] {
      let model = try model(naming: name)
      try Store.open(path: path, model: model).close()
      let other = name == "friends" ? "friendOf" : "friends"
      #expect(
        try Schema(model: model).statements().contains(
          "CREATE TABLE Z_1\(name.uppercased()) ( Z_1\(other.uppercased()) INTEGER, Z_1\(name.uppercased()) INTEGER, "
            + "PRIMARY KEY (Z_1\(other.uppercased()), Z_1\(name.uppercased())) )"))
      let kept = try ModelFile.load(path: path)
      #expect(try Schema(model: kept).statements() == Schema(model: model).statements())
      // What is written down as a source makes the same file.
      let source = try XMLModelReader.model(of: XMLModelWriter.contents(of: kept), "It")
      try source.freeze()
      #expect(try Schema(model: source).statements() == Schema(model: model).statements())
      try Store.delete(path: path)
    }
  }

  @Test("What has no join table cannot name one")
  func misplacedNames() throws {
    func failure(_ change: (Model) throws -> Void) throws -> String {
      let model = try model(naming: "friends")
      try change(model)
      return try #require(throws: Failure.self) { try model.freeze() }.message.string
    }
    func add(_ name: String, inverse: String = "", isToMany: Bool, to model: Model) throws {
      try model.addRelationship(
        {
          Relationship(
            name: name, entity: $0, destinationName: "Person", inverseName: inverse, isToMany: isToMany,
            namesJoinTable: true)
        }, named: name, to: "Person")
    }
    let alone = try failure { try add("all", isToMany: true, to: $0) }
    #expect(alone.contains("'Person.all' names a join table and has none"))
    let single = try failure { try add("one", inverse: "one", isToMany: false, to: $0) }
    #expect(single.contains("'Person.one' names a join table and has none"))
    #expect(
      try failure {
        try add("a", inverse: "b", isToMany: true, to: $0)
        try add("b", inverse: "a", isToMany: true, to: $0)
      }.contains("both name their join table"))
  }

  @Test("A model that cannot be kept still makes a store, which opens with it")
  func unkeepable() throws {
    func model() throws -> Model {
      let model = Model()
      try model.addEntity(named: "Note")
      try model.addAttribute(named: "title", to: "Note", type: .string, defaultValue: .text(Text("a\u{0}b")))
      return model
    }
    try Store.open(path: path, model: model()).close()
    try Store.open(path: path, model: model()).close()
    let failure = try #require(throws: Failure.self) { try ModelFile.load(path: path) }
    #expect(failure.kind == .invalidModel && failure.message.string.contains("keeps no model"))
  }

  @Test("A store without a copy of its model opens as before, and is left without one")
  func olderStores() throws {
    try Store.open(path: path, model: model()).close()
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 1000)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    let store = try Store.open(path: path, model: model())
    #expect(try store.withConnection { connection throws(Failure) in try connection.tables() }["Z_MODELCACHE"] == nil)
    try store.close()
  }

  @Test("Indexes and defaults of models of the framework come back from a copy")
  func frameworkParts() throws {
    let model = try XMLModelReader.model(of: Bytes(ModelFileTests.contents.utf8), "The model")
    try model.freeze()
    let archive = try #require(ModelWriter.archive(of: model))
    let root = try #require(try KeyedArchive(archive, "it").root)
    let item = try #require(root["NSEntities"]?.named?.first { $0.name == "Item" }?.node)
    let compounds = item["NSCompoundIndexes"]?.elements?.map { $0.elements?.compactMap(\.text) ?? [] }
    #expect(compounds == [["size", "when"]])
    let indexed = item["NSProperties"]?.named?.filter { $0.node["NSIsIndexed"]?.boolean == true }.map(\.name)
    #expect(Set(indexed ?? []) == ["title", "price"])
  }

  @Test("A store of the model of a store has its statements", .enabled(if: SharedModels.isThere),
    arguments: SharedModels.stores.filter { !$0.contains("photos") })
  func statements(_ path: String) throws {
    let original = Text(SharedModels.data + path), model = try ModelFile.load(path: original)
    try Store.open(path: self.path, model: model).close()
    #expect(try KeptModelTests.statements(of: self.path) == KeptModelTests.statements(of: original))
    let kept = try ModelFile.load(path: self.path)
    #expect(try ModelSummary.lines(of: kept) == ModelSummary.lines(of: model))
  }

  /// Without triggers of derived attributes: the library keeps them up in its own way.
  private static func statements(of path: Text) throws -> [String] {
    let file = try StoreFile(path: path)
    let connection = try Store.readOnlyConnection(to: file, options: Store.Options(isReadOnly: true, mustExist: true))
    defer { connection.close() }
    let select = try connection.statement(
      """
      SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'Z_DA_%' AND name NOT LIKE 'QUIRE_%'
      AND tbl_name NOT IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY sql
      """)
    var found: [String] = []
    while try select.step() { if let sql = select.text(at: 0) { found.append(sql.string) } }
    return found
  }
}
