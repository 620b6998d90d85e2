@testable import QuireCore

/// People with books, friends, passports, shelves and tags, changed at random.
struct PeopleAndBooks {
  let seed: UInt64
  let library: LibraryFixture
  let context: Context
  private var dice: Dice
  private var objects: [String: [ManagedObject]] = [:]

  init(seed: UInt64) throws {
    self.seed = seed
    library = try LibraryFixture()
    context = Context(store: library.store)
    dice = Dice(seed: seed)
    for entity in ["Person", "Author", "Book", "Book", "Tag", "Shelf", "Label", "Passport"] {
      for _ in 0..<3 { try insert(entity) }
    }
  }

  private mutating func insert(_ entity: String) throws {
    objects[entity == "Author" ? "Person" : entity, default: []].append(try context.insert(entityNamed: entity))
  }

  private func live(_ entity: String) -> [ManagedObject] { (objects[entity] ?? []).filter(\.isLive) }

  mutating func change() throws {
    let entities = ["Person", "Book", "Book", "Tag", "Shelf", "Label", "Passport"]
    guard let entity = dice.pick(entities) else { return }
    if dice.chance(1, of: 12) { try insert(entity == "Person" && dice.chance(1, of: 2) ? "Author" : entity) }
    guard let object = dice.pick(live(entity)) else { return }
    if dice.chance(1, of: 15) {
      try context.delete(object)
      return
    }
    guard let property = dice.pick(object.entity.properties.filter { !$0.isTransient }) else { return }
    if let relationship = property as? Relationship {
      let kind = relationship.destination.name
      let targets = live(kind)
      if relationship.isToMany {
        try object.set(targets.filter { _ in dice.chance(1, of: 3) }, for: relationship)
      } else {
        let target = dice.chance(1, of: 4) ? nil : dice.pick(targets)
        try object.set(target.map { .object($0.reference) } ?? .nil, for: relationship)
      }
      return
    }
    let choices: [Value]
    switch property.name {
    case "name": choices = [.nil, .text("Ann"), .text("Bob"), .text("a"), .text("\u{e9}l"), .text("ann")]
    case "code": choices = [.nil, .text("x"), .text("Ann"), .text("1")]
    case "age": choices = [.nil, .integer(29), .integer(30), .integer(31), .integer(-5)]
    case "price":
      choices = [.nil, .double(0), .double(-0.0), .double(1), .double(2.5), .double(-3), .double(.infinity)]
    case "title": choices = [.nil, .text(""), .text("a"), .text("b"), .text("A"), .text("Ann")]
    case "word": choices = [.nil, .text("x"), .text("y"), .text("a")]
    case "number": choices = [.nil, .text("P1"), .text("P2")]
    default: choices = [.nil, .text("l"), .text("s")]
    }
    try object.set(dice.pick(choices) ?? .nil, for: property)
  }
}
