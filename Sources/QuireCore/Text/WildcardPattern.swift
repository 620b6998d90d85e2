/// A pattern of LIKE: `*` stands for any text, `?` for one code point, a backslash takes the next sign as it is.
///
/// Under folding, `?` stands for one code point of the text, or of the folded text. Time is bounded by text times
/// pattern.
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
  /// Whether `?` is among its signs.
  var countsCharacters: Bool { elements.contains(.one) }

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

  /// The same where `?` may stand for a code point of the text that was folded as well, such as that of `Straße` for
  /// `Stra?e`.
  ///
  /// Follows the pattern with all places that its beginning may reach. Those are the bytes of the folded text, and,
  /// behind them, for each uneven part the places between its code points and behind its dropped marks.
  func matches(_ text: UnsafeBufferPointer<UInt8>, _ uneven: [TextParts.Uneven]) -> Bool {
    let inner = uneven.reduce(into: [text.count + 1]) { $0.append($0.last! + $1.count - 1 + $1.droppedCount) }
    var here = ContiguousArray(repeating: false, count: inner[uneven.count])
    here[0] = true
    /// The places behind dropped marks of a part.
    func behindMarks(_ number: Int) -> Range<Int> { (inner[number] + uneven[number].count - 1)..<inner[number + 1] }
    /// With the ends of parts some of whose dropped marks were passed.
    func settled(_ here: ContiguousArray<Bool>) -> ContiguousArray<Bool> {
      var result = here
      for (number, part) in uneven.enumerated() where here[behindMarks(number)].contains(true) {
        result[part.range.upperBound] = true
      }
      return result
    }
    for element in elements {
      let now = settled(here)
      var next = ContiguousArray(repeating: false, count: here.count)
      switch element {
      case .byte(let byte):
        for place in 0..<text.count where now[place] && text[place] == byte { next[place + 1] = true }
      case .one:
        for place in 0..<text.count where now[place] { next[WildcardPattern.next(text, place)] = true }
        for (number, part) in uneven.enumerated() {
          var isHere = now[part.range.lowerBound]
          for passed in 1...part.count {
            let following = passed < part.count ? inner[number] + passed - 1 : part.range.upperBound
            if isHere { next[following] = true }
            isHere = here[following]
          }
          for behind in behindMarks(number) {
            if isHere { next[behind] = true }
            isHere = here[behind]
          }
        }
      case .any:
        var first = now[...text.count].firstIndex(of: true) ?? text.count + 1
        for (number, part) in uneven.enumerated() {
          var isReached = part.range.lowerBound >= first
          for place in inner[number]..<inner[number + 1] {
            if here[place] { (isReached, first) = (true, min(first, part.range.upperBound)) }
            next[place] = isReached
          }
        }
        var place = first
        while place <= text.count {
          next[place] = true
          place = WildcardPattern.next(text, place)
        }
      }
      here = next
      if !here.contains(true) { return false }
    }
    return settled(here)[text.count]
  }

  private static func next(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int {
    var position = position &+ 1
    while position < text.count, text[position] & 0xC0 == 0x80 { position &+= 1 }
    return position
  }
}
