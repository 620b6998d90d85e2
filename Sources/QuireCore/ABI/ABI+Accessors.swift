import CQuire

/// What a call reads as one type of C.
private enum Reading {
  case text, integer, number, date

  var kinds: StaticString {
    switch self {
    case .text: "text, URIs and decimal numbers"
    case .integer: "integers and booleans"
    case .number: "numbers and booleans"
    case .date: "dates"
    }
  }

  /// Whether it reads values of an attribute of this type. One that is Undefined may have any.
  func includes(_ type: AttributeType) -> Bool {
    switch type {
    case .undefined: true
    case .string, .uri: self == .text
    case .decimal: self == .text || self == .number
    case .integer16, .integer32, .integer64, .boolean: self == .integer || self == .number
    case .double, .float: self == .number
    case .date: self == .date
    case .binary, .uuid, .transformable, .composite: false
    }
  }
}

/// Reads one value of an object as one type of C; `convert` returns nil for a value of another kind.
private func read<T>(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int, _ out: UnsafeMutablePointer<T>?,
  _ out_name: InputName, none: T, _ out_is_nil: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut,
  _ reading: Reading,
  _ convert: (Value, ManagedObject, Property) throws(Failure) -> T?
) -> quire_status {
  out?.pointee = none
  out_is_nil?.pointee = false
  return status(object, "object", out_error) { object throws(Failure) in
    let out = try required(out, out_name)
    try object.context.store.checkOpen()
    try object.beginReadingValue()
    let property = try object.property(key, key_size)
    try object.asked(property) { () throws(Failure) in
      if let relationship = property as? Relationship, relationship.isToMany {
        throw misread(property, "is a to-many relationship", reading)
      }
      let value = try object.value(of: property)
      if value.isNil {
        // What holds nothing now is of the wrong type all the same.
        guard let attribute = property as? Attribute else { throw misread(property, "is a relationship", reading) }
        guard reading.includes(attribute.type) else {
          throw misread(property, "is of the type \(attribute.type.name)", reading)
        }
        out_is_nil?.pointee = true
        return
      }
      guard let converted = try convert(value, object, property) else {
        throw misread(property, "holds \(value.kindName)", reading)
      }
      out.pointee = converted
    }
  }
}

/// Names the call that reads such a property.
private func misread(_ property: Property, _ fact: String, _ reading: Reading) -> Failure {
  let call =
    switch (property as? Relationship)?.isToMany {
    case true?: "quire_object_get_objects"
    case false?: "quire_object_get_object"
    case nil: "quire_object_get"
    }
  return Failure(
    .invalidArgument,
    "'\(property.qualifiedName)' \(fact), and this call reads \(reading.kinds). Read it with \(call).",
    about: .property(property))
}

@_cdecl("quire_object_get_text") @implementation
public func quire_object_get_text(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_text: UnsafeMutablePointer<quire_string>?, _ out_error: ErrorOut
) -> quire_status {
  read(object, key, key_size, out_text, "out_text", none: noText, nil, out_error, .text) {
    value, object, property throws(Failure) in
    switch value {
    case .text(let text), .uri(let text): text.lent
    case .decimal(let decimal): object.lend(Text(decimal.description), at: property.slot).lent
    default: nil
    }
  }
}

@_cdecl("quire_object_get_integer") @implementation
public func quire_object_get_integer(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_integer: UnsafeMutablePointer<Int64>?, _ out_is_nil: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  read(object, key, key_size, out_integer, "out_integer", none: 0, out_is_nil, out_error, .integer) {
    value, _, _ throws(Failure) in
    switch value {
    case .integer(let integer): integer
    case .boolean(let flag): flag ? 1 : 0
    default: nil
    }
  }
}

@_cdecl("quire_object_get_number") @implementation
public func quire_object_get_number(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_number: UnsafeMutablePointer<Double>?, _ out_is_nil: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  read(object, key, key_size, out_number, "out_number", none: 0, out_is_nil, out_error, .number) {
    value, _, _ throws(Failure) in
    switch value {
    case .integer(let integer): Double(integer)
    case .boolean(let flag): flag ? 1 : 0
    case .double(let double): double
    case .float(let float): Double(float)
    case .decimal(let decimal): decimal.double
    default: nil
    }
  }
}

@_cdecl("quire_object_get_date") @implementation
public func quire_object_get_date(
  _ object: UnsafeMutablePointer<quire_object>?, _ key: CText, _ key_size: Int,
  _ out_seconds: UnsafeMutablePointer<Double>?, _ out_is_nil: UnsafeMutablePointer<Bool>?, _ out_error: ErrorOut
) -> quire_status {
  read(object, key, key_size, out_seconds, "out_seconds", none: 0, out_is_nil, out_error, .date) {
    value, _, _ throws(Failure) in
    if case .date(let seconds) = value { Epoch.since1970(seconds) } else { nil }
  }
}
