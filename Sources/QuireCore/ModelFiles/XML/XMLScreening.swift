/// What is refused of a document before libxml2 sees it, as its parser takes too long for some that are built for that.
enum XMLScreening {
  /// libxml2 compares each attribute of an element with all before it. Signs of equality in texts count too.
  private static let mostEqualSigns = 4_000
  /// Those that libxml2 reads itself, so that a type that is declared is found below.
  private static let encodings = ["utf-8", "utf-16", "us-ascii", "iso-8859-1"]
  private static let longestDeclaration = 1024

  /// Why no model is such a document; nil when it may be one.
  static func problem(of bytes: Bytes) -> String? {
    // In UTF-16 every second byte is 0.
    let start = bytes.buffer.prefix(longestDeclaration).filter { $0 != 0 }
    let starts: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE], [0x3C], [0x20], [0x0A], [0x0D], [0x09]]
    guard starts.contains(where: { start.starts(with: $0) }) else { return "it does not begin as XML does" }
    if let encoding = declaredEncoding(start), !encodings.contains(encoding) {
      return "its encoding is '\(encoding)', which no model has"
    }
    return problem(ofElements: bytes)
  }

  private static func problem(ofElements bytes: Bytes) -> String? {
    var equalSigns = 0
    // How much of `<!D` came before, with nothing else but 0 in between.
    var matched = 0
    for byte in bytes.buffer {
      switch byte {
      case 0: continue
      case UInt8(ascii: "<"): (equalSigns, matched) = (0, 1)
      case UInt8(ascii: "!") where matched == 1: matched = 2
      case UInt8(ascii: "D") where matched == 2: return "it declares a document type, which no model does"
      case UInt8(ascii: "="):
        (equalSigns, matched) = (equalSigns + 1, 0)
        if equalSigns > mostEqualSigns { return "an element of it has more than \(mostEqualSigns) attributes" }
      default: matched = 0
      }
    }
    return nil
  }

  private static func declaredEncoding(_ start: [UInt8]) -> String? {
    // The texts between quotes, and what is before each.
    let parts = start.prefix { $0 != UInt8(ascii: ">") }
      .split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
    for (before, value) in zip(parts, parts.dropFirst()) {
      let name = String(decoding: before.filter { $0 > UInt8(ascii: " ") }, as: UTF8.self)
      if name.hasSuffix("encoding=") { return String(decoding: value, as: UTF8.self).lowercased() }
    }
    return nil
  }
}
