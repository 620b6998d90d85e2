/// What is refused of an XML store before libxml2 sees it: documents that are built to exhaust a reader, and those that
/// declare entities. Core Data writes none of these.
struct XMLStoreScreening {
  /// Property lists in the metadata are nested.
  private static let deepest = 64
  /// libxml2 compares each attribute of an element with all before it.
  private static let mostAttributes = 64

  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0
  private var depth = 0
  /// How many elements have begun.
  private var count = 0
  /// The one to stop at.
  private var wanted: Int?

  /// Why it is refused, and in which line; nil when it may be read.
  static func problem(of bytes: Bytes) -> (line: Int, reason: String)? {
    var screening = XMLStoreScreening(bytes)
    defer { withExtendedLifetime(bytes) {} }
    guard let reason = screening.problem() else { return nil }
    return (screening.line, reason)
  }

  /// The line in which an element begins, the first of which has the number 1. libxml2 reads ahead, and knows no more
  /// than 65,535 lines.
  static func line(ofElement number: Int, in bytes: Bytes) -> Int {
    var screening = XMLStoreScreening(bytes)
    screening.wanted = number
    defer { withExtendedLifetime(bytes) {} }
    _ = screening.problem()
    return screening.line
  }

  private var line: Int { 1 + bytes.prefix(place).count { $0 == UInt8(ascii: "\n") } }

  /// Whether a file begins as XML does.
  static func beginsAsXML(_ bytes: Bytes) -> Bool {
    defer { withExtendedLifetime(bytes) {} }
    var start = bytes.buffer[...]
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
    while let first = start.first, XMLStoreValue.isSpace(first) { start = start.dropFirst() }
    return ["<?xml", "<!DOCTYPE", "<!--", "<database"].contains { start.starts(with: $0.utf8) }
  }

  /// The caller keeps the file.
  private init(_ file: Bytes) { bytes = file.buffer }

  private func isAt(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard place + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[place + offset] != text.utf8Start[offset] { return false }
    return true
  }

  /// Goes behind the next `end`, or to the end of all.
  private mutating func pass(_ end: StaticString) {
    while place < bytes.count, !isAt(end) { place += 1 }
    place = min(place + end.utf8CodeUnitCount, bytes.count)
  }

  private mutating func problem() -> String? {
    if bytes.contains(0) { return "it has U+0000 in it, which no XML has" }
    while place < bytes.count {
      if bytes[place] != UInt8(ascii: "<") {
        place += 1
      } else if isAt("<!--") {
        place += 4
        pass("-->")
      } else if isAt("<![CDATA[") {
        pass("]]>")
      } else if isAt("<?") {
        if let problem = declaration() { return problem }
      } else if isAt("<!") {
        if let problem = documentType() { return problem }
      } else {
        if !isAt("</") { count += 1 }
        if count == wanted { return nil }
        if let problem = element() { return problem }
      }
    }
    return nil
  }

  /// An instruction, or the declaration of XML. Bytes of other encodings than UTF-8 could hide anything.
  private mutating func declaration() -> String? {
    let start = place
    pass("?>")
    let text = String(decoding: bytes[start..<place], as: UTF8.self).lowercased()
    let isXML = text.utf8.dropFirst(5).first.map(XMLStoreValue.isSpace) == true && text.hasPrefix("<?xml")
    if !isXML { return nil }
    // The texts between quotes, and what is before each.
    let parts = text.utf8.split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'")
    }
    for (before, value) in zip(parts, parts.dropFirst()) {
      let name = before.filter { !XMLStoreValue.isSpace($0) }
      if !String(decoding: name, as: UTF8.self).hasSuffix("encoding=") { continue }
      if ["utf-8", "us-ascii"].contains(String(decoding: value, as: UTF8.self)) { return nil }
      place = start
      return "its encoding is not UTF-8"
    }
    return nil
  }

  private mutating func documentType() -> String? {
    var quote: UInt8?
    while place < bytes.count {
      let byte = bytes[place]
      switch (quote, byte) {
      case (nil, UInt8(ascii: "[")): return "it declares entities or elements, which no XML store does"
      case (nil, UInt8(ascii: ">")):
        place += 1
        return nil
      case (nil, UInt8(ascii: "\"")), (nil, UInt8(ascii: "'")): quote = byte
      case (byte?, _): quote = nil
      default: break
      }
      place += 1
    }
    return nil
  }

  /// The beginning or the end of one.
  private mutating func element() -> String? {
    let isEnd = isAt("</")
    var quote: UInt8?, equalSigns = 0
    while place < bytes.count {
      let byte = bytes[place]
      switch (quote, byte) {
      case (nil, UInt8(ascii: ">")):
        if isEnd { depth -= 1 } else if bytes[place - 1] != UInt8(ascii: "/") { depth += 1 }
        place += 1
        return depth > XMLStoreScreening.deepest
          ? "its elements are nested more than \(XMLStoreScreening.deepest) deep" : nil
      case (nil, UInt8(ascii: "\"")), (nil, UInt8(ascii: "'")): quote = byte
      case (nil, UInt8(ascii: "=")):
        equalSigns += 1
        if equalSigns > XMLStoreScreening.mostAttributes {
          return "an element has more than \(XMLStoreScreening.mostAttributes) attributes"
        }
      case (byte?, _): quote = nil
      default: break
      }
      place += 1
    }
    return nil
  }
}
