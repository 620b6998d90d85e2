@testable import QuireCore

/// Short ways to write a model down in a test.
struct ModelSketch {
  let model = Model()

  func entity(
    _ name: String, parent: String = "", isAbstract: Bool = false, modifier: String = "",
    _ attributes: KeyValuePairs<String, AttributeType> = [:]
  ) throws {
    try model.addEntity(
      named: name, parent: parent, isAbstract: isAbstract, versionHashModifier: Text(modifier))
    for (attribute, type) in attributes {
      try model.addAttribute(named: attribute, to: name, type: type, isOptional: true)
    }
  }

  /// `toMany` relates "Author.books" to "Book.author", or to the entity "Book" alone when there is no inverse.
  func toMany(_ path: String, _ target: String, isOrdered: Bool = false) throws {
    try relate(path, target, isToMany: true, isOrdered: isOrdered)
  }

  func toOne(_ path: String, _ target: String) throws {
    try relate(path, target, isToMany: false, isOrdered: false)
  }

  private func relate(_ path: String, _ target: String, isToMany: Bool, isOrdered: Bool) throws {
    let source = path.split(separator: ".").map(String.init)
    let destination = target.split(separator: ".").map(String.init)
    try model.addRelationship(
      {
        Relationship(
          name: source[1], entity: $0, destinationName: destination[0],
          inverseName: destination.count > 1 ? destination[1] : "", isToMany: isToMany,
          isOrdered: isOrdered, isOptional: true)
      }, named: source[1], to: source[0])
  }

  func frozen() throws -> Model {
    try model.freeze()
    return model
  }
}
