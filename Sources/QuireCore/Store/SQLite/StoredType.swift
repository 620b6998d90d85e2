/// The type of a column's contents, and thus of the values made of them.
enum StoredType: Sendable {
  case attribute(AttributeType)
  /// Data behind a byte that says where it is: in the row, or in a file beside the store.
  case external(ExternalColumn)
  /// The primary key of a row in the table of that root entity.
  case object(root: Int)

  /// What the column of a property holds.
  init(of property: Property) {
    if let column = property.externalColumn { self = .external(column) } else { self.init(ofValuesOf: property) }
  }

  /// What SQL makes of it that is compiled for the values themselves.
  init(ofValuesOf property: Property) {
    switch property {
    case let attribute as Attribute: self = .attribute(attribute.type)
    case let relationship as Relationship: self = .object(root: relationship.destination.rootNumber)
    default: self = .attribute(.undefined)
    }
  }

  /// The same in a statement that has the key of the row in that column.
  func keyed(at key: Int) -> StoredType {
    guard case .external(var column) = self else { return self }
    column.key = Int16(truncatingIfNeeded: key)
    return .external(column)
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
