/// One key of a key path: its name, and the property that the name stands for once the path is bound to an entity.
struct Key: Sendable {
  let name: String
  /// nil before binding, of operators and SELF, and where the objects on the way have no one property of that name.
  let property: Property?

  init(_ name: String, _ property: Property? = nil) {
    self.name = name
    self.property = property
  }

  /// Whether it is a collection operator, such as `@count`.
  var isOperator: Bool { name.utf8.first == UInt8(ascii: "@") }
  /// Whether it stands for what it is asked of, if that has no property of the name.
  var isSelf: Bool { property == nil && name == "self" }

  /// Whether it stands for an object of `entity` itself. A file may have a property of the name.
  func isSelf(of entity: Entity) -> Bool { isSelf && entity.propertiesByName[name] == nil }

  /// The property of `entity`. The name is looked up where the key is not bound to a property that `entity` has.
  func property(of entity: Entity) throws(Failure) -> Property {
    if let property, entity.declares(property) { return property }
    return try entity.property(named: name)
  }
}

extension Key: Equatable {
  /// What is bound is the same as what was written.
  static func == (left: Key, right: Key) -> Bool { left.name == right.name }
}

extension Key: ExpressibleByStringLiteral {
  init(stringLiteral name: String) { self.init(name) }
}

extension [Key] {
  init(named names: [String]) { self = names.map { Key($0) } }

  var names: [String] { map(\.name) }
}
