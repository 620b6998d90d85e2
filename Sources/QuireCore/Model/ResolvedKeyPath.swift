/// A key path through to-one relationships, resolved against an entity: what predicates, sorts, sections and pages are
/// made of.
struct ResolvedKeyPath {
  /// The use of a path.
  enum Purpose {
    /// In a predicate that the store answers.
    case predicate
    case sort, fetchedProperty, group, column

    /// Its name in failures.
    var name: String {
      switch self {
      case .predicate: "Key path"
      case .sort: "Sort key"
      case .fetchedProperty: "Property to fetch"
      case .group: "Key to group by"
      case .column: "Column"
      }
    }

    fileprivate var needsStore: Bool { self != .column }
  }

  /// More keys than any path has that was written by hand, and few enough for SQLite to join and nest.
  static let mostKeys = 128

  let names: [String]
  let relationships: [Relationship]
  let last: Property

  /// The last key may be an attribute or a to-one relationship.
  init(_ names: [String], of entity: Entity, for purpose: Purpose) throws(Failure) {
    var path: String { "\(purpose.name) '\(names.joined(separator: "."))'" }
    if names.count > ResolvedKeyPath.mostKeys {
      throw Failure(
        .invalidArgument, "\(path) has \(names.count) keys; a key path has at most \(ResolvedKeyPath.mostKeys).")
    }
    var current = entity
    var relationships: [Relationship] = []
    var last: Property?
    for (place, name) in names.enumerated() {
      let property = try current.property(named: name)
      if property.isTransient, purpose.needsStore {
        throw Failure(
          .invalidArgument,
          "\(path) uses '\(property.qualifiedName)', which is transient: the store does not have it. "
            + "Use a stored property.", about: .property(property))
      }
      if let relationship = property as? Relationship {
        if relationship.isToMany {
          // Of the many, a predicate will be able to ask for some or all; nothing else can have use of them.
          throw Failure(
            purpose == .predicate ? .unsupported : .invalidArgument,
            "\(path) passes through '\(property.qualifiedName)', which is to-many and has no single value. "
              + "Use a path of to-one relationships.", about: .property(property))
        }
        if place < names.count - 1 {
          relationships.append(relationship)
          current = relationship.destination
        }
      } else if place < names.count - 1 {
        throw Failure(
          .invalidArgument,
          "\(path) goes on after '\(property.qualifiedName)', which is an attribute. "
            + "End it there, or step through a relationship.", about: .property(property))
      }
      last = property
    }
    guard let last else {
      throw Failure(.invalidArgument, "\(purpose.name) is empty; name at least one key of '\(entity.name)'.")
    }
    self.names = names
    self.relationships = relationships
    self.last = last
  }

  /// The path of one key that a property is.
  init(_ property: Property) {
    names = [property.name]
    relationships = []
    last = property
  }

  var text: String { names.joined(separator: ".") }
  var holdsText: Bool {
    guard let attribute = last as? Attribute else { return false }
    return attribute.type == .string || attribute.type == .uri
  }
}
