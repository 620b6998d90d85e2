import Testing

@testable import QuireCore

/// Random histories of saves, batch requests and writes of a stranger: after each, the derived columns are what plain
/// dictionaries make of the others, and objects in two contexts show them.
@Suite("Derived attributes: random histories")
struct DerivedHistoryTests {
  private static let texts = ["Élan", "straße", "plain", "Ab c", "ÇA", "", "zebra", "ﬁn"]

  private final class Player {
    let fixture: DerivedFixture
    var dice: Dice
    let follower: Context
    var held: [ManagedObject] = []

    init(_ seed: UInt64) throws {
      fixture = try DerivedFixture()
      dice = Dice(seed: seed)
      follower = Context(store: fixture.store)
      follower.mergesAutomatically = true
    }

    var context: Context { fixture.context }

    func live(_ entity: String) throws -> [ManagedObject] {
      let list = try context.fetch(FetchRequest(entityName: entity))
      var objects: [ManagedObject] = []
      for index in 0..<list.count { objects.append(try list.object(at: index)) }
      return objects
    }

    func text() -> Value { dice.chance(1, of: 8) ? .nil : .text(dice.pick(texts) ?? "") }
    func price() -> Value { dice.chance(1, of: 6) ? .nil : .double(Double(dice.roll(40)) / 4) }

    func set(_ object: ManagedObject, _ key: String, _ value: Value) throws {
      try object.set(value, for: object.entity.property(named: key))
    }

    func relate(_ object: ManagedObject, _ key: String, _ other: ManagedObject?) throws {
      try set(object, key, other.map { .object($0.reference) } ?? .nil)
    }

    func change() throws {
      switch dice.roll(12) {
      case 0, 1:
        let book = try context.insert(entityNamed: dice.chance(1, of: 2) ? "Book" : "Novel")
        try set(book, "title", text())
        try set(book, "price", price())
        try set(book, "pages", .integer(Int64(dice.roll(500))))
        try set(book, "exact", .decimal(try #require(Decimal(Double(dice.roll(30)) / 10))))
        if book.entity.name == "Novel" { try set(book, "genre", text()) }
        try relate(book, "author", dice.pick(try live("Author")))
      case 2:
        let author = try context.insert(entityNamed: "Author")
        try set(author, "name", text())
        try relate(author, "publisher", dice.pick(try live("Publisher")))
      case 3:
        let isPublisher = dice.chance(1, of: 2)
        let object = try context.insert(entityNamed: isPublisher ? "Publisher" : "Shelf")
        try set(object, isPublisher ? "city" : "place", text())
      case 4: try set(try context.insert(entityNamed: "Tag"), "word", text())
      case 5: try set(try context.insert(entityNamed: "Person"), "name", text())
      case 6:
        guard let book = dice.pick(try live("Book")) else { return }
        try set(book, "title", text())
        if dice.chance(1, of: 2) { try set(book, "price", price()) }
      case 7:
        guard let book = dice.pick(try live("Book")) else { return }
        try relate(book, "author", dice.chance(1, of: 4) ? nil : dice.pick(try live("Author")))
      case 8:
        if let author = dice.pick(try live("Author")) {
          try set(author, "name", text())
          try relate(author, "publisher", dice.pick(try live("Publisher")))
        }
        if let publisher = dice.pick(try live("Publisher")) { try set(publisher, "city", text()) }
      case 9:
        for (owner, key, entity) in [
          ("Book", "tags", "Tag"), ("Person", "friends", "Person"), ("Shelf", "loose", "Tag"),
        ] {
          guard let object = dice.pick(try live(owner)), let other = dice.pick(try live(entity)) else { continue }
          let relationship = try #require(try object.entity.property(named: key) as? Relationship)
          if dice.chance(1, of: 3), let member = dice.pick(try object.objects(of: relationship)) {
            try object.remove(member, from: relationship)
          } else {
            try object.add(other, to: relationship)
          }
        }
      case 10:
        if let doomed = dice.pick(
          try live(dice.pick(["Book", "Tag", "Person", "Author", "Publisher", "Shelf"]) ?? "Book"))
        {
          try context.delete(doomed)
        }
      default:
        if context.undoManager?.canUndo == true { try context.undo() }
      }
    }

    func batch() throws {
      let request = FetchRequest(entityName: "Book")
      request.predicate = try Predicate.parse(Text("price < \(dice.roll(10))"), with: [])
      switch dice.roll(5) {
      case 0: _ = try context.update(request, [("title", .value(text()))], merges: true)
      case 1: _ = try context.update(request, [("price", .value(price()))], merges: true)
      case 2:
        let author = dice.pick(try live("Author").filter { $0.state == .saved })
        _ = try context.update(
          request, [("author", .value(author.map { .object($0.reference) } ?? .nil))], merges: true)
      case 3: _ = try context.delete(request, merges: true)
      default:
        let titles = [text(), text()]
        _ = try context.insertIntoStore(
          entityNamed: "Novel", keys: ["title", "genre"], rowCount: 2, merges: true
        ) { _, row in titles[row] }
      }
    }

    /// A plain program keeps neither versions nor the rules of deletions.
    func strange() throws {
      let stranger = fixture.stranger
      let author = "(SELECT Z_PK FROM ZAUTHOR ORDER BY Z_PK LIMIT 1 OFFSET \(dice.roll(3)))"
      let book = "(SELECT Z_PK FROM ZBOOK ORDER BY Z_PK LIMIT 1 OFFSET \(dice.roll(4)))"
      switch dice.roll(6) {
      case 0: try stranger.run("UPDATE ZBOOK SET ZTITLE = ? WHERE Z_PK = \(book)", [text()])
      case 1: try stranger.run("UPDATE ZBOOK SET ZPRICE = ifnull(ZPRICE, 0) + 1, ZAUTHOR = \(author)")
      case 2: try stranger.run("UPDATE ZAUTHOR SET ZNAME = ? WHERE Z_PK = \(author)", [text()])
      case 3:
        try stranger.run(
          "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPRICE, ZAUTHOR) SELECT max(Z_PK) + 1000, "
            + "\(try fixture.store.model.entity(named: "Novel").number), 1, ?, 2.5, \(author) FROM ZBOOK", [text()])
      case 4:
        let tags = try #require(try fixture.store.model.entity(named: "Book").property(named: "tags") as? Relationship)
        let join = fixture.store.schema.joinTable(of: tags)
        try stranger.run("DELETE FROM \(join.name) WHERE \(join.ownerColumn) = \(book)")
      default: try stranger.run("DELETE FROM ZPERSON WHERE Z_PK NOT IN (SELECT min(Z_PK) FROM ZPERSON)")
      }
    }
  }

  @Test(
    "Derived columns are what plain dictionaries make of the others",
    arguments: Dice.seeds(4) + [12_360_129_019_649_292_722])
  func histories(seed: UInt64) throws {
    print("derived history: seed \(seed)")
    let player = try Player(seed)
    if seed % 2 == 0 { try player.context.enableUndo(levels: 0) }
    var isOwed = false
    for round in 0..<60 {
      let moment = "round \(round) of seed \(seed)"
      for _ in 0..<player.dice.roll(6) { try player.change() }
      // The next save of ours, whatever it writes, sees to what takes more than SQLite has, if it writes anything: what
      // was inserted before may have been undone or deleted.
      if isOwed { _ = try player.context.insert(entityNamed: "Shelf") }
      isOwed = false
      try player.context.save()
      try player.fixture.check(moment)
      try player.fixture.check(player.context, moment)
      // A fetch advances nothing, also where the context merges automatically.
      try player.follower.mergeIfAutomatic()
      try player.fixture.check(player.follower, "\(moment), follower")
      // Objects that stay read, so that they have to be told.
      let list = try player.follower.fetch(FetchRequest(entityName: "Author"))
      player.held = try (0..<list.count).map { try list.object(at: $0) }
      if player.dice.chance(1, of: 3) {
        try player.batch()
        try player.fixture.check("\(moment), after a batch request")
        try player.fixture.check(player.context, "\(moment), after a batch request")
        try player.follower.mergeIfAutomatic()
        try player.fixture.check(player.follower, "\(moment), follower after a batch request")
      }
      if player.dice.chance(1, of: 4) {
        player.context.undoManager?.removeAllActions()
        try player.strange()
        try player.fixture.check("\(moment), after a stranger", byStranger: true)
        try player.context.reset()
        try player.follower.reset()
        isOwed = true
      }
    }
  }
}
