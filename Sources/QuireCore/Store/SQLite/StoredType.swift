/// The type of a column's contents, and thus of the values made of them.
enum StoredType: Sendable {
  case attribute(AttributeType)
  /// The primary key of a row in the table of that root entity.
  case object(root: Int)

  init(of property: Property) {
    switch property {
    case let attribute as Attribute: self = .attribute(attribute.type)
    case let relationship as Relationship: self = .object(root: relationship.destination.rootNumber)
    default: self = .attribute(.undefined)
    }
  }
}

extension ColumnType {
  /// The type that a predicate compares where it names `property`.
  init(comparing property: Property) throws(Failure) {
    switch StoredType(of: property) {
    case .object(let root): self = .object(root: root)
    case .attribute(let type):
      switch type {
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
      case .undefined:
        throw Failure(
          .unsupported,
          "'\(property.qualifiedName)' is of a type that predicates do not compare. "
            + "Fetch the objects and look at its values.", about: .property(property))
      }
    }
  }
}

extension Statement {
  /// A column as a value; `previous`, which a row before had, is given again where nothing differs and a copy would
  /// take memory.
  func value(at column: Int, as type: StoredType, after previous: Value) throws(Failure) -> Value {
    if case .text(let text) = previous, case .attribute(.string) = type, holds(text, at: column) { return previous }
    return try value(at: column, as: type)
  }
}
