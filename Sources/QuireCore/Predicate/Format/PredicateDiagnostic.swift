/// Composes the message of a format that does not parse: a sentence, the line at fault, a caret below the place.
enum PredicateDiagnostic {
  private static let widestLine = 76

  static func failure(_ sentence: String, in bytes: [UInt8], at offset: Int) -> Failure {
    let offset = max(0, min(offset, bytes.count))
    let newline = UInt8(ascii: "\n")
    let start = bytes[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
    let end = bytes[offset...].firstIndex(of: newline) ?? bytes.count
    // Only a stretch around the place is decoded, so that a format of megabytes costs nothing here.
    let near = max(start, offset - 1000), far = min(end, offset + 1000)
    var before = characters(bytes[boundary(bytes, near, start)..<boundary(bytes, offset, start)])
    var after = characters(bytes[boundary(bytes, offset, start)..<boundary(bytes, far, start)])
    if before.count + after.count > widestLine || near > start || far < end {
      let kept = min(before.count, max(widestLine / 2, widestLine - after.count))
      if kept < before.count || near > start { before = ["…"] + before.suffix(kept) }
      let room = max(1, widestLine - before.count)
      if after.count > room || far < end { after = after.prefix(room) + ["…"] }
    }
    let caret = String(repeating: " ", count: before.count) + "^"
    let line = String(before + after)
    return Failure(.invalidPredicate, "\(sentence)\n\(line)\n\(caret)", offset: offset)
  }

  /// The start of the code point that `index` is in.
  private static func boundary(_ bytes: [UInt8], _ index: Int, _ lowest: Int) -> Int {
    var index = index
    while index > lowest, index < bytes.count, bytes[index] & 0xC0 == 0x80 { index -= 1 }
    return index
  }

  private static func characters(_ bytes: ArraySlice<UInt8>) -> [Character] {
    String(decoding: bytes, as: UTF8.self).map { $0 == "\t" || $0.isNewline ? " " : $0 }
  }
}
