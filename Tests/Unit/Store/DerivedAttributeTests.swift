import Testing

@testable import QuireCore

@Suite("Derived attributes")
struct DerivedAttributeTests {
  private func text(_ object: ManagedObject, _ key: String) throws -> String? {
    if case .text(let text) = try object.value(forKey: key) { return text.string }
    return nil
  }

  private func integer(_ object: ManagedObject, _ key: String) throws -> Int64? {
    if case .integer(let integer) = try object.value(forKey: key) { return integer }
    return nil
  }

  private func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  // MARK: The model

  @Test(
    "An expression that cannot be derived is refused when the model is made",
    arguments: [
      ("title.", .string, "no key path"), ("", .string, "no key path"), ("nothing", .string, "no property 'nothing'"),
      ("books.@sum.price", .double, "must come last"), ("books.price.@median", .double, "none of the operators"),
      ("reversed:(name)", .string, "no call"), ("uppercase:(name", .string, "no call"),
      ("uppercase:(books.@count)", .string, "into a function"), ("name.length", .integer64, "value without keys"),
      ("books.price", .double, "holds many objects"), ("publisher", .string, "ends with a relationship"),
      ("name.@count", .integer64, "@count is for"), ("books.@sum", .double, "for an attribute of what"),
      ("books.tags.@count", .integer64, "@count is for"), ("books.author.name.@max", .string, "an attribute only"),
      ("publisher.authors.name", .string, "holds many objects"), ("books.note.@max", .string, "is transient"),
      ("bookCount", .integer64, "is derived itself"), ("publisher.authorCount", .integer32, "is derived itself"),
      ("name", .integer64, "cannot hold"), ("uppercase:(name)", .integer64, "cannot hold"),
      ("now()", .double, "cannot hold"),
      ("books.@count", .string, "cannot hold"), ("books.price.@sum", .integer64, "cannot hold"),
      ("books.title.@sum", .double, "cannot hold"), ("books.title.@max", .double, "cannot hold"),
    ] as [(String, AttributeType, String)])
  func expressions(expression: String, type: AttributeType, problem: String) throws {
    let failure = try #require(
      failure {
        _ = try DerivedFixture.makeModel { sketch in
          try sketch.model.addAttribute(named: "note", to: "Book", type: .string, isOptional: true, isTransient: true)
          try sketch.model.addAttribute(
            named: "wrong", to: "Author", type: type, isOptional: true, derivation: expression)
        }
      })
    #expect(failure.kind == .invalidModel)
    #expect(failure.message.string.contains("'Author.wrong'"), "\(failure.message)")
    #expect(failure.message.string.contains(problem), "\(failure.message)")
  }

  @Test("A derived attribute has no default, no rules and no uniqueness, and is stored")
  func options() throws {
    func refuses(_ make: (Model) throws -> Void) {
      let refusal = failure { _ = try DerivedFixture.makeModel { try make($0.model) } }
      #expect(refusal?.kind == .invalidModel)
    }
    refuses { try $0.addAttribute(named: "a", to: "Tag", type: .string, isTransient: true, derivation: "word") }
    refuses { try $0.addAttribute(named: "a", to: "Tag", type: .string, defaultValue: .text("x"), derivation: "word") }
    var rules = AttributeRules()
    rules.maximumLength = 3
    refuses { [rules] in try $0.addAttribute(named: "a", to: "Tag", type: .string, rules: rules, derivation: "word") }
    refuses { try $0.addUniquenessConstraint(to: "Book", properties: ["canon"]) }
  }

  @Test("That an attribute is derived is no part of the version hash")
  func hash() throws {
    func hash(_ derivation: String?) throws -> [UInt8] {
      let sketch = ModelSketch()
      try sketch.entity("Tag", ["word": .string])
      try sketch.model.addAttribute(named: "loud", to: "Tag", type: .string, derivation: derivation)
      return try sketch.frozen().versionHash(ofEntityNamed: "Tag")
    }
    #expect(try hash(nil) == hash("uppercase:(word)"))
  }

  // MARK: Values

  @Test("Objects show derived values after the save, without a refresh, and observers hear of them")
  func values() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    let author = try context.insert(entityNamed: "Author")
    try set(author, "name", .text("Zoë"))
    #expect(try integer(author, "bookCount") == 0)
    try context.save()
    let book = try context.insert(entityNamed: "Book")
    try set(book, "title", .text("Élan Vital"))
    try set(book, "price", .double(2.5))
    try set(book, "author", .object(author.reference))
    #expect(try text(book, "canon") == nil)
    #expect(try integer(author, "bookCount") == 0)
    let request = FetchRequest(entityName: "Author")
    request.predicate = try .parse("bookCount > 0", with: [])
    request.sort = [SortDescriptor(keyPath: ["total"])]
    let controller = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: true)
    try controller.performFetch()
    #expect(controller.count == 0)
    try context.save()
    #expect(try text(book, "canon") == "elan vital")
    #expect(try text(book, "loud") == "ÉLAN VITAL")
    #expect(try text(book, "loudAuthor") == "ZOË")
    #expect(try integer(author, "bookCount") == 1)
    #expect(!author.isUpdated && !context.hasChanges)
    #expect(controller.count == 1)
    // What was only derived is no new version of the row: no other save is in conflict with it.
    #expect(try fixture.table("ZAUTHOR").values.map { $0["Z_OPT"] } == ["1"])
  }

  @Test("What a save derives reaches other contexts with what it wrote")
  func others() throws {
    let fixture = try DerivedFixture(), other = Context(store: fixture.store)
    let author = try fixture.context.insert(entityNamed: "Author")
    try fixture.context.save()
    let theirs = try other.existingObject(entityNamed: "Author", id: author.id)
    #expect(try integer(theirs, "bookCount") == 0)
    let book = try fixture.context.insert(entityNamed: "Book")
    try set(book, "author", .object(author.reference))
    try fixture.context.save()
    #expect(try integer(theirs, "bookCount") == 0)
    try other.merge()
    #expect(try integer(theirs, "bookCount") == 1)
    // The row is of the version that it was read with.
    try set(theirs, "name", .text("Ada"))
    try other.save()
    #expect(try fixture.table("ZBOOK").values.map { $0["ZAUTHORNAME"] } == ["Ada"])
  }

  @Test("A child sees what saves of its parent derive, and deletes what only that has changed")
  func children() throws {
    let fixture = try DerivedFixture(), child = Context(parent: fixture.context)
    let author = try child.insert(entityNamed: "Author")
    try set(author, "name", .text("Ada"))
    try child.save()
    let book = try child.insert(entityNamed: "Book")
    try set(book, "author", .object(author.reference))
    try child.save()
    #expect(try integer(author, "bookCount") == 0)
    try fixture.context.save()
    try child.merge()
    #expect(try integer(author, "bookCount") == 1)
    #expect(try text(book, "authorName") == "Ada")
    #expect(!child.hasChanges)
    // In between, the parent derives anew what the child has read and the parent has forgotten.
    let other = try fixture.context.insert(entityNamed: "Book")
    let theirs = try fixture.context.existingObject(entityNamed: "Author", id: author.id)
    try set(other, "author", .object(theirs.reference))
    try fixture.context.save()
    try child.delete(author)
    try child.save()
    try fixture.context.save()
    try fixture.check("the end")
    #expect(try fixture.table("ZAUTHOR").isEmpty)
  }

  @Test("Setting a derived attribute is an error that says so, on objects and in batch requests")
  func readOnly() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    let book = try context.insert(entityNamed: "Book")
    let request = FetchRequest(entityName: "Book")
    let refusals = [
      failure { try set(book, "canon", .text("x")) },
      failure { try book.set([(property: book.entity.property(named: "loud"), value: .nil)]) },
      failure { _ = try context.update(request, [("canon", .value(.text("x")))], merges: true) },
      failure {
        _ = try context.insertIntoStore(entityNamed: "Book", keys: ["canon"], rowCount: 1, merges: true) { _, _ in .nil
        }
      },
      failure { _ = try context.insert(entityNamed: "Book", keys: ["canon"], rowCount: 1) { _, _ in .nil } },
    ]
    for refusal in refusals {
      #expect(refusal?.kind == .invalidArgument)
      #expect(refusal?.message.string.contains("is derived") == true)
    }
  }

  @Test("now() is the moment of the save that wrote the row last, and the same for all rows of it")
  func now() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    func moments() throws -> [String] { try fixture.stranger.run("SELECT ZCHANGED FROM ZBOOK ORDER BY Z_PK") }
    let first = try context.insert(entityNamed: "Book"), second = try context.insert(entityNamed: "Book")
    try context.save()
    let inserted = try moments()
    #expect(Set(inserted).count == 1)
    let author = try context.insert(entityNamed: "Author")
    try context.save()
    #expect(try moments() == inserted)
    try fixture.stranger.run("UPDATE ZBOOK SET ZCHANGED = 1")
    try set(first, "author", .object(author.reference))
    try context.save()
    #expect(try moments()[1] == "1" && moments()[0] != "1")
    #expect(try #require(Double(moments()[0])) >= #require(Double(inserted[0])))
    if case .date(let shown) = try first.value(forKey: "changed") {
      #expect(abs(shown - (try #require(Double(moments()[0])))) < 1e-3)
    } else {
      Issue.record("There is no date.")
    }
    // Another program's clock is the same.
    try fixture.stranger.run("UPDATE ZBOOK SET ZTITLE = 'new' WHERE Z_PK = \(second.id)")
    #expect(abs(try #require(Double(moments()[1])) - #require(Double(moments()[0]))) < 60)
  }

  @Test("Sums of decimals have no digits that the file cannot have")
  func decimals() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    let author = try context.insert(entityNamed: "Author")
    for digits in [0.1, 0.2] {
      let book = try context.insert(entityNamed: "Book")
      try set(book, "exact", .double(digits))
      try set(book, "author", .object(author.reference))
    }
    try context.save()
    #expect(try author.value(forKey: "worth").isIdentical(to: .decimal(try #require(Decimal(0.3)))))
  }

  @Test("A failed save derives nothing, and undo and rollback leave derived values alone")
  func failures() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    try context.enableUndo(levels: 0)
    let author = try context.insert(entityNamed: "Author")
    let book = try context.insert(entityNamed: "Book")
    try set(book, "author", .object(author.reference))
    try context.save()
    try context.delete(book)
    try context.save()
    #expect(try integer(author, "bookCount") == 0)
    try context.undo()
    #expect(book.state == .inserted)
    try context.save()
    #expect(try integer(author, "bookCount") == 1)
    #expect(try integer(book, "siblings") == 1)
    try set(book, "author", .nil)
    try context.rollback()
    #expect(try integer(author, "bookCount") == 1)
    try fixture.stranger.run("UPDATE ZBOOK SET Z_OPT = 9")
    try set(book, "author", .nil)
    #expect(failure { try context.save() }?.kind == .conflict)
    #expect(try fixture.table("ZAUTHOR").values.map { $0["ZBOOKCOUNT"] } == ["1"])
    #expect(try fixture.stranger.run("SELECT Z_DEFERS FROM QUIRE_DERIVED") == ["0"])
    #expect(try fixture.stranger.run("SELECT * FROM QUIRE_DERIVED_PENDING").isEmpty)
  }

  @Test("A context that overwrites a row of another writer does not write what that derived")
  func overwriting() throws {
    let fixture = try DerivedFixture(), other = Context(store: fixture.store)
    let author = try fixture.context.insert(entityNamed: "Author")
    try fixture.context.save()
    let theirs = try other.existingObject(entityNamed: "Author", id: author.id)
    _ = try theirs.value(forKey: "name")
    let book = try fixture.context.insert(entityNamed: "Book")
    try set(book, "author", .object(author.reference))
    try set(author, "name", .text("mine"))
    try fixture.context.save()
    try set(theirs, "name", .text("theirs"))
    other.mergePolicy = .overwrite
    try other.save()
    let row = try #require(try fixture.table("ZAUTHOR").values.first)
    #expect(row["ZNAME"] == "theirs" && row["ZBOOKCOUNT"] == "1")
    #expect(try integer(theirs, "bookCount") == 1)
  }

  // MARK: The file

  @Test("A store gets its triggers when it is opened for writing, and loses those that the model does not ask for")
  func triggers() throws {
    let fixture = try DerivedFixture()
    func names() throws -> Set<String> {
      Set(
        try fixture.stranger.run(
          "SELECT name FROM sqlite_master WHERE name LIKE 'Z\\_DA%' ESCAPE '\\' OR name LIKE 'QUIRE\\_DERIVED%' "
            + "ESCAPE '\\'"))
    }
    let whole = try names()
    #expect(whole.contains("Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT"))
    #expect(whole.contains("Z_DA_ZAUTHOR_Author_bookCount_SOURCE_INSERT"))
    try fixture.stranger.run("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ada')")
    // A program that drops a trigger and writes is found out by that.
    try fixture.stranger.run("DROP TRIGGER Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT")
    try fixture.stranger.run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 2, 1, 1)")
    #expect(try fixture.table("ZAUTHOR")["1"]?["ZBOOKCOUNT"] == "0")
    try fixture.reopen()
    #expect(try names() == whole)
    #expect(try fixture.table("ZAUTHOR")["1"]?["ZBOOKCOUNT"] == "1")
    // While a store is open, its next save looks.
    try fixture.stranger.run("DROP TRIGGER Z_DA_ZBOOK_Author_bookCount_PARAMETER_DELETE")
    try fixture.stranger.run("DELETE FROM ZBOOK")
    _ = try fixture.context.insert(entityNamed: "Shelf")
    try fixture.context.save()
    #expect(try names() == whole)
    #expect(try fixture.table("ZAUTHOR")["1"]?["ZBOOKCOUNT"] == "0")
    // A model of the same file that derives nothing.
    let plain = Model()
    for entity in fixture.store.model.entities {
      try plain.addEntity(named: entity.name, parent: entity.parentName)
      for attribute in entity.ownAttributes {
        try plain.addAttribute(named: attribute.name, to: entity.name, type: attribute.type, isOptional: true)
      }
      for relationship in entity.ownRelationships {
        try plain.addRelationship(
          {
            Relationship(
              name: relationship.name, entity: $0, destinationName: relationship.destinationName,
              inverseName: relationship.inverseName, isToMany: relationship.isToMany,
              isOrdered: relationship.isOrdered, isOptional: true)
          }, named: relationship.name, to: entity.name)
      }
    }
    try fixture.reopen(model: plain)
    #expect(try names().isEmpty)
  }

  @Test("A program without our functions writes; what it cannot know is set right by the next opening")
  func strangers() throws {
    let fixture = try DerivedFixture()
    try fixture.stranger.run("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ada')")
    try fixture.stranger.run(
      "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) VALUES (1, 2, 1, 'Plain', 1), (2, 2, 1, 'Été', 1)")
    #expect(
      try fixture.stranger.run("SELECT ZLOUD, ZLOUDAUTHOR, ZSIBLINGS FROM ZBOOK ORDER BY Z_PK")
        == ["PLAIN|ADA|2", "ÉTé|ADA|2"])
    try fixture.reopen()
    #expect(try fixture.stranger.run("SELECT ZLOUD, ZCANON FROM ZBOOK ORDER BY Z_PK") == ["PLAIN|plain", "ÉTÉ|ete"])
    try fixture.check("reopened")
  }

  @Test("Batch requests derive as saves do, and tell the context")
  func batches() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    let author = try context.insert(entityNamed: "Author")
    try context.save()
    #expect(try integer(author, "bookCount") == 0)
    let rows = try context.insertIntoStore(entityNamed: "Book", keys: ["title"], rowCount: 2, merges: true) { _, row in
      .text(["Één", "two"][row])
    }
    _ = try context.update(
      FetchRequest(entityName: "Book"), [("author", .value(.object(author.reference)))], merges: true)
    #expect(try integer(author, "bookCount") == 2)
    let book = try context.existingObject(entityNamed: "Book", id: try #require(rows.first).id)
    #expect(try text(book, "canon") == "een")
    _ = try context.delete(FetchRequest(entityName: "Book"), merges: true)
    #expect(try integer(author, "bookCount") == 0)
    try fixture.check("the end")
  }

  @Test("Predicates and order use derived columns as any other")
  func queries() throws {
    let fixture = try DerivedFixture(), context = fixture.context
    for title in ["beta", "Ålpha", "Gamma"] { try set(context.insert(entityNamed: "Book"), "title", .text(title)) }
    try context.save()
    let request = FetchRequest(entityName: "Book")
    request.predicate = try .parse("canon BEGINSWITH 'al' OR loud == 'BETA'", with: [])
    request.sort = [SortDescriptor(keyPath: ["canon"])]
    let list = try context.fetch(request)
    #expect(try (0..<list.count).map { try text(list.object(at: $0), "title") } == ["Ålpha", "beta"])
  }
}
