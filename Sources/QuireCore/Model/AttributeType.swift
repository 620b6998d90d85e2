/// The attribute types of Core Data, with its numbers: they are part of the version hash.
enum AttributeType: UInt32, Sendable, CaseIterable {
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binary = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800
  /// Several attributes under one name. Only models of files have it, and no store.
  case composite = 2100

  var name: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .composite: "Composite"
    }
  }

  /// The class of the values in Core Data; empty for those of no one class.
  var valueClassName: String {
    switch self {
    case .undefined, .transformable, .composite: ""
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    }
  }
}
