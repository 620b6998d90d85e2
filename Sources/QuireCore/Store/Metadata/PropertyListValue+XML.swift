extension PropertyListValue {
  enum XMLProblem: Error {
    case controlCharacter
    case noMemory
  }

  /// The element `plist`, and the end of its line.
  func xml() throws(XMLProblem) -> ContiguousArray<UInt8> {
    guard let document = xmlDocument else { throw .noMemory }
    defer { withExtendedLifetime(document) {} }
    let written = document.buffer
    var list: ContiguousArray<UInt8> = []
    list.reserveCapacity(written.count)
    // What stands before is of use in a file of its own.
    let beginning = Array("<plist".utf8)
    let start = written.indices.first { written[$0...].starts(with: beginning) } ?? 0
    for place in start..<written.count {
      let byte = written[place]
      switch byte {
      // A reader would take it for the end of a line.
      case UInt8(ascii: "\r"): list.append(contentsOf: "&#13;".utf8)
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): list.append(byte)
      case 0..<0x20: throw .controlCharacter
      // U+FFFE and U+FFFF.
      case 0xEF where place + 2 < written.count && written[place + 1] == 0xBF && written[place + 2] >= 0xBE:
        throw .controlCharacter
      default: list.append(byte)
      }
    }
    if list.last != UInt8(ascii: "\n") { list.append(UInt8(ascii: "\n")) }
    return list
  }
}
