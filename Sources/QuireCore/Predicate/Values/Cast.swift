/// CAST of what is only known when the predicate is evaluated. `CastLiteral` has those of constants.
enum Cast {
  /// nil stays nil, and text that does not read as the type becomes nil.
  static func apply(_ value: Value, to type: String, in expression: Expression) throws(Failure) -> Value {
    if value.isNil { return .nil }
    if let literal = CastLiteral.value(of: value, type: type) { return literal }
    let result: Value?
    switch type {
    case "NSNumber": result = number(value)
    case "NSDecimalNumber": result = decimal(value)
    case "float": result = number(value)?.number.map { .float($0.single) }
    case "NSDate": result = date(value)
    case "NSString": result = .text(value.sectionName)
    case "NSURL": result = value.comparableText.map { .uri($0) }
    case "NSData": result = data(value)
    case "NSUUID": if case .uuid = value { result = value } else { result = nil }
    case "NSManagedObjectID": if case .object = value { result = value } else { result = nil }
    default:
      throw Failure(
        .invalidPredicate,
        "\(expression.text) names no type that can be cast to: these are NSNumber, NSDecimalNumber, NSString, NSDate, "
          + "NSData, NSUUID, NSURL and float.")
    }
    if let result { return result }
    if value.comparableText != nil { return .nil }
    throw Failure(.invalidPredicate, "\(expression.text) casts \(value.kindName), which does not become \(type).")
  }

  private static func number(_ value: Value) -> Value? {
    switch value {
    case .integer, .boolean, .double, .float, .decimal: value
    case .date(let seconds): .double(seconds)
    case .text(let text), .uri(let text): number(text.string)
    default: nil
    }
  }

  private static func decimal(_ value: Value) -> Value? {
    switch value {
    case .decimal: value
    case .integer(let integer): .decimal(Decimal(integer))
    case .boolean(let flag): .decimal(Decimal(flag ? 1 : 0))
    case .double, .float, .date:
      if case .date(let seconds) = value {
        Decimal(seconds).map { .decimal($0) }
      } else {
        value.number.flatMap { Decimal($0.double) }.map { .decimal($0) }
      }
    default: nil
    }
  }

  private static func date(_ value: Value) -> Value? {
    if case .date = value { return value }
    if let seconds = number(value)?.number?.double { return .date(seconds) }
    return value.comparableText.flatMap(WrittenDate.secondsSince2001).map { .date($0) }
  }

  private static func data(_ value: Value) -> Value? {
    switch value {
    case .data: value
    case .uuid(let bytes): .data(bytes)
    default: nil
    }
  }

  /// A leading zero makes digits octal and 0x hexadecimal, as Core Data reads them.
  private static func number(_ text: String) -> Value? {
    var digits = Substring(text)
    let isNegative = digits.first == "-"
    if isNegative || digits.first == "+" { digits = digits.dropFirst() }
    func signed(_ magnitude: Int64) -> Value { .integer(isNegative ? -magnitude : magnitude) }
    guard let first = digits.unicodeScalars.first, ("0"..."9").contains(first) || first == "." else { return nil }
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      let hexadecimal = digits.dropFirst(2)
      guard hexadecimal.first?.isHexDigit == true else { return nil }
      return Int64(hexadecimal, radix: 16).map(signed)
    }
    if digits.count > 1, first == "0", let octal = Int64(digits, radix: 8) { return signed(octal) }
    if let integer = Int64(digits, radix: 10) { return signed(integer) }
    return Double(digits).map { .double(isNegative ? -$0 : $0) }
  }
}
