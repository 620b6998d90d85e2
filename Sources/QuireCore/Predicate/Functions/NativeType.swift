/// The C types that a native function takes and returns. The numbers are those of `quire_native_type`.
enum NativeType: UInt32, Sendable {
  case boolean = 1
  case int8 = 2
  case int16 = 3
  case int32 = 4
  case int64 = 5
  case uint8 = 6
  case uint16 = 7
  case uint32 = 8
  case uint64 = 9
  case float = 10
  case double = 11
  /// A double that counts seconds since 1970.
  case date = 12
  /// `const char *`, as an argument never NULL.
  case text = 13
  /// As an argument `const char *`, NULL for nil.
  case optionalText = 14
  /// As a result `char *`, to be freed.
  case ownedText = 15

  /// The required argument in messages.
  var requirement: String {
    switch self {
    case .boolean: "a boolean, or 0 or 1"
    case .int8: "a whole number from -128 to 127"
    case .int16: "a whole number from -32768 to 32767"
    case .int32: "a whole number of 32 bits"
    case .int64: "a whole number of 64 bits"
    case .uint8: "a whole number from 0 to 255"
    case .uint16: "a whole number from 0 to 65535"
    case .uint32: "a whole number from 0 to 4294967295"
    case .uint64: "a whole number that is not negative"
    case .float, .double: "a number"
    case .date: "a date"
    case .text, .optionalText, .ownedText: "text without U+0000"
    }
  }
}
