/// Cuts a format into tokens, one at a time.
struct PredicateLexer {
  let bytes: [UInt8]
  private(set) var position = 0
  /// Placeholders inside quotes are text; a caller of varargs may have passed arguments for them all the same.
  private(set) var quotedPlaceholders = 0

  init(_ format: Text) { bytes = format.utf8 }

  func failure(_ sentence: String, at offset: Int) -> Failure {
    PredicateDiagnostic.failure(sentence, in: bytes, at: offset)
  }

  mutating func next() throws(Failure) -> PredicateToken {
    skipWhitespace()
    let start = position
    guard position < bytes.count else { return PredicateToken(kind: .end, offset: start) }
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return PredicateToken(kind: .text(try text()), offset: start)
    case UInt8(ascii: "%"): return PredicateToken(kind: try percent(), offset: start)
    case UInt8(ascii: "$"):
      position += 1
      guard let name = identifier() else {
        throw failure("A dollar sign must be followed by the name of a variable.", at: start)
      }
      return PredicateToken(kind: .variable(name), offset: start)
    case UInt8(ascii: "@"):
      position += 1
      guard let name = identifier() else {
        throw failure("An at sign must be followed by a collection operator such as @count.", at: start)
      }
      return PredicateToken(kind: .collectionOperator("@" + name), offset: start)
    case UInt8(ascii: "#"): return PredicateToken(kind: try escapedKey(), offset: start)
    default: break
    }
    if isDigit(byte) || (byte == UInt8(ascii: ".") && position + 1 < bytes.count && isDigit(bytes[position + 1])) {
      return PredicateToken(kind: try number(), offset: start)
    }
    if let name = identifier() { return PredicateToken(kind: word(name), offset: start) }
    return PredicateToken(kind: try sign(), offset: start)
  }

  /// The next byte that is no white space, without reading on.
  var following: UInt8? {
    var probe = self
    probe.skipWhitespace()
    return probe.position < bytes.count ? bytes[probe.position] : nil
  }

  private mutating func skipWhitespace() {
    while position < bytes.count {
      if bytes[position] < 0x80 {
        guard bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) else { return }
        position += 1
      } else {
        let (scalar, length) = scalar(at: position)
        guard scalar.properties.isWhitespace else { return }
        position += length
      }
    }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  private func scalar(at index: Int) -> (Unicode.Scalar, length: Int) {
    var decoder = UTF8()
    var source = bytes[index..<min(index + 4, bytes.count)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&source) else { return ("\u{FFFD}", 1) }
    return (scalar, UTF8.width(scalar))
  }

  private mutating func identifier() -> String? {
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte < 0x80 {
        let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
        guard isLetter || (position > start && isDigit(byte)) else { break }
        position += 1
      } else {
        let (scalar, length) = scalar(at: position)
        let properties = scalar.properties
        guard position > start ? properties.isIDContinue : properties.isIDStart else { break }
        position += length
      }
    }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  /// A word may go on as one of the two operators with dashes, or as a selector.
  private mutating func word(_ name: String) -> PredicateToken.Kind {
    if name.lowercased() == "uti" {
      for suffix in ["-conforms-to", "-equals"] {
        let end = position + suffix.utf8.count
        guard end <= bytes.count else { continue }
        let tail = String(decoding: bytes[position..<end], as: UTF8.self)
        if tail.lowercased() == suffix {
          position = end
          return .word(name + tail)
        }
      }
    }
    var selector = name
    while position < bytes.count, bytes[position] == UInt8(ascii: ":") {
      if position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "=") { break }
      position += 1
      selector += ":"
      let mark = position
      if let part = identifier() {
        if position < bytes.count, bytes[position] == UInt8(ascii: ":") { selector += part } else { position = mark }
      }
    }
    return selector == name ? .word(name) : .selector(selector)
  }

  private mutating func escapedKey() throws(Failure) -> PredicateToken.Kind {
    let start = position
    position += 1
    if position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") {
      let key = try text()
      guard !key.isEmpty else { throw failure("A key may not be empty.", at: start) }
      return .escapedKey(key.string)
    }
    guard let name = identifier() else {
      throw failure("A number sign must be followed by the key that it escapes.", at: start)
    }
    return .escapedKey(name)
  }

  private mutating func percent() throws(Failure) -> PredicateToken.Kind {
    let start = position
    if start + 1 < bytes.count, bytes[start + 1] == UInt8(ascii: "%") {
      position += 2
      return .sign("%%")
    }
    guard let (placeholder, end) = Placeholder.read(bytes, at: start) else {
      throw failure("The percent sign does not begin a placeholder such as %@, %K, %d or %f.", at: start)
    }
    position = end
    return .placeholder(placeholder)
  }

  private static let signs = [
    "&&", "||", "==", "=<", "=>", "!=", "<>", "<=", "<<", ">=", ">>", "**", ":=", "=", "<", ">", "!", "+", "-",
    "*", "/", "&", "|", "^", "~", "(", ")", "{", "}", "[", "]", ",", ".",
  ]

  private mutating func sign() throws(Failure) -> PredicateToken.Kind {
    for sign in PredicateLexer.signs where bytes[position...].starts(with: sign.utf8) {
      position += sign.utf8.count
      return .sign(sign)
    }
    let (scalar, _) = scalar(at: position)
    let hint: String
    switch scalar {
    case "“", "”", "‘", "’", "„", "«", "»": hint = " Quote text with \" or '."
    case "?": hint = " Write %@ for an argument."
    default: hint = " A key with unusual characters is written #\"…\" or passed for %K."
    }
    throw failure("The character \(scalar) has no meaning here.\(hint)", at: position)
  }

  private mutating func number() throws(Failure) -> PredicateToken.Kind {
    let start = position
    var radix = 10
    if bytes[start] == UInt8(ascii: "0"), start + 1 < bytes.count {
      switch bytes[start + 1] | 0x20 {
      case UInt8(ascii: "x"): radix = 16
      case UInt8(ascii: "o"): radix = 8
      case UInt8(ascii: "b"): radix = 2
      default: break
      }
    }
    if radix != 10 {
      position += 2
      let digits = takeDigits(radix: radix)
      try endNumber(from: start, isComplete: !digits.isEmpty)
      if let integer = UInt64(digits, radix: radix) { return .integer(integer) }
      return .real(digits.reduce(0) { $0 * Double(radix) + Double($1.hexDigitValue ?? 0) })
    }
    var spelling = takeDigits(radix: 10)
    var isReal = false
    if position + 1 < bytes.count, bytes[position] == UInt8(ascii: "."), isDigit(bytes[position + 1]) {
      position += 1
      isReal = true
      spelling += "." + takeDigits(radix: 10)
    }
    var isComplete = true
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      isReal = true
      spelling += "e"
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
        spelling += bytes[position] == UInt8(ascii: "-") ? "-" : ""
        position += 1
      }
      let exponent = takeDigits(radix: 10)
      isComplete = !exponent.isEmpty
      spelling += exponent
    }
    try endNumber(from: start, isComplete: isComplete)
    if !isReal, let integer = UInt64(spelling) { return .integer(integer) }
    if spelling.hasPrefix(".") { spelling = "0" + spelling }
    guard let real = Double(spelling) else { throw failure("This is not a number.", at: start) }
    return .real(real)
  }

  private mutating func takeDigits(radix: Int) -> String {
    let start = position
    while position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue,
      bytes[position] < 0x80, digit < radix
    {
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func endNumber(from start: Int, isComplete: Bool) throws(Failure) {
    let end = position
    guard isComplete, identifier() == nil, end >= bytes.count || !isDigit(bytes[end]) else {
      throw failure("This is not a number.", at: start)
    }
  }

  /// Decodes the escapes. A backslash before any other character stays, as a pattern of MATCHES or LIKE wants it.
  private mutating func text() throws(Failure) -> Text {
    let start = position
    let quote = bytes[start]
    var decoded: [UInt8] = []
    position += 1
    while true {
      guard position < bytes.count else { throw failure("This text has no closing quote.", at: start) }
      let byte = bytes[position]
      if byte == quote {
        position += 1
        return Text(utf8: decoded)
      }
      if byte == UInt8(ascii: "\\") {
        try escape(into: &decoded)
        continue
      }
      if byte == UInt8(ascii: "%"), let (_, end) = Placeholder.read(bytes, at: position) {
        quotedPlaceholders += 1
        decoded.append(contentsOf: bytes[position..<end])
        position = end
        continue
      }
      decoded.append(byte)
      position += 1
    }
  }

  private mutating func escape(into decoded: inout [UInt8]) throws(Failure) {
    let start = position
    position += 1
    guard position < bytes.count else { throw failure("This text has no closing quote.", at: start) }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "a"): decoded.append(0x07)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "v"): decoded.append(0x0B)
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): decoded.append(byte)
    case UInt8(ascii: "x"):
      try append(codePoint(digits: 2, from: start), to: &decoded, from: start)
    case UInt8(ascii: "u"):
      var point = try codePoint(digits: 4, from: start)
      let isHigh = (0xD800...0xDBFF).contains(point)
      if isHigh, bytes[position...].starts(with: "\\u".utf8) {
        position += 2
        let low = try codePoint(digits: 4, from: start)
        guard (0xDC00...0xDFFF).contains(low) else {
          throw failure("The escape \\u must name a character; half of a surrogate pair is none.", at: start)
        }
        point = 0x10000 + (point - 0xD800) << 10 + (low - 0xDC00)
      }
      try append(point, to: &decoded, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var point = UInt32(byte - UInt8(ascii: "0")), digits = 1
      while digits < 3, position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 8 {
        point = point * 8 + UInt32(bytes[position] - UInt8(ascii: "0"))
        position += 1
        digits += 1
      }
      try append(point, to: &decoded, from: start)
    default:
      decoded.append(UInt8(ascii: "\\"))
      position -= 1
    }
  }

  private mutating func codePoint(digits: Int, from start: Int) throws(Failure) -> UInt32 {
    let end = position + digits
    guard end <= bytes.count, bytes[position..<end].allSatisfy({ $0 < 0x80 }),
      bytes[position..<end].allSatisfy({ Character(Unicode.Scalar($0)).hexDigitValue != nil }),
      let point = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
    else { throw failure("This escape needs \(digits) hexadecimal digits.", at: start) }
    position = end
    return point
  }

  private func append(_ point: UInt32, to decoded: inout [UInt8], from start: Int) throws(Failure) {
    guard let scalar = Unicode.Scalar(point) else {
      throw failure("The escape \\u must name a character; half of a surrogate pair is none.", at: start)
    }
    decoded.append(contentsOf: Array(String(Character(scalar)).utf8))
  }
}
