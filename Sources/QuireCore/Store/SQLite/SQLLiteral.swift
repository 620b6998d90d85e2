/// Values as text of SQL.
enum SQLLiteral {
  /// What means the same as `value` bound; nil for a list, which no column holds.
  static func text(_ value: Value) -> String? {
    switch value {
    case .nil: "NULL"
    case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : String(integer)
    case .boolean(let flag): flag ? "1" : "0"
    case .double(let double), .date(let double): text(double)
    case .float(let float): text(Double(float))
    case .decimal(let decimal): text(decimal.double)
    case .text(let text), .uri(let text): self.text(text)
    case .data(let bytes), .uuid(let bytes): self.text(bytes)
    case .object(let box): String(box.reference.id)
    case .external, .list: nil
    }
  }

  static func text(_ bytes: Bytes) -> String { withExtendedLifetime(bytes) { text(bytes.buffer) } }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    "x'\(bytes.map { hexadecimal($0 >> 4) + hexadecimal($0 & 15) }.joined())'"
  }

  /// A name in double quotes, whatever is in it.
  static func name(_ name: String) -> String { quoted(name, by: "\"") }

  private static func text(_ double: Double) -> String {
    if double.isNaN { return "NULL" }
    if double.isInfinite { return double > 0 ? "9e999" : "-9e999" }
    return "\(double)"
  }

  private static func text(_ text: Text) -> String {
    // A literal of text would end there.
    if text.bytes.buffer.contains(0) { return "CAST(\(self.text(text.bytes.buffer)) AS TEXT)" }
    return quoted(text.string, by: "'")
  }

  private static func quoted(_ text: String, by quote: Character) -> String {
    let parts = text.split(separator: quote, omittingEmptySubsequences: false)
    return "\(quote)\(parts.joined(separator: "\(quote)\(quote)"))\(quote)"
  }

  private static func hexadecimal(_ digit: UInt8) -> String { String(digit, radix: 16, uppercase: true) }
}
