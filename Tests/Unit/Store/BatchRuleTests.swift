import Testing

@testable import QuireCore

/// The same edits by batch requests and by objects, in two files that are then compared row by row.
@Suite("Batch requests: the file")
struct BatchRuleTests {
  /// Hubs and leaves related in every way, under rules that the dice make.
  private struct Garden {
    let store: Store
    let context: Context

    static let relationships: [(owner: String, name: String, inverse: String, isToMany: Bool, isOrdered: Bool)] = [
      ("Hub", "leaves", "hub", true, false), ("Leaf", "hub", "leaves", false, false),
      ("Hub", "ranked", "list", true, true), ("Leaf", "list", "ranked", false, false),
      ("Hub", "tags", "taggers", true, false), ("Leaf", "taggers", "tags", true, false),
      ("Hub", "picks", "pickers", true, true), ("Leaf", "pickers", "picks", true, false),
      ("Hub", "partner", "mate", false, false), ("Leaf", "mate", "partner", false, false),
      ("Hub", "peers", "peers", true, false), ("Hub", "children", "parent", true, false),
      ("Hub", "parent", "children", false, false), ("Hub", "notes", "", true, false),
    ]

    init(seed: UInt64) throws {
      var dice = Dice(seed: seed)
      let model = Model()
      for name in ["Hub", "Leaf", "Note"] {
        try model.addEntity(named: name)
        try model.addAttribute(named: "rank", to: name, type: .integer32, isOptional: true)
        try model.addAttribute(named: "name", to: name, type: .string, isOptional: true)
      }
      try model.addEntity(named: "SubLeaf", parent: "Leaf")
      try model.addAttribute(named: "extra", to: "SubLeaf", type: .double, isOptional: true)
      for (owner, name, inverse, isToMany, isOrdered) in Garden.relationships {
        let others: [String: String] = ["peers": "Hub", "children": "Hub", "parent": "Hub", "notes": "Note"]
        let destination = others[name] ?? (owner == "Hub" ? "Leaf" : "Hub")
        let rule = dice.pick([.nullify, .nullify, .nullify, .cascade, .deny, .noAction] as [DeleteRule]) ?? .nullify
        let mayBeMandatory = ["leaves", "ranked", "tags", "hub", "list"].contains(name)
        let isOptional = !(mayBeMandatory && dice.chance(1, of: 8))
        let most = isToMany && dice.chance(1, of: 8) ? 3 : 0
        try model.addRelationship(
          { entity in
            Relationship(
              name: name, entity: entity, destinationName: destination, inverseName: inverse, isToMany: isToMany,
              isOrdered: isOrdered, isOptional: isOptional, maximumCount: most, deleteRule: rule)
          }, named: name, to: owner)
      }
      store = try Store.open(path: ":memory:", model: model)
      context = Context(store: store)
      try fill(&dice)
    }

    private func fill(_ dice: inout Dice) throws {
      var hubs: [ManagedObject] = [], leaves: [ManagedObject] = []
      for number in 0..<8 {
        let hub = try context.insert(entityNamed: "Hub")
        try hub.set(.integer(Int64(dice.roll(10))), for: hub.entity.property(named: "rank"))
        try hub.set(.text("h\(number)"), for: hub.entity.property(named: "name"))
        hubs.append(hub)
      }
      for number in 0..<12 {
        let leaf = try context.insert(entityNamed: dice.chance(1, of: 3) ? "SubLeaf" : "Leaf")
        try leaf.set(.integer(Int64(dice.roll(10))), for: leaf.entity.property(named: "rank"))
        try leaf.set(.text("l\(number)"), for: leaf.entity.property(named: "name"))
        leaves.append(leaf)
      }
      for _ in 0..<30 {
        let (owner, name, _, isToMany, _) = dice.pick(Garden.relationships) ?? Garden.relationships[0]
        guard let object = dice.pick(owner == "Hub" ? hubs : leaves),
          let relationship = try object.entity.property(named: name) as? Relationship
        else { continue }
        var other = dice.pick(relationship.destination.name == "Hub" ? hubs : leaves)
        if name == "notes" { other = try context.insert(entityNamed: "Note") }
        guard let other else { continue }
        if isToMany {
          try object.add(other, to: relationship)
        } else {
          try object.set(.object(other.reference), for: relationship)
        }
      }
      for object in hubs + leaves {
        for relationship in object.entity.relationships where !relationship.isOptional {
          guard try object.remainingObjects(of: relationship).isEmpty,
            let other = dice.pick(relationship.destination.name == "Hub" ? hubs : leaves)
          else { continue }
          if relationship.isToMany {
            try object.add(other, to: relationship)
          } else {
            try object.set(.object(other.reference), for: relationship)
          }
        }
      }
    }

    /// Every row of every table but that of the metadata.
    func contents() throws -> [String] {
      try store.withConnection { connection throws(Failure) in
        func rows(_ sql: String) throws(Failure) -> [String] {
          let statement = try connection.statement(sql)
          var rows: [String] = []
          while try statement.step() {
            rows.append(
              (0..<statement.columnCount).map { statement.text(at: $0)?.string ?? "-" }.joined(separator: "|"))
          }
          return rows
        }
        var contents: [String] = []
        for table in try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        where table != "Z_METADATA" && table != "Z_PRIMARYKEY" {
          let columns = try rows("SELECT name FROM pragma_table_info('\(table)')").joined(separator: ", ")
          contents += try rows("SELECT '\(table)', \(columns) FROM \(table)").sorted()
        }
        return contents
      }
    }

    func request(_ entity: String, _ format: String) throws -> FetchRequest {
      let request = FetchRequest(entityName: entity)
      request.predicate = try Predicate.parse(Text(format))
      return request
    }

    func objects(_ entity: String, _ format: String, in context: Context) throws -> [ManagedObject] {
      let list = try context.fetch(request(entity, format))
      var objects: [ManagedObject] = []
      for place in 0..<list.count { objects.append(try list.object(at: place)) }
      return objects
    }
  }

  /// Two equal gardens; nil when the dice made rules that what they planted breaks.
  private func twins(_ seed: UInt64) throws -> (batch: Garden, objects: Garden)? {
    let batch = try Garden(seed: seed), objects = try Garden(seed: seed)
    do {
      try batch.context.save()
      try objects.context.save()
    } catch  where error.kind == .validation {
      return nil
    }
    try #require(try batch.contents() == objects.contents())
    return (batch, objects)
  }

  private static let seeds = Dice.seeds(110)

  /// Both ends are met often, unless there are only a few seeds.
  private static func expectBoth(_ succeeded: Int, _ failed: Int, ofSeeds share: Int) {
    if seeds.count >= 50 { #expect(succeeded > seeds.count && failed > seeds.count / share) }
  }

  /// Runs both, which must both succeed and leave the same, or both fail and leave what was there.
  private func compare(
    _ garden: (batch: Garden, objects: Garden), _ what: String, batch: (Context) throws -> Void,
    objects: (Context) throws -> Void
  ) throws -> Bool {
    let before = try garden.batch.contents()
    let held = try all(garden.batch.context)
    for object in held { _ = try shape(object) }
    let batchFailure = failure { try batch(garden.batch.context) }
    let objectsFailure = failure {
      let context = Context(store: garden.objects.store)
      try objects(context)
      try context.save()
    }
    try #require(
      batchFailure?.kind == objectsFailure?.kind,
      "\(String(describing: batchFailure)) and \(String(describing: objectsFailure)), \(what)")
    let after = try garden.batch.contents()
    let wanted = try garden.objects.contents()
    try #require(after == wanted, "\(what): \(Set(after).symmetricDifference(wanted).sorted())")
    if batchFailure != nil { try #require(after == before) }
    // What was read before shows what is there now.
    let fresh = Dictionary(uniqueKeysWithValues: try all(Context(store: garden.batch.store)).map { ($0.reference, $0) })
    for object in held {
      let now = fresh[object.reference]
      try #require(object.isLive == (now != nil), "\(object.summary), \(what)")
      if let now {
        let shown = try shape(object), wanted = try shape(now)
        try #require(shown == wanted, "\(object.summary), \(what)")
      }
    }
    try #require(!garden.batch.context.hasChanges, "\(what)")
    return batchFailure == nil
  }

  private func all(_ context: Context) throws -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for entity in ["Hub", "Leaf", "Note"] {
      let list = try context.fetch(FetchRequest(entityName: entity))
      for place in 0..<list.count { objects.append(try list.object(at: place)) }
    }
    return objects
  }

  /// Version, values and members of an object, as text.
  private func shape(_ object: ManagedObject) throws -> [String] {
    var shape = ["version \(object.version)"]
    for property in object.entity.properties {
      if let relationship = property as? Relationship, relationship.isToMany {
        shape.append("\(property.name): \(try object.objects(of: relationship).map(\.id))")
      } else {
        shape.append("\(property.name): \(try object.value(of: property).sectionName)")
      }
    }
    return shape
  }

  @Test func `a batch delete leaves what deleting the objects one by one leaves`() throws {
    var succeeded = 0, failed = 0, skipped = 0
    for seed in BatchRuleTests.seeds {
      guard let garden = try twins(seed) else {
        skipped += 1
        continue
      }
      var dice = Dice(seed: seed &+ 1)
      for _ in 0..<3 {
        let entity = dice.pick(["Hub", "Leaf", "SubLeaf", "Note"]) ?? "Hub"
        let format = "rank < \(dice.roll(6))"
        let done = try compare(garden, "\(entity) where \(format), seed \(seed)") { context in
          _ = try context.delete(garden.batch.request(entity, format), merges: true)
        } objects: { context in
          for object in try garden.objects.objects(entity, format, in: context) { try context.delete(object) }
        }
        if done { succeeded += 1 } else { failed += 1 }
      }
    }
    print("batch deletes: \(succeeded) succeeded, \(failed) were denied, \(skipped) gardens skipped")
    BatchRuleTests.expectBoth(succeeded, failed, ofSeeds: 6)
  }

  @Test func `a batch update leaves what changing the objects one by one leaves`() throws {
    var succeeded = 0, failed = 0
    for seed in BatchRuleTests.seeds {
      guard let garden = try twins(seed) else { continue }
      var dice = Dice(seed: seed &+ 2)
      for _ in 0..<4 {
        let entity = dice.pick(["Hub", "Leaf", "SubLeaf"]) ?? "Hub"
        let format = "rank < \(dice.roll(8))"
        // A mandatory property is never set to nil, whether there is anything to set it of or not.
        let found = try garden.objects.objects(entity, format, in: Context(store: garden.objects.store))
        if found.isEmpty { continue }
        var values: [(key: String, value: Value)] = []
        if dice.chance(1, of: 2) {
          values.append(("rank", dice.chance(1, of: 3) ? .nil : .integer(Int64(dice.roll(9)))))
        }
        if dice.chance(1, of: 3) { values.append(("name", .text("x\(dice.roll(2))"))) }
        let keys = entity == "Hub" ? ["parent", "partner"] : ["hub", "list", "mate"]
        for key in keys where values.isEmpty || dice.chance(1, of: 2) {
          let isOneToOne = key == "partner" || key == "mate"
          // The dice may find a hub that is gone: both ways must then fail.
          let hub = Value.object(
            ObjectReference(
              root: try garden.batch.store.model.entity(named: "Hub").rootNumber,
              id: Int64(1 + dice.roll(8))))
          values.append((key, isOneToOne || dice.chance(1, of: 3) ? .nil : hub))
        }
        let hubs = try garden.objects.objects("Hub", "TRUEPREDICATE", in: Context(store: garden.objects.store)).map(
          \.id)
        values = values.map { key, value in
          if case .object(let box) = value, !hubs.contains(box.reference.id) { return (key, .nil) }
          return (key, value)
        }
        let done = try compare(garden, "\(entity) where \(format), \(values), seed \(seed)") { context in
          _ = try context.update(garden.batch.request(entity, format), values, merges: true)
        } objects: { context in
          _ = try garden.objects.objects("Hub", "TRUEPREDICATE", in: context).map { try? $0.fulfil() }
          let all = try garden.objects.objects("Hub", "TRUEPREDICATE", in: context)
          for object in try garden.objects.objects(entity, format, in: context) {
            for (key, value) in values { try object.set(value, for: object.entity.property(named: key)) }
          }
          withExtendedLifetime(all) {}
        }
        if done { succeeded += 1 } else { failed += 1 }
      }
    }
    print("batch updates: \(succeeded) succeeded, \(failed) were refused")
    BatchRuleTests.expectBoth(succeeded, failed, ofSeeds: 40)
  }

  @Test func `a batch insert leaves what inserting objects leaves`() throws {
    let (batch, objects) = try #require((1...20).lazy.compactMap { try? twins($0) }.first)
    let names: [Value] = (0..<50).map { $0 % 7 == 0 ? .nil : .text("n\($0)") }
    let rows = try batch.context.insertIntoStore(
      entityNamed: "Note", keys: ["name", "rank"], rowCount: 50, merges: false
    ) { (column, row) throws(Failure) in
      column == 0 ? names[row] : .integer(Int64(row))
    }
    _ = try objects.context.insert(entityNamed: "Note", keys: ["name", "rank"], rowCount: 50) {
      (column, row) throws(Failure) in
      column == 0 ? names[row] : .integer(Int64(row))
    }
    try objects.context.save()
    #expect(try batch.contents() == objects.contents())
    #expect(rows.count == 50 && zip(rows, rows.dropFirst()).allSatisfy { $1.id == $0.id + 1 })
  }

  @Test func `relationships without inverse let go of deleted rows`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let company = try context.insert(entityNamed: "Company"), other = try context.insert(entityNamed: "Company")
    let book = try context.insert(entityNamed: "Book"), kept = try context.insert(entityNamed: "Book")
    let publisher = try library.relationship("Book", "publisher")
    try book.set(.object(company.reference), for: publisher)
    try kept.set(.object(other.reference), for: publisher)
    try company.set(.integer(1), for: company.entity.property(named: "code"))
    try context.save()
    let request = FetchRequest(entityName: "Company")
    request.predicate = try Predicate.parse("code == 1")
    #expect(try context.delete(request, merges: true).map(\.id) == [company.id])
    #expect(try book.value(of: publisher).isNil)
    #expect(try kept.object(of: publisher) === other)
    #expect(company.state == .gone)
    #expect(try library.sql("SELECT ZPUBLISHER, Z_OPT FROM ZBOOK ORDER BY Z_PK") == ["-|2", "\(other.id)|1"])
  }

  @Test func `a request that fails changes nothing`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    for number in 0..<3 {
      let account = try context.insert(entityNamed: "Account")
      try account.set(.text("a\(number)@x"), for: account.entity.property(named: "email"))
    }
    try context.save()
    let before = try library.contents()
    let request = FetchRequest(entityName: "Account")
    func refused(_ kind: Failure.Kind, _ body: () throws -> Void) throws {
      guard let found = failure(of: body) else {
        Issue.record("Nothing was refused.")
        return
      }
      #expect(found.kind == kind, "\(found)")
      #expect(try library.contents() == before)
      #expect(!context.hasChanges)
    }
    try refused(.constraint) { _ = try context.update(request, [("email", .text("same"))], merges: true) }
    try refused(.constraint) {
      _ = try context.insertIntoStore(entityNamed: "Account", keys: ["email"], rowCount: 2, merges: true) {
        (_, row) throws(Failure) in .text("a\(3 - row)@x")
      }
    }
    try refused(.invalidArgument) { _ = try context.update(request, [("email", .integer(1))], merges: true) }
    try refused(.invalidArgument) { _ = try context.update(request, [("nothing", .nil)], merges: true) }
    try refused(.invalidArgument) {
      _ = try context.update(request, [("email", .nil), ("email", .nil)], merges: true)
    }
    let books = FetchRequest(entityName: "Book")
    try refused(.invalidArgument) { _ = try context.update(books, [("tags", .nil)], merges: true) }
    try refused(.invalidArgument) { _ = try context.update(books, [("draft", .nil)], merges: true) }
    try refused(.invalidArgument) { _ = try context.update(books, [("author", .text("x"))], merges: true) }
    let missing = try library.object("Person", 999)
    try refused(.conflict) { _ = try context.update(books, [("author", missing)], merges: true) }
    try refused(.invalidArgument) {
      _ = try context.insertIntoStore(entityNamed: "Party", keys: ["name"], rowCount: 1, merges: true) {
        (_, _) throws(Failure) in .nil
      }
    }
  }

  @Test func `pending members stay what they are beside what a request changes`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let books = try library.relationship("Shelf", "books"), tags = try library.relationship("Book", "tags")
    let first = try context.insert(entityNamed: "Shelf"), second = try context.insert(entityNamed: "Shelf")
    var volumes: [ManagedObject] = []
    for number in 0..<5 {
      let book = try context.insert(entityNamed: "Book")
      try book.set(.double(Double(number)), for: book.entity.property(named: "price"))
      volumes.append(book)
    }
    let tag = try context.insert(entityNamed: "Tag"), kept = try context.insert(entityNamed: "Tag")
    try tag.set(.text("gone"), for: tag.entity.property(named: "word"))
    try first.set(Array(volumes[0..<3]), for: books)
    try second.set(Array(volumes[3...]), for: books)
    try context.save()

    try first.set([volumes[2], volumes[0], volumes[1]], for: books)
    try volumes[0].add(tag, to: tags)
    try volumes[1].add(tag, to: tags)
    try volumes[1].add(kept, to: tags)
    let moved = FetchRequest(entityName: "Book")
    moved.predicate = try Predicate.parse("price == 0 OR price == 4")
    _ = try context.update(moved, [("shelf", .object(second.reference))], merges: true)
    #expect(try first.objects(of: books).map(\.id) == [volumes[2].id, volumes[1].id])
    #expect(try second.objects(of: books).map(\.id) == [volumes[3].id, volumes[4].id, volumes[0].id])
    let doomed = FetchRequest(entityName: "Tag")
    doomed.predicate = try Predicate.parse("word == 'gone'")
    _ = try context.delete(doomed, merges: true)
    #expect(try volumes[0].objects(of: tags).isEmpty)
    #expect(try volumes[1].objects(of: tags).map(\.id) == [kept.id])
    #expect(!context.pending.updated.contains(volumes[0]) && context.pending.updated.contains(volumes[1]))
    try context.save()
    let fresh = Context(store: library.store)
    let shelf = try fresh.existingObject(entityNamed: "Shelf", id: first.id)
    #expect(try shelf.objects(of: books).map(\.id) == [volumes[2].id, volumes[1].id])
    let book = try fresh.existingObject(entityNamed: "Book", id: volumes[1].id)
    #expect(try book.objects(of: tags).map(\.id) == [kept.id])
  }

  @Test func `without a merge the context stays as it was`() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    let book = try context.insert(entityNamed: "Book"), gone = try context.insert(entityNamed: "Book")
    let title = try book.entity.property(named: "title")
    try book.set(.text("old"), for: title)
    try context.save()
    let controller = try ResultsController(
      context: context, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: true)
    try controller.performFetch()
    let request = FetchRequest(entityName: "Book")
    _ = try context.update(request, [("title", .text("new"))], merges: false)
    request.predicate = try Predicate.parse("SELF == %@", arguments: [.object(gone.reference)])
    _ = try context.delete(request, merges: false)
    try context.process()
    #expect(try book.value(of: title).isIdentical(to: .text("old")))
    #expect(gone.isLive && controller.count == 2)
    #expect(try controller.nextChanges() == nil)
    // And what is changed on top of what is no longer there is told so.
    try book.set(.text("mine"), for: title)
    #expect(failure { try context.save() }?.kind == .conflict)
  }

  @Test func `batch requests in a store that is read-only or in the midst of a read are refused`() throws {
    let folder = try TemporaryFolder()
    _ = try LibraryFixture(in: folder)
    var options = Store.Options()
    options.isReadOnly = true
    let store = try Store.open(
      path: LibraryFixture.path(in: folder), model: LibraryFixture.makeModel(), options: options)
    let context = Context(store: store)
    let request = FetchRequest(entityName: "Book")
    #expect(failure { _ = try context.delete(request, merges: true) }?.kind == .readOnly)
    #expect(failure { _ = try context.update(request, [("title", .nil)], merges: true) }?.kind == .readOnly)
    try store.close()
    #expect(failure { _ = try context.delete(request, merges: true) }?.kind == .closed)
  }
}
