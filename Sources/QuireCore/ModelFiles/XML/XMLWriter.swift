/// An XML document, written element by element.
struct XMLWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  /// The first attribute with a character that no document can have.
  private(set) var unwritable: String?
  private var depth = 0

  /// Attributes without a value are left out.
  mutating func element(
    _ name: String, _ attributes: [(String, String?)], _ inside: (inout XMLWriter) -> Void = { _ in }
  ) {
    let indent = String(repeating: "    ", count: depth)
    text += "\(indent)<\(name)"
    for case (let key, let value?) in attributes {
      text += " \(key)=\""
      append(value, "'\(key)' of an element '\(name)'")
      text += "\""
    }
    var inner = XMLWriter()
    (inner.text, inner.depth) = ("", depth + 1)
    inside(&inner)
    text += inner.text.isEmpty ? "/>\n" : ">\n\(inner.text)\(indent)</\(name)>\n"
    unwritable = unwritable ?? inner.unwritable
  }

  /// White space other than blanks would be read as blanks.
  private mutating func append(_ value: String, _ place: String) {
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "\t", "\n", "\r": text += "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": unwritable = unwritable ?? place
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
