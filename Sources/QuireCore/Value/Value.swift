/// One value of an attribute, a to-one relationship or an expression. 16 bytes.
///
/// Dates are seconds since 2001-01-01 UTC as in the file; the ABI converts from and to 1970.
enum Value: Sendable {
  case `nil`
  case integer(Int64)
  case boolean(Bool)
  case double(Double)
  case float(Float)
  case decimal(Decimal)
  case text(Text)
  case date(Double)
  case data(Bytes)
  /// Data of a stored row that was not read with it. Values of objects come to callers through `inPlace`.
  case external(ExternalValue)
  /// Sixteen bytes in the order of RFC 4122.
  case uuid(Bytes)
  case uri(Text)
  case object(ObjectReferenceBox)
  case list(ValueList)

  var isNil: Bool { if case .nil = self { true } else { false } }
}

/// Boxes so that `Value` stays at 16 bytes; lists and references are rare beside numbers and text.
final class ValueList: Sendable {
  let values: [Value]
  init(_ values: [Value]) { self.values = values }
}

extension Value {
  static func object(_ reference: ObjectReference) -> Value { .object(ObjectReferenceBox(reference)) }
  static func list(_ values: [Value]) -> Value { .list(ValueList(values)) }
  static func text(_ string: String) -> Value { .text(Text(string)) }

  /// Seconds from the epoch of the ABI (1970) to the epoch of the file (2001).
  static let secondsFrom1970To2001 = 978_307_200.0

  /// The name of this kind of value in messages.
  var kindName: String {
    switch self {
    case .nil: "nothing"
    case .integer: "an integer"
    case .boolean: "a boolean"
    case .double: "a double"
    case .float: "a float"
    case .decimal: "a decimal"
    case .text: "text"
    case .date: "a date"
    case .data, .external: "data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .object: "an object"
    case .list: "a list"
    }
  }
}
