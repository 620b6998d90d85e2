import Testing

@testable import QuireCore

@Suite("Child contexts")
struct ChildContextTests {
  private let library: LibraryFixture
  private let parent: Context
  private let child: Context

  init() throws {
    library = try LibraryFixture()
    parent = Context(store: library.store)
    child = Context(parent: parent)
  }

  private func book(_ title: String, in context: Context) throws -> ManagedObject {
    let book = try context.insert(entityNamed: "Book")
    try book.set(.text(Text(title)), for: book.entity.property(named: "title"))
    return book
  }

  private func counterpart(_ object: ManagedObject, in context: Context) throws -> ManagedObject {
    try context.existingObject(object.entity, id: object.id)
  }

  private func set(_ key: String, of object: ManagedObject, to value: Value) throws {
    try object.set(value, for: object.entity.property(named: key))
  }

  private func titles(_ context: Context, where format: String = "TRUEPREDICATE") throws -> [String] {
    let request = FetchRequest(entityName: "Book")
    request.predicate = try Predicate.parse(Text(format))
    request.sort = [SortDescriptor(keyPath: ["title"])]
    let list = try context.fetch(request)
    return try (0..<list.count).map { try value("title", of: list.object(at: $0)) }
  }

  private func value(_ key: String, of object: ManagedObject) throws -> String {
    switch try object.value(forKey: key) {
    case .nil: "nil"
    case .text(let text): text.string
    case .double(let number): "\(number)"
    case .object(let box): "\(box.reference.id)"
    default: "?"
    }
  }

  private func storedTitles() throws -> [String] { try titles(Context(store: library.store)) }

  // MARK: Seeing

  @Test("A child sees what its parent has, saved or not")
  func seesUnsaved() throws {
    _ = try book("Saved", in: parent)
    try parent.save()
    let pending = try book("Pending", in: parent)
    #expect(try titles(child) == ["Pending", "Saved"])
    let found = try child.existingObject(pending.entity, id: pending.id)
    #expect(found !== pending && found.state == .saved && !child.hasChanges)
    #expect(try value("title", of: found) == "Pending")
  }

  @Test("A child sees no more what its parent has deleted")
  func seesDeletions() throws {
    let saved = try book("Saved", in: parent)
    try parent.save()
    try parent.delete(saved)
    #expect(try titles(child) == [])
    #expect(throws: Failure.self) { try child.existingObject(saved.entity, id: saved.id) }
  }

  @Test("A child follows the relationships that its parent has changed")
  func seesRelationships() throws {
    let author = try parent.insert(entityNamed: "Author"), first = try book("First", in: parent)
    try parent.save()
    let second = try book("Second", in: parent)
    for book in [first, second] { try set("author", of: book, to: .object(author.reference)) }
    let mine = try counterpart(author, in: child)
    let books = try mine.objects(of: library.relationship("Person", "books"))
    #expect(books.map(\.id) == [first.id, second.id] && books.allSatisfy { $0.context === child })
    try parent.delete(second)
    let other = Context(parent: parent)
    #expect(
      try counterpart(author, in: other).objects(of: library.relationship("Person", "books")).map(\.id) == [first.id])
    #expect(try titles(other, where: "author.books.@count == 1") == ["First"])
  }

  @Test("A parent sees nothing of its child before that saves, and the store nothing before the parent does")
  func savesOneLevel() throws {
    let made = try book("Made", in: child)
    #expect(try titles(parent) == [])
    try child.save()
    #expect(!child.hasChanges && parent.hasChanges && made.state == .saved)
    #expect(try titles(parent) == ["Made"] && storedTitles() == [])
    let theirs = try counterpart(made, in: parent)
    #expect(theirs.state == .inserted && theirs.id == made.id)
    try parent.save()
    #expect(try storedTitles() == ["Made"])
    try set("title", of: made, to: .text("Changed"))
    try child.save()
    #expect(theirs.isUpdated)
    try child.delete(made)
    try child.save()
    #expect(theirs.isDeleted)
    try parent.save()
    #expect(try storedTitles() == [])
  }

  @Test("Contexts nest to any depth")
  func depth() throws {
    var context = child
    for _ in 0..<20 { context = Context(parent: context) }
    let made = try book("Deep", in: context)
    var level: Context? = context
    while let saving = level {
      try saving.save()
      level = saving.parent
    }
    #expect(try storedTitles() == ["Deep"])
    #expect(try counterpart(made, in: parent).id == made.id)
  }

  @Test("What a child drops its parent never had")
  func rollback() throws {
    let kept = try book("Kept", in: parent)
    let mine = try counterpart(kept, in: child)
    try set("title", of: mine, to: .text("Dropped"))
    _ = try book("Never", in: child)
    try child.rollback()
    #expect(try titles(child) == ["Kept"] && titles(parent) == ["Kept"])
    #expect(try value("title", of: mine) == "Kept")
  }

  @Test("Transient attributes go one level up and no further")
  func transient() throws {
    let mine = try child.insert(entityNamed: "Sample")
    try set("note", of: mine, to: .text("mine"))
    try set("name", of: mine, to: .text("ours"))
    try child.save()
    let theirs = try counterpart(mine, in: parent)
    #expect(try value("note", of: theirs) == "mine" && value("name", of: theirs) == "ours")
    try set("note", of: mine, to: .text("again"))
    try child.save()
    #expect(try value("note", of: theirs) == "again" && value("note", of: mine) == "again")
    #expect(try value("note", of: counterpart(mine, in: Context(parent: parent))) == "again")
    try parent.save()
    #expect(try value("note", of: counterpart(mine, in: Context(store: library.store))) == "unwritten")
  }

  // MARK: Relationships

  @Test("Every kind of relationship reaches the parent")
  func relationships() throws {
    let shelf = try child.insert(entityNamed: "Shelf")
    let books = try ["A", "B", "C"].map { try book($0, in: child) }
    let tags = try (0..<2).map { _ in try child.insert(entityNamed: "Tag") }
    let author = try child.insert(entityNamed: "Author"), friend = try child.insert(entityNamed: "Person")
    let passport = try child.insert(entityNamed: "Passport"), label = try child.insert(entityNamed: "Label")
    try shelf.set([books[2], books[0], books[1]], for: library.relationship("Shelf", "books"))
    try books[0].set([tags[1], tags[0]], for: library.relationship("Book", "tags"))
    try author.set([friend, author], for: library.relationship("Person", "friends"))
    try shelf.set([label], for: library.relationship("Shelf", "pins"))
    try set("passport", of: author, to: .object(passport.reference))
    try child.save()
    func members(_ object: ManagedObject, _ key: String) throws -> [Int64] {
      let theirs = try counterpart(object, in: parent)
      let relationship = try #require(theirs.entity.property(named: key) as? Relationship)
      return try theirs.objects(of: relationship).map(\.id)
    }
    #expect(try members(shelf, "books") == [books[2].id, books[0].id, books[1].id])
    #expect(try members(books[0], "tags") == [tags[1].id, tags[0].id] && members(tags[0], "books") == [books[0].id])
    #expect(
      try members(author, "friends") == [author.id, friend.id].sorted() && members(friend, "friends") == [author.id])
    #expect(try members(shelf, "pins") == [label.id])
    #expect(try value("holder", of: counterpart(passport, in: parent)) == "\(author.id)")
    try shelf.set([books[1], books[2]], for: library.relationship("Shelf", "books"))
    try child.save()
    #expect(try members(shelf, "books") == [books[1].id, books[2].id])
    try parent.save()
    let fresh = try Context(store: library.store).existingObject(shelf.entity, id: shelf.id)
    #expect(try fresh.objects(of: library.relationship("Shelf", "books")).map(\.id) == [books[1].id, books[2].id])
  }

  @Test("Delete rules reach what only the parent knows")
  func deleteRules() throws {
    let author = try parent.insert(entityNamed: "Author")
    try parent.save()
    let mine = try counterpart(author, in: child)
    _ = try mine.objects(of: library.relationship("Person", "books"))
    let late = try book("Late", in: parent)
    try set("author", of: late, to: .object(author.reference))
    try child.delete(mine)
    try child.save()
    #expect(author.isDeleted)
    #expect(try value("author", of: late) == "nil")
  }

  // MARK: Conflicts

  @Test("Two changes of one property are in conflict, two of one object are not")
  func conflicts() throws {
    let theirs = try book("Old", in: parent)
    let mine = try counterpart(theirs, in: child)
    _ = try mine.value(forKey: "title")
    try set("price", of: theirs, to: .double(5))
    try set("title", of: mine, to: .text("Mine"))
    try child.save()
    #expect(try value("title", of: theirs) == "Mine" && value("price", of: theirs) == "5.0")
    try set("title", of: theirs, to: .text("Theirs"))
    try set("title", of: mine, to: .text("Mine again"))
    let before = try titles(parent)
    let failure = try #require(throws: Failure.self) { try child.save() }
    #expect(failure.kind == .conflict && failure.description.contains("title"))
    #expect(child.hasChanges)
    #expect(try titles(parent) == before)
    child.mergePolicy = .objectWins
    try child.save()
    #expect(try value("title", of: theirs) == "Mine again")
  }

  @Test("The store's side of a conflict with the parent is the parent's")
  func storeWins() throws {
    let theirs = try book("Old", in: parent)
    let mine = try counterpart(theirs, in: child)
    _ = try mine.value(forKey: "title")
    try set("title", of: theirs, to: .text("Theirs"))
    try set("title", of: mine, to: .text("Mine"))
    try set("price", of: mine, to: .double(7))
    child.mergePolicy = .storeWins
    try child.save()
    #expect(try value("title", of: mine) == "Theirs" && value("price", of: theirs) == "7.0")
  }

  @Test("A change of what the parent has deleted is a conflict, and brings it back when the object wins")
  func deletedAbove() throws {
    let theirs = try book("Old", in: parent)
    try parent.save()
    let mine = try counterpart(theirs, in: child)
    try set("title", of: mine, to: .text("Mine"))
    try parent.delete(theirs)
    #expect(try #require(throws: Failure.self) { try child.save() }.kind == .conflict)
    child.mergePolicy = .objectWins
    try child.save()
    try parent.save()
    #expect(try storedTitles() == ["Mine"])
  }

  @Test("What a child brings back is in conflict with what its parent has again, though nobody holds that")
  func returnedOnBothLevels() throws {
    child.retainExternally()
    defer { child.releaseExternally() }
    try child.enableUndo(levels: 0)
    let id = try {
      let theirs = try book("Old", in: parent)
      try parent.save()
      return theirs.id
    }()
    try child.delete(try child.existingObject(entityNamed: "Book", id: id))
    try child.save()
    try child.undo()
    try parent.rollback()
    #expect(try #require(throws: Failure.self) { try child.save() }.kind == .conflict)
    #expect(!parent.hasChanges)
    child.mergePolicy = .objectWins
    try child.save()
    try parent.save()
    #expect(try titles(parent) == ["Old"] && storedTitles() == ["Old"])
  }

  @Test("To take out a member whose row others have deleted is a conflict, and settled")
  func vanishedMember() throws {
    let tags = try library.relationship("Book", "tags")
    let theirs = try book("Old", in: parent), tag = try parent.insert(entityNamed: "Tag")
    try theirs.set([tag], for: tags)
    try parent.save()
    let above = Context(store: library.store)
    let below = Context(parent: above)
    let mine = try counterpart(theirs, in: below), word = try counterpart(tag, in: below)
    try mine.remove(word, from: tags)
    try parent.delete(tag)
    try parent.save()
    // The context above shows its moment, in which the row is there.
    try below.save()
    #expect(try #require(throws: Failure.self) { try above.save() }.kind == .conflict)
    above.mergePolicy = .storeWins
    try above.save()
    try below.merge()
    #expect(try mine.objects(of: tags).isEmpty && word.isDeleted)
  }

  @Test("To delete what others have deleted meanwhile is a conflict once the parent saves")
  func vanishedDeletion() throws {
    let tags = try library.relationship("Book", "tags"), books = try library.relationship("Tag", "books")
    let theirs = try book("Old", in: parent), tag = try parent.insert(entityNamed: "Tag")
    try theirs.set([tag], for: tags)
    try parent.save()
    let above = Context(store: library.store)
    let below = Context(parent: above)
    let word = try counterpart(tag, in: above)
    #expect(try word.objects(of: books).map(\.isFault) == [true])
    try below.delete(try counterpart(theirs, in: below))
    try below.process()
    try parent.delete(theirs)
    try parent.save()
    try below.save()
    #expect(try #require(throws: Failure.self) { try above.save() }.kind == .conflict)
    try above.rollback()
    #expect(try word.objects(of: books).isEmpty)
  }

  @Test("Members come and go one by one, and only orders of both are in conflict")
  func memberships() throws {
    let tags = try library.relationship("Book", "tags")
    let theirs = try book("Old", in: parent)
    let words = try (0..<4).map { _ in try parent.insert(entityNamed: "Tag") }
    func set(_ object: ManagedObject, _ places: [Int]) throws {
      try object.set(places.map { try counterpart(words[$0], in: object.context) }, for: tags)
    }
    func places(_ object: ManagedObject) throws -> [Int] {
      try object.objects(of: tags).compactMap { tag in words.firstIndex { $0.id == tag.id } }
    }
    try set(theirs, [0, 1, 2])
    let mine = try counterpart(theirs, in: child)
    #expect(try places(mine) == [0, 1, 2])

    try set(theirs, [2, 1])
    try set(mine, [3, 0, 1, 2])
    try child.save()
    #expect(try places(theirs) == [2, 1, 3])
    try child.merge()
    #expect(try places(mine) == [2, 1, 3])

    try set(theirs, [2, 1])
    try set(mine, [3, 2])
    try child.save()
    try child.merge()
    #expect(try places(theirs) == [2] && places(mine) == [2])

    for (policy, wanted) in [(MergePolicy.storeWins, [2, 3, 1]), (.rollback, [2, 3, 1]), (.objectWins, [3, 1, 2])] {
      try set(theirs, [1, 2, 3])
      try child.merge()
      #expect(try places(mine) == [1, 2, 3])
      try set(theirs, [2, 3, 1])
      try set(mine, [3, 1, 2])
      child.mergePolicy = .error
      #expect(try #require(throws: Failure.self) { try child.save() }.kind == .conflict)
      #expect(try places(theirs) == [2, 3, 1] && places(mine) == [3, 1, 2])
      child.mergePolicy = policy
      try child.save()
      #expect(try places(theirs) == wanted && places(mine) == wanted, "\(policy)")
    }
    try set(theirs, [1, 2, 3])
    try child.merge()
    #expect(try places(mine) == [1, 2, 3])
    for each in [mine, theirs] { try set(each, [2, 3, 1]) }
    child.mergePolicy = .error
    try child.save()
    #expect(try places(theirs) == [2, 3, 1])
  }

  @Test("A save that fails leaves the parent as it was")
  func allOrNothing() throws {
    let author = try parent.insert(entityNamed: "Author"), theirs = try book("Old", in: parent)
    try parent.save()
    let mine = try counterpart(theirs, in: child), writer = try counterpart(author, in: child)
    try set("author", of: mine, to: .object(writer.reference))
    _ = try book("New", in: child)
    try parent.delete(author)
    try parent.process()
    let failure = try #require(throws: Failure.self) { try child.save() }
    #expect(failure.kind == .conflict)
    #expect(parent.pending.inserted.isEmpty && parent.pending.updated.isEmpty)
    #expect(try titles(parent) == ["Old"])
    #expect(try value("author", of: theirs) == "nil")
  }

  // MARK: Following

  @Test("What a parent changes reaches its children by merging")
  func merging() throws {
    let theirs = try book("Old", in: parent)
    let mine = try counterpart(theirs, in: child)
    _ = try mine.value(forKey: "title")
    try set("title", of: theirs, to: .text("New"))
    #expect(try value("title", of: mine) == "Old")
    try child.merge()
    #expect(try value("title", of: mine) == "New" && !mine.isUpdated)
    child.mergesAutomatically = true
    try set("title", of: theirs, to: .text("Newer"))
    // A fetch advances nothing, and what an object shows stays.
    #expect(try titles(child) == ["New"])
    #expect(try value("title", of: mine) == "New")
    try child.mergeIfAutomatic()
    #expect(try value("title", of: mine) == "Newer")
    try parent.delete(theirs)
    #expect(try titles(child).isEmpty && !mine.isDeleted)
    try child.mergeIfAutomatic()
    #expect(mine.isDeleted)
  }

  @Test("What others save reaches a child through its parent")
  func mergingThrough() throws {
    let theirs = try book("Old", in: parent)
    try parent.save()
    let mine = try counterpart(theirs, in: child)
    _ = try mine.value(forKey: "title")
    let sibling = Context(store: library.store)
    try set("title", of: counterpart(theirs, in: sibling), to: .text("Saved elsewhere"))
    try sibling.save()
    try child.merge()
    #expect(try value("title", of: mine) == "Old")
    try parent.merge()
    try child.merge()
    #expect(try value("title", of: mine) == "Saved elsewhere")
  }

  @Test("A child does not hear of its own saves")
  func noEcho() throws {
    let mine = try book("Mine", in: child)
    try child.save()
    #expect(child.inbox.isEmpty)
    try set("title", of: mine, to: .text("Changed"))
    try child.save()
    #expect(child.inbox.isEmpty)
    let brother = Context(parent: parent)
    #expect(try titles(brother) == ["Changed"])
    try set("title", of: mine, to: .text("Again"))
    try child.save()
    #expect(!brother.inbox.isEmpty)
  }

  @Test("The save of a child is one thing to undo in its parent")
  func undo() throws {
    parent.retainExternally()
    defer { parent.releaseExternally() }
    try parent.enableUndo(levels: 0)
    let theirs = try book("Old", in: parent)
    try parent.process()
    let mine = try counterpart(theirs, in: child)
    try set("title", of: mine, to: .text("Mine"))
    _ = try book("Made", in: child)
    try child.save()
    #expect(try titles(parent) == ["Made", "Mine"])
    try parent.undo()
    #expect(try titles(parent) == ["Old"])
    try parent.redo()
    #expect(try titles(parent) == ["Made", "Mine"])
  }

  @Test("An undo works beside members that the parent has deleted, before that is merged", arguments: [false, true])
  func undoBesideDeletions(isAddedHere: Bool) throws {
    child.retainExternally()
    defer { child.releaseExternally() }
    try child.enableUndo(levels: 0)
    let tags = try library.relationship("Book", "tags"), theirs = try book("Old", in: parent)
    let old = try parent.insert(entityNamed: "Tag"), new = try parent.insert(entityNamed: "Tag")
    if !isAddedHere { try theirs.set([old], for: tags) }
    try parent.save()
    let mine = try counterpart(theirs, in: child)
    for tag in isAddedHere ? [old, new] : [new] { try mine.add(try counterpart(tag, in: child), to: tags) }
    try child.process()
    try parent.delete(old)
    try child.undo()
    #expect(try mine.objects(of: tags).map(\.id) == (isAddedHere ? [] : [old.id]))
    try child.merge()
    #expect(try mine.objects(of: tags).isEmpty && !child.hasChanges)
    try child.redo()
    #expect(try mine.objects(of: tags).map(\.id) == [new.id])
    try child.save()
  }

  @Test("A child hears what its parent has changed of a row before it merged that the one above has inserted it")
  func changeBeforeInsertion() throws {
    let person = try parent.insert(entityNamed: "Author")
    try parent.save()
    let below = Context(parent: child), known = try counterpart(person, in: child)
    let theirs = try book("New", in: parent)
    try set("author", of: theirs, to: .object(person.reference))
    // The parent has not told of it, and the children read it all the same.
    let mine = try counterpart(theirs, in: below)
    #expect(try value("author", of: mine) == "\(person.id)")
    try child.delete(known)
    try child.process()
    try parent.save()
    try child.merge()
    try below.merge()
    #expect(try value("author", of: mine) == "nil")
  }

  // MARK: Ids

  @Test("Temporary ids become permanent for children too")
  func temporaryIDs() throws {
    let (author, theirs) = try library.store.withoutReservedIDs { () throws(Failure) in
      (try parent.insert(entityNamed: "Author"), try parent.insert(entityNamed: "Book"))
    }
    #expect(theirs.id < 0)
    try set("author", of: theirs, to: .object(author.reference))
    try set("title", of: theirs, to: .text("New"))
    let mine = try counterpart(theirs, in: child), holder = try counterpart(author, in: child)
    #expect(mine.uriText() == theirs.uriText())
    let controller = try ResultsController(
      context: child, request: FetchRequest(entityName: "Book"), sectionKeyPath: nil, queuesChanges: false)
    try controller.performFetch()
    let made = try library.store.withoutReservedIDs { () throws(Failure) in try child.insert(entityNamed: "Book") }
    try set("author", of: made, to: .object(holder.reference))
    try child.save()
    try parent.save()
    #expect(mine.id == theirs.id && mine.id > 0 && made.id > 0)
    #expect(try value("author", of: mine) == "\(author.id)")
    #expect(try holder.objects(of: library.relationship("Person", "books")).map(\.id) == [mine.id, made.id].sorted())
    #expect(controller.ids(in: 0..<2) == [mine.id, made.id].sorted())
  }

  @Test("Batch requests are refused with the way to run them")
  func batchRequests() throws {
    let failure = try #require(throws: Failure.self) {
      _ = try child.delete(FetchRequest(entityName: "Book"), merges: true)
    }
    #expect(failure.kind == .unsupported && failure.description.contains("without"))
  }

  @Test("An object of one level is refused in another")
  func strangers() throws {
    let theirs = try book("Theirs", in: parent), author = try child.insert(entityNamed: "Author")
    #expect(throws: Failure.self) { try child.delete(theirs) }
    #expect(throws: Failure.self) { try author.set([theirs], for: library.relationship("Person", "books")) }
  }
}
