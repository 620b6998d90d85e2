/// A UUID of 36 characters in upper case, as stores and files of values are named.
struct UniqueIdentifier: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  static let textLength = 36

  static func random() -> UniqueIdentifier {
    var generator = SystemRandomNumberGenerator()
    let high: UInt64 = generator.next(), low: UInt64 = generator.next()
    // Version 4, and the variant of RFC 4122.
    return UniqueIdentifier(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 1 << 63)
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// nil for every other text.
  init?(_ text: some Collection<UInt8>) {
    guard text.count == UniqueIdentifier.textLength else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for (place, character) in text.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
      default: return nil
      }
      if place < 18 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
    }
    self.init(high: words.0, low: words.1)
  }

  var text: String {
    let digits = [high, low].map { word in
      let digits = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
    var text = "", start = digits.startIndex
    for (index, length) in [8, 4, 4, 4, 12].enumerated() {
      let end = digits.index(start, offsetBy: length)
      text += (index == 0 ? "" : "-") + digits[start..<end]
      start = end
    }
    return text
  }
}
