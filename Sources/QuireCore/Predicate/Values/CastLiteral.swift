/// Constants without a literal of their own are written CAST(…, "type"); the parser makes constants of them again.
enum CastLiteral {
  /// The constant that a cast of a constant is, or nil when it is a function to be evaluated.
  static func value(of source: Value, type: String) -> Value? {
    switch (type, source) {
    case ("NSDate", .integer), ("NSDate", .boolean), ("NSDate", .double): return source.number.map { .date($0.double) }
    case ("NSDate", .text(let text)):
      return (nonFinite(text.string) ?? WrittenDate.secondsSince2001(text)).map { .date($0) }
    case ("NSNumber", .text(let text)): return nonFinite(text.string).map { .double($0) }
    case ("NSDecimalNumber", .text(let text)): return Decimal(text.bytes.buffer).map { .decimal($0) }
    case ("float", .double(let double)): return .float(Float(double))
    case ("float", .text(let text)): return nonFinite(text.string).map { .float(Float($0)) }
    case ("NSData", .text(let text)): return bytes(hexadecimal: text.utf8[...]).map { .data($0) }
    case ("NSUUID", .text(let text)): return uuid(text.utf8).map { .uuid($0) }
    case ("NSURL", .text(let text)): return .uri(text)
    case ("NSManagedObjectID", .text(let text)): return reference(text.string).map { .object($0) }
    default: return nil
    }
  }

  /// The spelling of a constant that has no literal; nil for those that have one.
  static func text(of value: Value) -> String? {
    switch value {
    case .date(let seconds): return "CAST(\(date(seconds)), \"NSDate\")"
    case .double(let double) where !double.isFinite: return "CAST(\"\(nonFiniteName(double))\", \"NSNumber\")"
    case .float(let float):
      let source = float.isFinite ? "\(Double(float))" : "\"\(nonFiniteName(Double(float)))\""
      return "CAST(\(source), \"float\")"
    case .decimal(let decimal): return "CAST(\"\(decimal)\", \"NSDecimalNumber\")"
    case .data(let data): return "CAST(\"\(hexadecimal(data))\", \"NSData\")"
    case .uuid(let uuid):
      var digits = Array(hexadecimal(uuid).uppercased())
      for place in [20, 16, 12, 8] where place < digits.count { digits.insert("-", at: place) }
      return "CAST(\"\(String(digits))\", \"NSUUID\")"
    case .uri(let uri): return "CAST(\(PredicatePrinter.quoted(uri)), \"NSURL\")"
    case .object(let box): return "CAST(\"\(box.reference.root)/p\(box.reference.id)\", \"NSManagedObjectID\")"
    default: return nil
    }
  }

  /// Six decimals where they say it all; otherwise as many as the date needs.
  private static func date(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "\"\(nonFiniteName(seconds))\"" }
    let millionths = (seconds.magnitude * 1_000_000).rounded()
    if millionths < 9_000_000_000_000_000_000 {
      let whole = UInt64(millionths)
      let fraction = "\(whole % 1_000_000)"
      let sign = seconds < 0 ? "-" : ""
      let zeros = String(repeating: "0", count: 6 - fraction.utf8.count)
      let spelling = "\(sign)\(whole / 1_000_000).\(zeros)\(fraction)"
      if Double(spelling) == seconds { return spelling }
    }
    return "\(seconds)"
  }

  private static func nonFinite(_ name: String) -> Double? {
    switch name {
    case "nan": .nan
    case "inf": .infinity
    case "-inf": -.infinity
    default: nil
    }
  }

  private static func nonFiniteName(_ double: Double) -> String {
    double.isNaN ? "nan" : double < 0 ? "-inf" : "inf"
  }

  private static func hexadecimal(_ data: Bytes) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var spelling: [UInt8] = []
    for byte in data.buffer { spelling += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: spelling, as: UTF8.self)
  }

  private static func bytes(hexadecimal digits: ArraySlice<UInt8>) -> Bytes? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var data: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      guard digit < 0x80, let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
      if let first = high { data.append(first << 4 | UInt8(value)); high = nil } else { high = UInt8(value) }
    }
    return Bytes(data)
  }

  private static func uuid(_ spelling: [UInt8]) -> Bytes? {
    let dash = UInt8(ascii: "-")
    guard spelling.count == 36, [8, 13, 18, 23].allSatisfy({ spelling[$0] == dash }) else { return nil }
    let digits = spelling.filter { $0 != dash }
    return digits.count == 32 ? bytes(hexadecimal: digits[...]) : nil
  }

  private static func reference(_ spelling: String) -> ObjectReference? {
    let parts = spelling.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let root = Int(parts[0]), parts[1].hasPrefix("p"),
      let id = Int64(parts[1].dropFirst())
    else { return nil }
    return ObjectReference(root: root, id: id)
  }
}
