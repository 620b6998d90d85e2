/// The type of a column's contents, and thus of the values made of them.
enum StoredType: Sendable {
  case attribute(AttributeType)
  /// The same behind a byte that says where the value is: in the row, or in a file beside the store.
  case external(AttributeType)
  /// The primary key of a row in the table of that root entity.
  case object(root: Int)

  init(of property: Property) {
    switch property {
    case let attribute as Attribute:
      self = attribute.traits.allowsExternalStorage ? .external(attribute.type) : .attribute(attribute.type)
    case let relationship as Relationship: self = .object(root: relationship.destination.rootNumber)
    default: self = .attribute(.undefined)
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
