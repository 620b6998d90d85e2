/// The declared type of a key, as far as predicates need it.
enum ColumnType: Sendable, Equatable {
  case integer, boolean, double, float, decimal, text, date, data, uuid, uri
  /// A to-one relationship, or the object itself, in the tree of that root entity.
  case object(root: Int)

  var comparisonClass: Value.ComparisonClass {
    switch self {
    case .integer, .boolean, .double, .float, .decimal: .number
    case .text, .uri: .text
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .object: .object
    }
  }
}

extension ColumnType {
  /// The type that a predicate compares where it names `property`.
  init(comparing property: Property) throws(Failure) {
    if let relationship = property as? Relationship {
      self = .object(root: relationship.destination.rootNumber)
      return
    }
    switch (property as? Attribute)?.type ?? .undefined {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .double: self = .double
    case .float: self = .float
    case .decimal: self = .decimal
    case .string: self = .text
    case .uri: self = .uri
    case .date: self = .date
    case .binary, .transformable: self = .data
    case .uuid: self = .uuid
    case .undefined, .composite:
      throw Failure(
        .unsupported,
        "'\(property.qualifiedName)' is of a type that predicates do not compare. "
          + "Fetch the objects and look at its values.", about: .property(property))
    }
  }
}

extension Entity {
  /// What a key path is declared to hold; nil where it leads through a to-many relationship or is calculated from it.
  func columnType(atKeyPath keys: [Key]) throws(Failure) -> ColumnType? {
    var current = self
    var isSingle = true
    var last: Property?
    for key in keys {
      // What follows an attribute or an operator is known when there are values.
      if key.isOperator || last is Attribute { return nil }
      if key.isSelf(of: current) { continue }
      let property = try key.property(of: current)
      if let relationship = property as? Relationship {
        if relationship.isToMany { isSingle = false }
        current = relationship.destination
      }
      last = property
    }
    guard let last else { return .object(root: rootNumber) }
    return isSingle ? try ColumnType(comparing: last) : nil
  }
}
