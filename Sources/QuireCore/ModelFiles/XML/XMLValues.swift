/// The default and the rules of an attribute, as texts of an XML document say them.
struct XMLValues {
  let defaultValue: Value
  private(set) var rules = AttributeRules()

  init(_ element: XMLElement, _ type: AttributeType) {
    func value(_ text: String, _ date: String) -> Value {
      if type == .date, let seconds = element[date].flatMap(Double.init) { return .date(seconds) }
      return element[text].flatMap { XMLValues.value($0, type) } ?? .nil
    }
    defaultValue = value("defaultValueString", "defaultDateTimeInterval")
    switch type {
    case .string, .uri, .binary, .transformable:
      rules.minimumLength = element["minValueString"].flatMap { Int($0) }.map { max(0, $0) }
      rules.maximumLength = element["maxValueString"].flatMap { Int($0) }.map { max(0, $0) }
    default:
      rules.minimum = value("minValueString", "minDateTimeInterval")
      rules.maximum = value("maxValueString", "maxDateTimeInterval")
    }
    if let pattern = element["regularExpressionString"], !pattern.isEmpty { rules.pattern = Text(pattern) }
  }

  /// nil for what is no value of the type.
  private static func value(_ text: String, _ type: AttributeType) -> Value? {
    switch type {
    case .integer16, .integer32, .integer64:
      if let integer = Int64(text) { return .integer(integer) }
      return Double(text).flatMap { Int64(exactly: $0) }.map { .integer($0) }
    case .boolean: return .boolean(text == "YES" || text == "true" || text == "1")
    case .double: return Double(text).map { .double($0) }
    case .float: return Float(text).map { .float($0) }
    case .decimal: return Decimal(text.utf8).map { .decimal($0) }
    case .string: return .text(text)
    case .uri: return .uri(Text(text))
    case .uuid: return uuid(text).map { .uuid($0) }
    case .binary, .transformable: return hexadecimal(text).map { .data($0) }
    case .undefined, .date, .composite: return nil
    }
  }

  /// A value as an attribute of the document; nil for none.
  static func written(_ value: Value) -> String? {
    switch value {
    case .nil, .list, .object, .date: nil
    case .boolean(let flag): flag ? "YES" : "NO"
    case .data(let data): hexadecimal(data)
    default: value.sectionName.string
    }
  }

  private static func hexadecimal(_ data: Bytes) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in data.buffer { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func uuid(_ text: String) -> Bytes? {
    if !ObjectURI.isUUID(Array(text.utf8)) { return nil }
    return hexadecimal(text.filter { $0 != "-" })
  }

  private static func hexadecimal(_ text: String) -> Bytes? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    if digits.count % 2 != 0 || digits.contains(nil) { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      bytes.append(UInt8(16 * (digits[place] ?? 0) + (digits[place + 1] ?? 0)))
    }
    return Bytes(bytes)
  }
}
