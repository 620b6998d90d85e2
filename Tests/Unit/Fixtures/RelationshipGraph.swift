@testable import QuireCore

/// What the relationships of some objects must be, kept in plain dictionaries: objects are numbers, and every change
/// is carried out on both ends.
struct RelationshipGraph: Equatable {
  struct Link: Hashable {
    let owner: String
    let name: String
    let destination: String
    var inverse = ""
    var isToMany = false
    var isOrdered = false
  }

  struct Key: Hashable {
    let object: Int
    let name: String
  }

  static let links = [
    Link(owner: "Book", name: "author", destination: "Person", inverse: "books"),
    Link(owner: "Person", name: "books", destination: "Book", inverse: "author", isToMany: true),
    Link(owner: "Book", name: "shelf", destination: "Shelf", inverse: "books"),
    Link(owner: "Shelf", name: "books", destination: "Book", inverse: "shelf", isToMany: true, isOrdered: true),
    Link(owner: "Book", name: "tags", destination: "Tag", inverse: "books", isToMany: true, isOrdered: true),
    Link(owner: "Tag", name: "books", destination: "Book", inverse: "tags", isToMany: true),
    Link(owner: "Book", name: "publisher", destination: "Company"),
    Link(owner: "Person", name: "passport", destination: "Passport", inverse: "holder"),
    Link(owner: "Passport", name: "holder", destination: "Person", inverse: "passport"),
    Link(owner: "Person", name: "friends", destination: "Person", inverse: "friends", isToMany: true),
    Link(owner: "Shelf", name: "labels", destination: "Label", isToMany: true),
    Link(owner: "Shelf", name: "pins", destination: "Label", isToMany: true, isOrdered: true),
    Link(owner: "Node", name: "parent", destination: "Node", inverse: "children"),
    Link(owner: "Node", name: "children", destination: "Node", inverse: "parent", isToMany: true),
  ]

  private(set) var entities: [Int: String] = [:]
  private(set) var members: [Key: [Int]] = [:]

  static func == (left: RelationshipGraph, right: RelationshipGraph) -> Bool {
    left.entities == right.entities
      && left.entities.keys.allSatisfy { object in
        left.links(of: object).allSatisfy { link in
          let one = left.members(object, link), other = right.members(object, link)
          return link.isOrdered ? one == other : one.sorted() == other.sorted()
        }
      }
  }

  var objects: [Int] { entities.keys.sorted() }

  static func isKind(_ entity: String, of other: String) -> Bool {
    entity == other || (entity == "Author" && other == "Person")
  }

  func objects(of entity: String) -> [Int] { objects.filter { Self.isKind(entities[$0] ?? "", of: entity) } }

  func links(of object: Int) -> [Link] { Self.links.filter { Self.isKind(entities[object] ?? "", of: $0.owner) } }

  func members(_ object: Int, _ link: Link) -> [Int] { members[Key(object: object, name: link.name)] ?? [] }

  /// Whether an object that does not know it is referred to by another.
  func isHeldWithoutInverse(_ object: Int, _ link: Link) -> Bool {
    objects(of: link.owner).contains { members($0, link).contains(object) }
  }

  mutating func insert(_ object: Int, _ entity: String) { entities[object] = entity }

  mutating func delete(_ object: Int) {
    entities[object] = nil
    for key in members.keys {
      if key.object == object { members[key] = nil } else { members[key]?.removeAll { $0 == object } }
    }
  }

  mutating func link(_ object: Int, _ link: Link, to other: Int) {
    if members(object, link).contains(other) { return }
    if !link.isToMany { for old in members(object, link) { unlink(object, link, from: old) } }
    if let inverse = inverse(of: link) {
      if !inverse.isToMany { for old in members(other, inverse) { unlink(old, link, from: other) } }
      append(object, to: Key(object: other, name: inverse.name))
    }
    append(other, to: Key(object: object, name: link.name))
  }

  mutating func unlink(_ object: Int, _ link: Link, from other: Int) {
    members[Key(object: object, name: link.name)]?.removeAll { $0 == other }
    if let inverse = inverse(of: link) {
      members[Key(object: other, name: inverse.name)]?.removeAll { $0 == object }
    }
  }

  mutating func set(_ object: Int, _ link: Link, to others: [Int]) {
    for old in members(object, link) where !others.contains(old) { unlink(object, link, from: old) }
    for other in others { self.link(object, link, to: other) }
    if link.isOrdered { members[Key(object: object, name: link.name)] = others }
  }

  private func inverse(of link: Link) -> Link? {
    Self.links.first { $0.name == link.inverse && $0.inverse == link.name && $0.owner == link.destination }
  }

  private mutating func append(_ other: Int, to key: Key) {
    if members[key]?.contains(other) != true { members[key, default: []].append(other) }
  }
}
