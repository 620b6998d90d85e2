/// How text is spelled in an XML store.
///
/// Characters that no XML document can have are written as Core Data writes `<` in some of its files: a backslash, `u`
/// and the four hexadecimal digits of the UTF-16 unit, the lower byte first. `\u3c00` is `<`. A backslash before a `u`
/// is written so, too, so that every text comes back as it was.
enum XMLStoreText {
  private static let backslash = UInt8(ascii: "\\"), u = UInt8(ascii: "u")

  static func append(_ written: Text, to output: inout ContiguousArray<UInt8>) {
    defer { withExtendedLifetime(written) {} }
    let text = written.bytes.buffer
    var place = 0, plain = 0
    func flush(_ output: inout ContiguousArray<UInt8>) {
      if plain < place { output.append(contentsOf: text[plain..<place]) }
    }
    while place < text.count {
      let byte = text[place]
      var replacement: StaticString?, unit: UInt8?, length = 1
      switch byte {
      case UInt8(ascii: "<"): replacement = "&lt;"
      case UInt8(ascii: ">"): replacement = "&gt;"
      case UInt8(ascii: "&"): replacement = "&amp;"
      // A reader would take it for the end of a line.
      case UInt8(ascii: "\r"): replacement = "&#13;"
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): break
      case 0..<0x20: unit = byte
      case backslash where place + 1 < text.count && text[place + 1] == u: unit = byte
      // U+FFFE and U+FFFF.
      case 0xEF where place + 2 < text.count && text[place + 1] == 0xBF && text[place + 2] >= 0xBE:
        replacement = text[place + 2] == 0xBE ? "\\ufeff" : "\\uffff"
        length = 3
      default: break
      }
      if replacement == nil, unit == nil {
        place += 1
        continue
      }
      flush(&output)
      if let replacement {
        output.append(
          contentsOf: UnsafeBufferPointer(start: replacement.utf8Start, count: replacement.utf8CodeUnitCount))
      } else if let unit {
        output.append(contentsOf: [backslash, u, digit(unit >> 4), digit(unit & 15), digit(0), digit(0)])
      }
      place += length
      plain = place
    }
    flush(&output)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The text that was written so. XML has resolved its own references. What is no such spelling stays as it is: texts
  /// of programs have `\u` and digits in them, too.
  static func decoded(_ written: UnsafeBufferPointer<UInt8>) -> Bytes {
    if !written.contains(backslash) { return Bytes(written) }
    var output: ContiguousArray<UInt8> = []
    output.reserveCapacity(written.count)
    var place = 0
    while place < written.count {
      if written[place] == backslash, place + 5 < written.count, written[place + 1] == u,
        let character = character(written[(place + 2)...(place + 5)])
      {
        output.append(contentsOf: String(Character(character)).utf8)
        place += 6
      } else {
        output.append(written[place])
        place += 1
      }
    }
    return Bytes(output)
  }

  /// Those that XML gives a meaning to, those that it cannot have, and the backslash.
  private static func character(_ digits: some Sequence<UInt8>) -> Unicode.Scalar? {
    var unit: UInt16 = 0
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt16(value)
    }
    guard let scalar = Unicode.Scalar(unit.byteSwapped) else { return nil }
    switch scalar {
    case "<", ">", "&", "\"", "'", "\\", "\u{0}"..."\u{1F}", "\u{7F}", "\u{FFFE}", "\u{FFFF}": return scalar
    default: return nil
    }
  }
}
