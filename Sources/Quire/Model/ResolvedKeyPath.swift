/// A key path through to-one relationships, resolved against an entity: what sorts, sections and pages are made of.
struct ResolvedKeyPath {
  let names: [String]
  let relationships: [Relationship]
  let last: Property

  /// Splits at dots and resolves; the last key may be an attribute or a to-one relationship.
  init(_ text: String, of entity: Entity, for purpose: String) throws(Failure) {
    try self.init(text.split(separator: ".", omittingEmptySubsequences: false).map(String.init), of: entity, for: purpose)
  }

  init(_ names: [String], of entity: Entity, for purpose: String) throws(Failure) {
    var current = entity
    var relationships: [Relationship] = []
    var last: Property?
    for (place, name) in names.enumerated() {
      let property = try current.property(named: name)
      if let relationship = property as? Relationship {
        if relationship.isToMany {
          throw Failure(
            .invalidArgument, "\(purpose) cannot go through '\(property.qualifiedName)': it is a to-many relationship.")
        }
        if place < names.count - 1 {
          relationships.append(relationship)
          current = relationship.destination
        }
      } else if place < names.count - 1 {
        throw Failure(
          .invalidArgument, "\(purpose) '\(names.joined(separator: "."))' goes on behind '\(property.qualifiedName)', which is an attribute.")
      }
      last = property
    }
    guard let last else { throw Failure(.invalidArgument, "\(purpose) is empty; name at least one key.") }
    self.names = names
    self.relationships = relationships
    self.last = last
  }

  var text: String { names.joined(separator: ".") }
}
