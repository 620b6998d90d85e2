import Testing

@testable import QuireCore

/// What a fetch reads, and when: counted in statements.
@Suite("Fetch options")
struct FetchOptionsTests {
  @Test func aBatchIsReadWhenOneOfItsObjectsIsTouched() throws {
    let library = try LibraryFixture()
    let writer = Context(store: library.store)
    _ = try writer.insert(entityNamed: "Tag", keys: ["word"], rowCount: 100_000) { (_, row) in .text(Text("\(row)")) }
    try writer.save()
    let context = Context(store: library.store)
    let request = FetchRequest(entityName: "Tag")
    request.batchSize = 20
    let before = try context.statementCount()
    let list = try context.fetch(request)
    for place in [0, 50_000, 99_999] { #expect(try list.text("word", at: place) == "\(place)") }
    #expect(try context.statementCount() - before <= 4)
    for place in 50_000..<50_020 { #expect(try list.text("word", at: place) == "\(place)") }
    #expect(try context.statementCount() - before <= 4)
  }

  @Test("Prefetched objects are those that reading one by one finds", arguments: Dice.seeds(3))
  func prefetching(seed: UInt64) throws {
    print("prefetch: seed \(seed)")
    var dice = Dice(seed: seed)
    let library = try LibraryFixture()
    let shop = try Context(store: library.store).filled(&dice)
    let cases: [(entity: String, paths: [String], statements: Int)] = [
      ("Book", ["author"], 1), ("Person", ["books"], 1), ("Book", ["tags"], 1), ("Person", ["books.tags.books"], 3),
      ("Shelf", ["books.author", "books.tags"], 3), ("Person", ["friends.friends"], 2), ("Tag", ["books.shelf"], 2),
      ("Book", ["publisher", "author.friends"], 3),
    ]
    for (entity, paths, statements) in cases {
      for batchSize in [0, 5] {
        let contexts = [Context(store: library.store), Context(store: library.store)]
        let changes = dice
        for context in contexts {
          dice = changes
          if batchSize == 0 || dice.chance(1, of: 2) { try context.changeWithoutSaving(shop, &dice) }
        }
        let what = "\(entity) \(paths) in batches of \(batchSize)"
        let request = FetchRequest(entityName: entity)
        request.batchSize = batchSize
        let wanted = try contexts[0].fetch(request)
        request.prefetchedKeyPaths = paths.map { $0.split(separator: ".").map(String.init) }
        let hasChanges = contexts[1].hasChanges
        let before = try contexts[1].statementCount()
        let list = try contexts[1].fetch(request)
        let taken = try contexts[1].statementCount() - before
        if batchSize == 0, !hasChanges { #expect(taken <= 1 + statements, "\(what)") }
        try #require(list.count == wanted.count)
        for place in 0..<list.count {
          let object = try list.object(at: place)
          for path in request.prefetchedKeyPaths {
            let read = try contexts[1].statementCount()
            let found = try object.described(along: path[...])
            #expect(try contexts[1].statementCount() == read, "\(what), pending \(hasChanges), seed \(seed)")
            #expect(try found == wanted.object(at: place).described(along: path[...]), "\(what), seed \(seed)")
          }
        }
      }
    }
  }

  @Test func prefetchingReadsEachBatchByItself() throws {
    let library = try LibraryFixture()
    var dice = Dice(seed: 7)
    _ = try Context(store: library.store).filled(&dice)
    let context = Context(store: library.store)
    let request = FetchRequest(entityName: "Book")
    request.batchSize = 10
    request.prefetchedKeyPaths = [["author"], ["tags"]]
    let list = try context.fetch(request)
    let before = try context.statementCount()
    for place in 0..<10 { _ = try list.object(at: place).described(along: ["tags"]) }
    #expect(try context.statementCount() - before == 3)
    for place in 10..<20 { _ = try list.object(at: place).described(along: ["author"]) }
    #expect(try context.statementCount() - before <= 6)
  }

  @Test func onlyPathsOfStoredRelationshipsArePrefetched() throws {
    let library = try LibraryFixture()
    let context = Context(store: library.store)
    for (path, part) in [("title", "Book.title"), ("draft", "Book.draft"), ("author.nobody", "nobody")] {
      let request = FetchRequest(entityName: "Book")
      request.prefetchedKeyPaths = [try FetchRequest.split(keyPath: path)]
      let failure = try #require(failure { _ = try context.fetch(request) })
      #expect(failure.kind == .invalidArgument && failure.message.string.contains(part), "\(failure)")
    }
    for prepare in [
      { (request: FetchRequest) in request.returnsObjectsAsFaults = true },
      { $0.includesPropertyValues = false },
    ] {
      let request = FetchRequest(entityName: "Book")
      prepare(request)
      request.prefetchedKeyPaths = [["author"]]
      #expect(failure { _ = try context.fetch(request) }?.kind == .invalidArgument)
      request.prefetchedKeyPaths = []
      request.shouldRefreshRefetchedObjects = true
      #expect(failure { _ = try context.fetch(request) }?.kind == .invalidArgument)
    }
  }

  @Test func objectsWithoutValuesAreReadTogetherOrAlone() throws {
    let library = try LibraryFixture()
    var dice = Dice(seed: 3)
    _ = try Context(store: library.store).filled(&dice)
    func statements(_ prepare: (FetchRequest) -> Void) throws -> [Int] {
      let context = Context(store: library.store)
      let request = FetchRequest(entityName: "Book")
      request.sort = [SortDescriptor(keyPath: ["title"])]
      prepare(request)
      var counts: [Int] = []
      var last = try context.statementCount()
      func note() throws {
        let now = try context.statementCount()
        counts.append(now - last)
        last = now
      }
      let list = try context.fetch(request)
      try note()
      let objects = try (0..<10).map { try list.object(at: $0) }
      #expect(!objects.contains { !$0.isFault })
      try note()
      for object in objects { _ = try object.value(forKey: "title") }
      try note()
      for object in objects { _ = try object.value(forKey: "price") }
      try note()
      return counts
    }
    #expect(try statements { $0.returnsObjectsAsFaults = true } == [1, 0, 1, 0])
    #expect(
      try statements {
        $0.returnsObjectsAsFaults = true
        $0.batchSize = 5
      } == [1, 0, 2, 0])
    #expect(try statements { $0.includesPropertyValues = false } == [1, 0, 10, 0])
    // Partial objects: the title comes with them, the price does not.
    #expect(try statements { $0.projection.columns = [.init(keyPath: ["title"])] } == [2, 0, 0, 1])
    #expect(
      try statements {
        $0.projection.columns = [.init(keyPath: ["title"]), .init(keyPath: ["author"])]
        $0.batchSize = 5
      } == [1, 2, 0, 2])
  }

  @Test func partialObjectsHaveTheValuesThatWereFetchedAndReadTheRest() throws {
    let library = try LibraryFixture()
    var dice = Dice(seed: 11)
    _ = try Context(store: library.store).filled(&dice)
    let context = Context(store: library.store), other = Context(store: library.store)
    let request = FetchRequest(entityName: "Person")
    let whole = try other.fetch(request)
    request.projection.columns = [.init(keyPath: ["name"]), .init(keyPath: ["passport"])]
    let list = try context.fetch(request)
    for place in 0..<list.count {
      let object = try list.object(at: place)
      if place == 0 { #expect(object.isFault) }
      for key in ["name", "passport", "age", "code"] {
        #expect(try object.value(forKey: key).isIdentical(to: whole.object(at: place).value(forKey: key)))
      }
    }
    // A batch request changes what was fetched of objects that are not read yet.
    let again = Context(store: library.store)
    let partial = try again.fetch(request)
    let everybody = FetchRequest(entityName: "Person")
    _ = try again.update(everybody, [("name", .text("renamed"))], merges: true)
    #expect(try partial.object(at: 1).value(forKey: "name").isIdentical(to: .text("renamed")))
    // One that was changed is whole.
    let changed = try list.object(at: 0)
    try changed.set(.integer(7), for: changed.entity.property(named: "age"))
    #expect(try context.fetch(request).object(at: 0).value(forKey: "age").isIdentical(to: .integer(7)))
    request.projection.columns = [.init(keyPath: ["books"])]
    #expect(failure { _ = try context.fetch(request) }?.kind == .invalidArgument)
    let books = FetchRequest(entityName: "Book")
    books.projection.columns = [.init(keyPath: ["author", "name"])]
    #expect(failure { _ = try context.fetch(books) }?.kind == .invalidArgument)
  }
}

extension Context {
  /// Of the connection that writes, and of that by which the context reads. Begins its moment where it has none.
  func statementCount() throws -> Int {
    let moment = try momentOnSQLite
    return try storeOnSQLite.withConnection { writer throws(Failure) in
      let read = try moment.withConnection { $0 === writer ? 0 : $0.statementCount }
      return read + writer.statementCount
    }
  }
}

extension ObjectList {
  fileprivate func text(_ key: String, at place: Int) throws -> String? {
    guard case .text(let text) = try object(at: place).value(forKey: key) else { return nil }
    return text.string
  }
}

extension ManagedObject {
  /// What a path leads to, written down with the values, in an order that does not depend on how it was read.
  fileprivate func described(along path: ArraySlice<String>) throws -> String {
    guard let key = path.first else {
      // An unsaved object has another id in each context.
      let values = try entity.attributes.map { "\(try value(of: $0))" }
      return "\(entity.name) \(state == .inserted ? 0 : id): \(values.joined(separator: ", "))"
    }
    let relationship = try #require(try entity.property(named: key) as? Relationship)
    var reached: [ManagedObject] = []
    if relationship.isToMany {
      reached = try objects(of: relationship)
    } else if let target = try object(of: relationship) {
      reached = [target]
    }
    return "[" + (try reached.map { try $0.described(along: path.dropFirst()) }.joined(separator: "; ")) + "]"
  }
}

extension Context {
  /// Saves a small library; gives the ids by entity.
  fileprivate func filled(_ dice: inout Dice) throws -> [String: [Int64]] {
    var objects: [String: [ManagedObject]] = [:]
    for (entity, count) in [
      ("Person", 12), ("Author", 8), ("Company", 3), ("Book", 40), ("Shelf", 5), ("Tag", 9), ("Passport", 6),
    ] {
      for number in 0..<count {
        let object = try insert(entityNamed: entity)
        if let name = object.entity.attributes.first(where: { $0.type == .string }) {
          try object.set(.text(Text("\(entity) \(number)")), for: name)
        }
        objects[entity, default: []].append(object)
      }
    }
    let people = (objects["Person"] ?? []) + (objects["Author"] ?? [])
    func relate(_ object: ManagedObject, _ key: String, to others: [ManagedObject]) throws {
      let relationship = try #require(try object.entity.property(named: key) as? Relationship)
      if relationship.isToMany {
        for _ in 0..<dice.roll(4) {
          if let other = dice.pick(others) { try object.add(other, to: relationship) }
        }
      } else if dice.chance(4, of: 5), let other = dice.pick(others) {
        try object.set(.object(other.reference), for: relationship)
      }
    }
    for book in objects["Book"] ?? [] {
      try relate(book, "author", to: people)
      try relate(book, "publisher", to: objects["Company"] ?? [])
      try relate(book, "shelf", to: objects["Shelf"] ?? [])
      try relate(book, "tags", to: objects["Tag"] ?? [])
    }
    for person in people {
      try relate(person, "friends", to: people)
      try relate(person, "passport", to: objects["Passport"] ?? [])
    }
    try save()
    return objects.mapValues { $0.map(\.id) }
  }

  /// The same changes for the same dice; the changed objects stay because they are pending.
  fileprivate func changeWithoutSaving(_ shop: [String: [Int64]], _ dice: inout Dice) throws {
    func any(_ entity: String) throws -> ManagedObject {
      let id = dice.pick(shop[entity] ?? [])
      return try existingObject(entityNamed: entity, id: #require(id))
    }
    for _ in 0..<10 {
      guard let book = try? any("Book") else { continue }
      switch dice.roll(6) {
      case 0:
        let author = try any("Author")
        try book.set(.object(author.reference), for: book.entity.property(named: "author"))
      case 1: try book.set(.nil, for: book.entity.property(named: "shelf"))
      case 2:
        let tags = try #require(try book.entity.property(named: "tags") as? Relationship)
        try book.add(any("Tag"), to: tags)
      case 3:
        let new = try insert(entityNamed: "Book")
        try new.set(.text("new"), for: new.entity.property(named: "title"))
        let author = try any("Person")
        try new.set(.object(author.reference), for: new.entity.property(named: "author"))
        let shelf = try any("Shelf")
        try shelf.add(new, to: #require(try shelf.entity.property(named: "books") as? Relationship))
      case 4: try delete(book)
      default: try book.set(.text("changed"), for: book.entity.property(named: "title"))
      }
    }
  }
}
