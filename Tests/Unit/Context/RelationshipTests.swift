import Testing

@testable import QuireCore

/// Random histories of relationships, checked against `RelationshipGraph` after each step, and against a second
/// context and plain SQL after each save.
@Suite("Relationships: random histories")
struct RelationshipHistoryTests {
  private final class History {
    typealias Link = RelationshipGraph.Link
    let library: LibraryFixture
    let context: Context
    var dice: Dice
    var graph = RelationshipGraph()
    var saved = RelationshipGraph()
    private var handles: [Int: ManagedObject] = [:]
    private var ids: [Int: Int64] = [:]
    private var lastObject = 0

    init(seed: UInt64) throws {
      library = try LibraryFixture()
      context = Context(store: library.store)
      dice = Dice(seed: seed)
      for entity in ["Person", "Author", "Company", "Shelf", "Passport", "Label", "Node", "Tag"] { try insert(entity) }
      for _ in 0..<8 { try insert(dice.pick(["Book", "Book", "Person", "Label", "Node", "Tag", "Shelf"]) ?? "Book") }
    }

    func object(_ number: Int, in other: Context? = nil) throws -> ManagedObject {
      if other == nil, let handle = handles[number] { return handle }
      let id = try #require(other == nil ? ids[number] : handles[number]?.id ?? ids[number])
      let entity = try #require((graph.entities[number] ?? saved.entities[number]))
      let object = try (other ?? context).existingObject(entityNamed: entity, id: id)
      if other == nil { handles[number] = object }
      return object
    }

    private func insert(_ entity: String) throws {
      lastObject += 1
      handles[lastObject] = try context.insert(entityNamed: entity)
      graph.insert(lastObject, entity)
    }

    func holdEverything() throws { for number in graph.objects { _ = try object(number) } }

    /// Lets go of all objects: what is not pending is read anew when next asked for.
    private func forget() {
      for (number, handle) in handles { ids[number] = handle.id }
      handles = [:]
    }

    func step() throws {
      switch dice.roll(24) {
      case 0:
        try insert(dice.pick(["Book", "Person", "Author", "Label", "Node", "Tag", "Shelf", "Passport"]) ?? "Book")
      case 1: try delete()
      case 2: try context.process()
      case 3: try save()
      case 4: try rollback()
      case 5 where dice.chance(1, of: 3):
        try holdEverything()
        try context.obtainPermanentIDs()
      case 6: forget()
      default: try relate()
      }
    }

    private func delete() throws {
      guard graph.objects.count > 12, let number = dice.pick(graph.objects) else { return }
      // What becomes of a reference that no rule can clear is for a test of its own.
      let publisher = try #require(Link.named("Book", "publisher"))
      if graph.isHeldWithoutInverse(number, publisher) { return }
      try context.delete(object(number))
      graph.delete(number)
    }

    private func relate() throws {
      guard let link = dice.pick(Link.all), let number = dice.pick(graph.objects(of: link.owner)) else { return }
      var others = graph.objects(of: link.destination)
      // Without an inverse nothing keeps two owners apart, and a column holds only one.
      if link.isToMany, link.inverse.isEmpty {
        others = others.filter { !graph.isHeldWithoutInverse($0, link) || graph.members(number, link).contains($0) }
      }
      let relationship = try library.relationship(link.owner, link.name)
      let owner = try object(number)
      if !link.isToMany {
        guard dice.chance(3, of: 4), let other = dice.pick(others) else {
          try owner.set(.nil, for: relationship)
          return graph.set(number, link, to: [])
        }
        try owner.set(.object(object(other).reference), for: relationship)
        return graph.link(number, link, to: other)
      }
      switch dice.roll(5) {
      case 0:
        let list = Array(dice.shuffled(others).prefix(dice.roll(5)))
        try owner.set(list.map { try object($0) }, for: relationship)
        graph.set(number, link, to: list)
      case 1, 2:
        let members = graph.members(number, link)
        guard let other = dice.chance(3, of: 4) ? dice.pick(members) : dice.pick(others) else { return }
        try owner.remove(object(other), from: relationship)
        graph.unlink(number, link, from: other)
      default:
        guard let other = dice.pick(others) else { return }
        try owner.add(object(other), to: relationship)
        graph.link(number, link, to: other)
      }
    }

    func save() throws {
      try holdEverything()
      try context.save()
      saved = graph
      try #require(!context.hasChanges)
      try check(Context(store: library.store))
      try checkColumns()
    }

    private func rollback() throws {
      try holdEverything()
      try context.rollback()
      graph = saved
      for number in handles.keys where graph.entities[number] == nil { handles[number] = nil }
      try #require(!context.hasChanges)
    }

    /// All relationships, in this context or as another sees them.
    func check(_ other: Context? = nil) throws {
      for number in graph.objects { for link in graph.links(of: number) { try check(number, link, other) } }
    }

    func checkOne() throws {
      guard let number = dice.pick(graph.objects), let link = dice.pick(graph.links(of: number)) else { return }
      try check(number, link, nil)
    }

    private func check(_ number: Int, _ link: Link, _ other: Context?) throws {
      let relationship = try library.relationship(link.owner, link.name)
      let owner = try object(number, in: other)
      let found =
        link.isToMany
        ? try owner.objects(of: relationship) : try owner.object(of: relationship).map { [$0] } ?? []
      let wanted = try graph.members(number, link).map { try object($0, in: other) }
      let isSame =
        link.isOrdered
        ? found.elementsEqual(wanted, by: ===)
        : found.elementsEqual(wanted.sorted { $0.isBefore($1) }, by: ===)
      try #require(
        isSame,
        """
        \(link.name) of \(owner.summary): \(found.map(\.id)), not \(wanted.map(\.id)), \
        \(other == nil ? "" : "elsewhere")
        """)
    }

    private func checkColumns() throws {
      for (table, column, owner, name) in [
        ("ZBOOK", "ZAUTHOR", "Book", "author"), ("ZBOOK", "ZSHELF", "Book", "shelf"),
        ("ZBOOK", "ZPUBLISHER", "Book", "publisher"), ("ZPARTY", "ZPASSPORT", "Person", "passport"),
        ("ZPASSPORT", "ZHOLDER", "Passport", "holder"), ("ZNODE", "ZPARENT", "Node", "parent"),
      ] {
        let link = try #require(Link.named(owner, name))
        let wanted = try graph.objects(of: owner).map { number in
          let other = try graph.members(number, link).first.map { "\(try object($0).id)" } ?? "-"
          return "\(try object(number).id)|\(other)"
        }
        let entity = try library.entity(owner)
        let rows = try library.sql(
          "SELECT Z_PK, \(column) FROM \(table) WHERE Z_ENT BETWEEN \(entity.number) AND \(entity.lastNumber)")
        try #require(rows.sorted() == wanted.sorted(), "\(table).\(column)")
      }
    }
  }

  @Test("Both ends of every relationship follow every change, saves, and come back", arguments: Dice.seeds(3))
  func histories(seed: UInt64) throws {
    print("relationship history: seed \(seed)")
    let history = try History(seed: seed)
    for step in 0..<1000 {
      do {
        try history.step()
        if history.dice.chance(1, of: 3) { try history.check() } else { try history.checkOne() }
        if history.dice.chance(1, of: 4), history.graph == history.saved {
          try history.context.process()
          try #require(!history.context.hasChanges, "all is as saved")
        }
      } catch {
        Issue.record("step \(step) of seed \(seed): \(error)")
        return
      }
    }
    try history.save()
    try history.holdEverything()
    try history.check()
  }
}

extension RelationshipGraph.Link {
  static var all: [Self] { RelationshipGraph.links }
  static func named(_ owner: String, _ name: String) -> Self? { all.first { $0.owner == owner && $0.name == name } }
}
