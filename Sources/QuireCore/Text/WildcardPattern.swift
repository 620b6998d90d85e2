/// A pattern of LIKE: `*` stands for any text, `?` for one code point, a backslash takes the next sign as it is.
///
/// Under folding, `?` stands for one code point of the folded text. Time is bounded by text times pattern.
struct WildcardPattern: Sendable {
  private enum Element: Equatable {
    case byte(UInt8)
    case one
    case any
  }

  private var elements: ContiguousArray<Element> = []
  /// The bytes every match begins with, as they are in the pattern before the first wildcard.
  private(set) var prefix: [UInt8] = []
  /// The parts between wildcards, as they are in the pattern.
  private(set) var literals: [[UInt8]] = []

  init(_ pattern: Text, _ folding: TextFolding, _ folder: TextFolder) {
    var literal: [UInt8] = []
    var isEscaped = false, sawWildcard = false
    var literals: [[UInt8]] = []
    func flush(_ elements: inout ContiguousArray<Element>) {
      if !literal.isEmpty { literals.append(literal) }
      let folded = folder.fold(Text(utf8: literal), folding)
      elements.append(contentsOf: folded.bytes.buffer.lazy.map { .byte($0) })
      literal.removeAll()
    }
    for byte in pattern.bytes.buffer {
      if isEscaped {
        literal.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") {
        if !sawWildcard { prefix = literal }
        sawWildcard = true
        flush(&elements)
        let element: Element = byte == UInt8(ascii: "?") ? .one : .any
        if element == .one || elements.last != .any { elements.append(element) }
      } else {
        literal.append(byte)
      }
    }
    if isEscaped { literal.append(UInt8(ascii: "\\")) }
    if !sawWildcard { prefix = literal }
    flush(&elements)
    self.literals = literals
  }

  /// Expects text that was folded as the pattern was.
  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0, index = 0
    var retryPosition = -1, retryIndex = 0
    while position < text.count || index < elements.count {
      if index < elements.count {
        switch elements[index] {
        case .any:
          retryPosition = position
          retryIndex = index
          index &+= 1
          continue
        case .one where position < text.count:
          position = WildcardPattern.next(text, position)
          index &+= 1
          continue
        case .byte(let byte) where position < text.count && text[position] == byte:
          position &+= 1
          index &+= 1
          continue
        default: break
        }
      }
      guard retryPosition >= 0, retryPosition < text.count else { return false }
      retryPosition = WildcardPattern.next(text, retryPosition)
      position = retryPosition
      index = retryIndex &+ 1
    }
    return true
  }

  private static func next(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
    var position = position &+ 1
    while position < text.count, text[position] & 0xC0 == 0x80 { position &+= 1 }
    return position
  }
}
