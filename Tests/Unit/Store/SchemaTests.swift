import Testing

@testable import QuireCore

@Suite("Schema")
struct SchemaTests {
  /// The statements without those of the bookkeeping tables, which are checked once.
  private func statements(_ sketch: ModelSketch) throws -> [String] {
    let all = try Schema(model: try sketch.frozen()).statements()
    return Array(all.dropLast(3))
  }

  @Test("Every store has the three bookkeeping tables")
  func bookkeeping() throws {
    let sketch = ModelSketch()
    try sketch.entity("Note")
    #expect(
      try Schema(model: try sketch.frozen()).statements() == [
        "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      ])
  }

  @Test("Columns are grouped by type and sorted by code unit within a group; transient ones have none")
  func columnOrder() throws {
    let sketch = ModelSketch()
    try sketch.entity(
      "Sample",
      [
        "blob": .binary, "archive": .transformable, "key": .uuid, "link": .uri, "personUri": .string,
        "personUUID": .string, "exact": .decimal, "single": .float, "moment": .date, "real": .double,
        "flag": .boolean, "short": .integer16, "middle": .integer32, "long": .integer64,
      ])
    try sketch.model.addAttribute(named: "passing", to: "Sample", type: .string, isTransient: true)
    #expect(
      try statements(sketch) == [
        "CREATE TABLE ZSAMPLE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + "ZFLAG INTEGER, ZLONG INTEGER, ZMIDDLE INTEGER, ZSHORT INTEGER, "
          + "ZMOMENT TIMESTAMP, ZREAL FLOAT, ZSINGLE FLOAT, ZEXACT DECIMAL, "
          + "ZPERSONUUID VARCHAR, ZPERSONURI VARCHAR, ZLINK VARCHAR, "
          + "ZKEY BLOB, ZARCHIVE BLOB, ZBLOB BLOB )"
      ])
  }

  @Test("A tree of entities shares the root's table, and siblings with one name get numbered columns")
  func inheritance() throws {
    let sketch = ModelSketch()
    try sketch.entity("Note", parent: "Item", ["text": .string, "rank": .integer16])
    try sketch.entity("Item", isAbstract: true, ["title": .string])
    try sketch.entity("Link", parent: "Item", ["text": .string, "rank": .integer32])
    try sketch.entity("Quote", parent: "Note", ["source": .string])
    let schema = Schema(model: try sketch.frozen())
    // Numbers: Item 1, Link 2, Note 3, Quote 4.
    #expect(
      Array(try schema.statements().dropLast(3)) == [
        "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRANK INTEGER, "
          + "ZRANK1 INTEGER, ZTITLE VARCHAR, ZTEXT VARCHAR, ZTEXT1 VARCHAR, ZSOURCE VARCHAR )",
        "CREATE INDEX ZITEM_Z_ENT_INDEX ON ZITEM (Z_ENT)",
      ])
    func column(_ entity: String, _ name: String) throws -> String {
      let property = try schema.model.entity(named: entity).property(named: name)
      return schema.column(of: try #require(property as? Attribute))
    }
    #expect(try column("Link", "text") == "ZTEXT")
    #expect(try column("Note", "text") == "ZTEXT1")
    #expect(try column("Quote", "text") == "ZTEXT1")
    #expect(try column("Quote", "title") == "ZTITLE")
    #expect(schema.table(of: try schema.model.entity(named: "Quote")) == "ZITEM")
  }

  @Test("A numbered sibling column does not meet an attribute whose name ends in that number")
  func numberedNames() throws {
    let sketch = ModelSketch()
    try sketch.entity("Item")
    try sketch.entity("A", parent: "Item", ["name": .string])
    try sketch.entity("B", parent: "Item", ["name": .string])
    try sketch.entity("C", parent: "Item", ["name1": .string])
    #expect(
      try statements(sketch)[0]
        == "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZNAME VARCHAR, ZNAME1 VARCHAR, ZNAME11 VARCHAR )")
  }

  @Test("A to-one relationship has its destination's number beside the key only where that has sub-entities")
  func toOne() throws {
    let sketch = ModelSketch()
    try sketch.entity("Page", ["number": .integer16])
    try sketch.entity("Work")
    try sketch.entity("Book", parent: "Work")
    try sketch.entity("Shelf")
    try sketch.toOne("Page.work", "Work.pages")
    try sketch.toMany("Work.pages", "Page.work")
    try sketch.toOne("Page.book", "Book.chapters")
    try sketch.toMany("Book.chapters", "Page.book", isOrdered: true)
    try sketch.toOne("Page.owner", "Shelf.page")
    try sketch.toOne("Shelf.page", "Page.owner")
    // Numbers: Page 1, Shelf 2, Work 3, Book 4.
    let schema = Schema(model: try sketch.frozen())
    #expect(
      Array(try schema.statements().dropLast(3)) == [
        "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER, "
          + "ZBOOK INTEGER, ZOWNER INTEGER, ZWORK INTEGER, Z3_WORK INTEGER, Z_FOK_BOOK INTEGER )",
        "CREATE TABLE ZSHELF ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGE INTEGER )",
        "CREATE TABLE ZWORK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE INDEX ZPAGE_ZBOOK_INDEX ON ZPAGE (ZBOOK)",
        "CREATE INDEX ZPAGE_ZOWNER_INDEX ON ZPAGE (ZOWNER)",
        "CREATE INDEX ZPAGE_ZWORK_INDEX ON ZPAGE (ZWORK)",
        "CREATE INDEX ZSHELF_ZPAGE_INDEX ON ZSHELF (ZPAGE)",
        "CREATE INDEX ZWORK_Z_ENT_INDEX ON ZWORK (Z_ENT)",
      ])
    let page = try schema.model.entity(named: "Page")
    let work = schema.toOne(try #require(try page.property(named: "work") as? Relationship))
    #expect((work.key, work.destinationEntity, work.order) == ("ZWORK", "Z3_WORK", nil))
    let book = schema.toOne(try #require(try page.property(named: "book") as? Relationship))
    #expect((book.key, book.destinationEntity, book.order) == ("ZBOOK", nil, "Z_FOK_BOOK"))
  }

  @Test("Siblings with one relationship name get numbered columns of every kind")
  func siblingRelationships() throws {
    let sketch = ModelSketch()
    try sketch.entity("Item")
    try sketch.entity("A", parent: "Item")
    try sketch.entity("B", parent: "Item")
    try sketch.entity("Work")
    try sketch.entity("Book", parent: "Work")
    for entity in ["A", "B"] {
      try sketch.toOne("\(entity).work", "Work.\(entity)s")
      try sketch.toMany("Work.\(entity)s", "\(entity).work", isOrdered: true)
    }
    // Numbers: Item 1, A 2, B 3, Work 4, Book 5.
    #expect(
      try statements(sketch)[0]
        == "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZWORK INTEGER, Z4_WORK INTEGER, ZWORK1 INTEGER, Z4_WORK1 INTEGER, "
        + "Z_FOK_WORK INTEGER, Z_FOK_WORK1 INTEGER )")
  }

  @Test("A to-many relationship without inverse puts its owner's key into the destination's table")
  func withoutInverse() throws {
    let sketch = ModelSketch()
    try sketch.entity("Page", ["text": .string])
    try sketch.entity("Book")
    try sketch.entity("Album", ["count": .integer16])
    try sketch.toMany("Book.pages", "Page", isOrdered: true)
    try sketch.toMany("Album.pages", "Page")
    // Numbers: Album 1, Book 2, Page 3.
    let schema = Schema(model: try sketch.frozen())
    #expect(
      Array(try schema.statements().dropLast(3)) == [
        "CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER )",
        "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + "Z1PAGES INTEGER, Z2PAGES INTEGER, Z_FOK_2PAGES INTEGER, ZTEXT VARCHAR )",
        "CREATE INDEX ZPAGE_Z1PAGES_INDEX ON ZPAGE (Z1PAGES)",
        "CREATE INDEX ZPAGE_Z2PAGES_INDEX ON ZPAGE (Z2PAGES)",
      ])
    let pages = try schema.model.entity(named: "Book").property(named: "pages")
    let columns = schema.ownerColumns(of: try #require(pages as? Relationship))
    #expect((columns.key, columns.order) == ("Z2PAGES", "Z_FOK_2PAGES"))
  }

  @Test("A many-to-many relationship has a join table, named by the lower number, with order columns")
  func manyToMany() throws {
    let sketch = ModelSketch()
    try sketch.entity("Post")
    try sketch.entity("Author")
    try sketch.entity("Category")
    try sketch.toMany("Author.entries", "Post.authors", isOrdered: true)
    try sketch.toMany("Post.authors", "Author.entries", isOrdered: true)
    try sketch.toMany("Post.categories", "Category.posts", isOrdered: true)
    try sketch.toMany("Category.posts", "Post.categories")
    // Numbers: Author 1, Category 2, Post 3.
    let schema = Schema(model: try sketch.frozen())
    let statements = try schema.statements()
    #expect(
      statements.contains(
        "CREATE TABLE Z_1ENTRIES ( Z_1AUTHORS INTEGER, Z_3ENTRIES INTEGER, Z_FOK_1AUTHORS INTEGER, "
          + "Z_FOK_3ENTRIES INTEGER, PRIMARY KEY (Z_1AUTHORS, Z_3ENTRIES) )"))
    #expect(
      statements.contains(
        "CREATE INDEX Z_1ENTRIES_Z_3ENTRIES_INDEX ON Z_1ENTRIES (Z_3ENTRIES, Z_1AUTHORS)"))
    #expect(
      statements.contains(
        "CREATE TABLE Z_2POSTS ( Z_2CATEGORIES INTEGER, Z_3POSTS INTEGER, Z_FOK_2CATEGORIES INTEGER, "
          + "PRIMARY KEY (Z_2CATEGORIES, Z_3POSTS) )"))
    let authors = try schema.model.entity(named: "Post").property(named: "authors")
    let mirror = schema.joinTable(of: try #require(authors as? Relationship))
    #expect((mirror.name, mirror.ownerColumn, mirror.destinationColumn) == ("Z_1ENTRIES", "Z_3ENTRIES", "Z_1AUTHORS"))
    #expect((mirror.orderColumn, mirror.inverseOrderColumn) == ("Z_FOK_1AUTHORS", "Z_FOK_3ENTRIES"))
    #expect(!mirror.isReflexive)
  }

  @Test("The side whose entity has sub-entities names the join table, even with the higher number")
  func namingSide() throws {
    let sketch = ModelSketch()
    try sketch.entity("Album")
    try sketch.entity("Work")
    try sketch.entity("Book", parent: "Work")
    try sketch.toMany("Album.works", "Work.albums")
    try sketch.toMany("Work.albums", "Album.works")
    #expect(
      try statements(sketch).contains(
        "CREATE TABLE Z_2ALBUMS ( Z_2WORKS INTEGER, Z_1ALBUMS INTEGER, PRIMARY KEY (Z_2WORKS, Z_1ALBUMS) )"))
  }

  @Test("Key columns of one entity with equal names are numbered across its join tables")
  func joinCollisions() throws {
    let sketch = ModelSketch()
    try sketch.entity("Asset")
    try sketch.entity("Memory")
    for (name, inverse) in [("first", "assets"), ("second", "assets")] {
      try sketch.entity(name, [:])
      try sketch.toMany("Asset.\(name)Owners", "\(name).\(inverse)")
      try sketch.toMany("\(name).\(inverse)", "Asset.\(name)Owners")
    }
    // Numbers: Asset 1, first 2, Memory 3, second 4.
    let statements = try statements(sketch)
    #expect(
      statements.contains(
        "CREATE TABLE Z_1FIRSTOWNERS ( Z_1ASSETS INTEGER, Z_2FIRSTOWNERS INTEGER, "
          + "PRIMARY KEY (Z_1ASSETS, Z_2FIRSTOWNERS) )"))
    #expect(
      statements.contains(
        "CREATE TABLE Z_1SECONDOWNERS ( Z_1ASSETS1 INTEGER, Z_4SECONDOWNERS INTEGER, "
          + "PRIMARY KEY (Z_1ASSETS1, Z_4SECONDOWNERS) )"))
  }

  @Test("When a file numbers the key columns the other way round, the file is right")
  func migratedCollisions() throws {
    let sketch = ModelSketch()
    try sketch.entity("Asset")
    for name in ["first", "second"] {
      try sketch.entity(name, [:])
      try sketch.toMany("Asset.\(name)Owners", "\(name).assets")
      try sketch.toMany("\(name).assets", "Asset.\(name)Owners")
    }
    let schema = Schema(
      model: try sketch.frozen(),
      existingTables: [
        "Z_1FIRSTOWNERS": ["Z_1ASSETS1", "Z_2FIRSTOWNERS"], "Z_1SECONDOWNERS": ["Z_1ASSETS", "Z_3SECONDOWNERS"],
      ])
    let asset = try schema.model.entity(named: "Asset")
    let first = try asset.property(named: "firstOwners"), second = try asset.property(named: "secondOwners")
    #expect(schema.joinTable(of: try #require(first as? Relationship)).ownerColumn == "Z_1ASSETS1")
    #expect(schema.joinTable(of: try #require(second as? Relationship)).ownerColumn == "Z_1ASSETS")
  }

  @Test("A relationship that is its own inverse has a column REFLEXIVE")
  func reflexive() throws {
    let sketch = ModelSketch()
    try sketch.entity("Person")
    try sketch.toMany("Person.friends", "Person.friends")
    let schema = Schema(model: try sketch.frozen())
    #expect(
      Array(try schema.statements().dropLast(3)) == [
        "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )",
        "CREATE INDEX Z_1FRIENDS_REFLEXIVE_INDEX ON Z_1FRIENDS (REFLEXIVE, Z_1FRIENDS)",
      ])
    let friends = try schema.model.entity(named: "Person").property(named: "friends")
    #expect(schema.joinTable(of: try #require(friends as? Relationship)).isReflexive)
  }

  @Test("Two relationships of one entity: the lower name makes a new table, the file decides for an old one")
  func sameEntity() throws {
    let sketch = ModelSketch()
    try sketch.entity("Node")
    try sketch.toMany("Node.sources", "Node.targets")
    try sketch.toMany("Node.targets", "Node.sources", isOrdered: true)
    let model = try sketch.frozen()
    let targets = try #require(try model.entity(named: "Node").property(named: "targets") as? Relationship)

    let new = Schema(model: model)
    #expect(
      try new.statements().contains(
        "CREATE TABLE Z_1SOURCES ( Z_1TARGETS INTEGER, Z_1SOURCES INTEGER, Z_FOK_1TARGETS INTEGER, "
          + "PRIMARY KEY (Z_1TARGETS, Z_1SOURCES) )"))
    let old = Schema(
      model: model, existingTables: ["Z_1TARGETS": ["Z_1SOURCES", "Z_1TARGETS", "Z_FOK_1TARGETS"]])
    // Either way the owner of targets is found under the inverse's name.
    for (schema, name) in [(new, "Z_1SOURCES"), (old, "Z_1TARGETS")] {
      let join = schema.joinTable(of: targets)
      #expect((join.name, join.ownerColumn, join.destinationColumn) == (name, "Z_1SOURCES", "Z_1TARGETS"))
      #expect((join.orderColumn, join.inverseOrderColumn) == ("Z_FOK_1TARGETS", nil))
    }
  }

  @Test("Uniqueness constraints and fetch indexes keep the case of their names; redundant ones are left out")
  func indexes() throws {
    let sketch = ModelSketch()
    try sketch.entity("Car", ["maker": .string, "numberPlate": .string, "built": .date])
    try sketch.entity("Person", ["firstName": .string, "lastName": .string])
    try sketch.toOne("Car.owner", "Person.cars")
    try sketch.toMany("Person.cars", "Car.owner")
    let model = sketch.model
    try model.addUniquenessConstraint(to: "Car", properties: ["numberPlate"])
    try model.addUniquenessConstraint(to: "Person", properties: ["firstName", "lastName"])
    try model.addFetchIndex(
      named: "byMaker", to: "Car",
      elements: [
        .init(property: "maker", isDescending: false), .init(property: "built", isDescending: true),
        .init(property: "owner", isDescending: false),
      ])
    try model.addFetchIndex(
      named: "byOwner", to: "Car", elements: [.init(property: "owner", isDescending: false)])
    try model.addFetchIndex(
      named: "byPlate", to: "Car", elements: [.init(property: "numberPlate", isDescending: false)])
    #expect(
      Array(try statements(sketch).dropFirst(2)) == [
        "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
        "CREATE UNIQUE INDEX Z_Car_UNIQUE_numberPlate ON ZCAR (ZNUMBERPLATE COLLATE BINARY ASC)",
        "CREATE INDEX Z_Car_byMaker ON ZCAR (ZMAKER COLLATE BINARY ASC, ZBUILT COLLATE BINARY DESC, "
          + "ZOWNER COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Person_UNIQUE_firstName_lastName ON ZPERSON "
          + "(ZFIRSTNAME COLLATE BINARY ASC, ZLASTNAME COLLATE BINARY ASC)",
      ])
  }

  @Test("Index names that would meet are told apart")
  func indexNames() throws {
    let sketch = ModelSketch()
    try sketch.entity("A", ["x": .string])
    try sketch.entity("A_B", ["x": .string])
    try sketch.model.addFetchIndex(
      named: "B_C", to: "A", elements: [.init(property: "x", isDescending: false)])
    try sketch.model.addFetchIndex(
      named: "c", to: "A_B", elements: [.init(property: "x", isDescending: false)])
    #expect(
      Array(try statements(sketch).dropFirst(2)) == [
        "CREATE INDEX Z_A_B_C ON ZA (ZX COLLATE BINARY ASC)",
        "CREATE INDEX Z_A_B_c1 ON ZA_B (ZX COLLATE BINARY ASC)",
      ])
  }

  @Test("SQLite runs the statements of a model with every shape")
  func runs() throws {
    let sketch = ModelSketch()
    try sketch.entity("Order", ["group": .string, "select": .integer16, "index": .date])
    try sketch.entity("Table", parent: "Order", ["values": .binary])
    try sketch.toMany("Order.froms", "Table.wheres", isOrdered: true)
    try sketch.toMany("Table.wheres", "Order.froms", isOrdered: true)
    try sketch.toMany("Order.peers", "Order.peers", isOrdered: true)
    try sketch.toMany("Order.loose", "Table", isOrdered: true)
    let connection = try Connection.opened(
      path: ":memory:", access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
    let statements = try Schema(model: try sketch.frozen()).statements()
    for statement in statements { try connection.execute(statement) }
    let select = try connection.statement("SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL")
    #expect(try select.step())
    #expect(select.integer(at: 0) == Int64(statements.count))
  }
}
