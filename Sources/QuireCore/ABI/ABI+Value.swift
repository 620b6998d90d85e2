import CQuire
import Glibc

/// Lists within lists deeper than this are refused.
private let deepestList = 8

/// A value that a caller passes in; text and data are copied.
func value(
  _ source: quire_value, _ name: InputName, in context: Context? = nil, depth: Int = 0
) throws(Failure) -> Value {
  switch quire_value_kind(rawValue: source.kind) {
  case QUIRE_VALUE_NIL: return .nil
  case QUIRE_VALUE_INTEGER: return .integer(source.as.integer)
  case QUIRE_VALUE_BOOLEAN:
    // Any byte but zero is true; a Bool of another bit pattern must not come to be.
    return .boolean(withUnsafeBytes(of: source.as) { $0[0] != 0 })
  case QUIRE_VALUE_DOUBLE: return .double(source.as.real)
  case QUIRE_VALUE_FLOAT: return .float(Float(source.as.real))
  case QUIRE_VALUE_DATE: return .date(Epoch.since2001(source.as.real))
  case QUIRE_VALUE_DECIMAL:
    let digits = try textOf(source, name)
    switch Decimal.reading(digits.bytes.buffer) {
    case .success(let decimal): return .decimal(decimal)
    case .failure(let refusal): throw Failure(.invalidArgument, "'\(name)' \(refusal.reason(digits))")
    }
  case QUIRE_VALUE_TEXT: return .text(try textOf(source, name))
  case QUIRE_VALUE_URI: return .uri(try textOf(source, name))
  case QUIRE_VALUE_DATA: return .data(try dataOf(source, name))
  case QUIRE_VALUE_UUID:
    if source.size != 16 {
      throw Failure(.invalidArgument, "'\(name)' is a UUID of \(source.size) bytes; a UUID has 16.")
    }
    return .uuid(try dataOf(source, name))
  case QUIRE_VALUE_OBJECT:
    let object = try resolve(source.as.object, name)
    if let context { try object.checkBelongs(to: context) }
    return .object(object.lentReference())
  case QUIRE_VALUE_LIST:
    if depth == deepestList {
      throw Failure(.invalidArgument, "'\(name)' is a list within lists more than \(deepestList) deep.")
    }
    var values: [Value] = []
    for element in try array(source.as.list, Int(source.size), name) {
      values.append(try value(element, name, in: context, depth: depth + 1))
    }
    return .list(values)
  case QUIRE_VALUE_OBJECT_ID:
    throw Failure(
      .invalidArgument, "'\(name)' is an object id, which is output only; pass the object (quire_context_object).")
  case QUIRE_VALUE_DICTIONARY:
    throw Failure(
      .invalidArgument, "'\(name)' holds a dictionary, which is no value of its own; give its values one by one.")
  case QUIRE_VALUE_EXPRESSION, QUIRE_VALUE_PREDICATE:
    throw Failure(
      .invalidArgument,
      "'\(name)' holds an expression or a predicate, which can only be an argument of a format by itself.")
  default:
    throw Failure(.invalidArgument, "'\(name)' has the kind \(source.kind), which is not a quire_value_kind.")
  }
}

func value(
  _ pointer: UnsafePointer<quire_value>?, _ name: InputName, in context: Context? = nil
) throws(Failure) -> Value {
  guard let pointer else {
    throw Failure(.invalidArgument, "'\(name)' is NULL; pass a value, or quire_value_nil() for nil.")
  }
  return try value(pointer.pointee, name, in: context)
}

/// A value for a property, which messages name instead of the parameter.
func value(
  _ pointer: UnsafePointer<quire_value>?, for property: Property, in context: Context
) throws(Failure) -> Value {
  do throws(Failure) { return try value(pointer, "value", in: context) } catch {
    // Again, for the sake of the message, so that a value that fits costs no name.
    guard let pointer else { throw error }
    return try value(pointer.pointee, .property(property), in: context)
  }
}

/// A list of objects, for a to-many relationship.
func objects(_ source: quire_value, _ relationship: Relationship) throws(Failure) -> [ManagedObject] {
  guard quire_value_kind(rawValue: source.kind) == QUIRE_VALUE_LIST else {
    throw Failure(
      .invalidArgument, "'\(relationship.qualifiedName)' is a to-many relationship and takes a list of objects.",
      about: .property(relationship))
  }
  var objects: [ManagedObject] = []
  let name = InputName.property(relationship)
  for element in try array(source.as.list, Int(source.size), name) {
    guard quire_value_kind(rawValue: element.kind) == QUIRE_VALUE_OBJECT else {
      throw Failure(
        .invalidArgument,
        "'\(relationship.qualifiedName)' was given something other than an object; it takes objects only.",
        about: .property(relationship))
    }
    objects.append(try resolve(element.as.object, name))
  }
  return objects
}

private func textOf(_ source: quire_value, _ name: InputName) throws(Failure) -> Text {
  try text(source.as.text, Int(source.size), name)
}

private func dataOf(_ source: quire_value, _ name: InputName) throws(Failure) -> Bytes {
  let data = try array(source.as.data, Int(source.size), name)
  try Memory.require(data.count, for: "the data of '\(name)'")
  return Bytes(data)
}

/// A value for the caller. Text and data stay the library's; `lend` keeps alive what has no buffer of its own.
func exported(_ value: Value, lend: (Text) -> Text) throws(Failure) -> quire_value {
  var result = quire_value()
  func set(_ kind: quire_value_kind) { result.kind = kind.rawValue }
  func set(_ kind: quire_value_kind, text: Bytes) throws(Failure) {
    guard let size = UInt32(exactly: text.count), size != QUIRE_NUL else {
      throw Failure(.unsupported, "A value of \(text.count) bytes is too long to read in one piece.")
    }
    set(kind)
    result.size = size
    result.as.text = UnsafeRawPointer(text.start).assumingMemoryBound(to: CChar.self)
  }
  switch value {
  case .nil: set(QUIRE_VALUE_NIL)
  case .integer(let integer): set(QUIRE_VALUE_INTEGER); result.as.integer = integer
  case .boolean(let flag): set(QUIRE_VALUE_BOOLEAN); result.as.boolean = flag
  case .double(let double): set(QUIRE_VALUE_DOUBLE); result.as.real = double
  case .float(let float): set(QUIRE_VALUE_FLOAT); result.as.real = Double(float)
  case .decimal(let decimal): try set(QUIRE_VALUE_DECIMAL, text: lend(Text(decimal.description)).bytes)
  case .text(let text): try set(QUIRE_VALUE_TEXT, text: text.bytes)
  case .uri(let text): try set(QUIRE_VALUE_URI, text: text.bytes)
  case .date(let seconds): set(QUIRE_VALUE_DATE); result.as.real = Epoch.since1970(seconds)
  case .data(let data): try set(QUIRE_VALUE_DATA, text: data)
  // Its data stay as long as the value.
  case .external(let value): try set(QUIRE_VALUE_DATA, text: value.data())
  case .uuid(let data): try set(QUIRE_VALUE_UUID, text: data)
  case .object(let box): set(QUIRE_VALUE_OBJECT_ID); result.as.integer = box.reference.id
  case .list:
    throw Failure(.unsupported, "A list of values cannot be read as one value.")
  }
  return result
}

/// The value of a section. The text of a decimal is that of the section's name.
func exported(_ value: Value, nameOf section: Text) throws(Failure) -> quire_value {
  try exported(value) { _ in section }
}

extension Text {
  /// The text as C sees it, borrowed from the owner of `self`.
  var lent: quire_string {
    quire_string(data: UnsafeRawPointer(bytes.start).assumingMemoryBound(to: CChar.self), size: bytes.count)
  }
}

/// No text at all.
var noText: quire_string { quire_string(data: nil, size: 0) }
