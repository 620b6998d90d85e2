import CICU

/// Looks for a pattern in texts, eight bytes at a time. It points into the pattern, which its owner keeps.
struct TextSearch {
  enum Place: Sendable {
    case anywhere, start, end, whole
  }

  private let place: Place
  private let pattern: UnsafePointer<UInt8>
  private let count: Int
  /// The first and the last byte of the pattern, eight times each.
  private let first: UInt64
  private let last: UInt64

  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  init(_ pattern: UnsafeBufferPointer<UInt8>, at place: Place) {
    self.place = place
    self.pattern = pattern.baseAddress!
    count = pattern.count
    first = UInt64(pattern.first ?? 0) &* TextSearch.ones
    last = UInt64(pattern.last ?? 0) &* TextSearch.ones
  }

  /// Each place costs at worst the length of the pattern. The C library, whose time is linear, and which does not fold,
  /// searches for longer patterns.
  var isLong: Bool { count > 64 && place == .anywhere }

  /// Whether the bytes of `text` hold the pattern; with `foldsCase`, those of ASCII text in lower case, which a
  /// long pattern does not do. An empty pattern is found in nothing but is the whole of an empty text.
  @inline(__always)
  func holds(_ text: UnsafeBufferPointer<UInt8>, foldsCase: Bool) -> Bool {
    foldsCase ? find(UnsafeRawBufferPointer(text), LowerCase.self) : find(UnsafeRawBufferPointer(text), Unchanged.self)
  }

  private func find<Fold: ByteFold>(_ text: UnsafeRawBufferPointer, _: Fold.Type) -> Bool {
    let room = text.count &- count
    guard room >= 0 else { return false }
    guard let base = text.baseAddress else { return place == .whole }
    switch place {
    case .start: return count > 0 && isHere(base, Fold.self)
    case .end: return count > 0 && isHere(base + room, Fold.self)
    case .whole: return room == 0 && isHere(base, Fold.self)
    case .anywhere: break
    }
    if count == 0 { return false }
    if isLong { return quire_contains(base, text.count, pattern, count) }
    let ending = count &- 1
    guard room >= 7 else {
      for start in 0...room where isHere(base + start, Fold.self) { return true }
      return false
    }
    var start = 0
    while true {
      let firsts = Fold.word(base.loadUnaligned(fromByteOffset: start, as: UInt64.self)) ^ first
      let lasts = Fold.word(base.loadUnaligned(fromByteOffset: start &+ ending, as: UInt64.self)) ^ last
      // The high bit of each byte that is zero in both, and of few others.
      let either = firsts | lasts
      var hits = UInt64(littleEndian: (either &- TextSearch.ones) & ~either & TextSearch.highBits)
      while hits != 0 {
        if isHere(base + (start &+ hits.trailingZeroBitCount >> 3), Fold.self) { return true }
        hits &= hits &- 1
      }
      if start == room &- 7 { return false }
      start = min(start &+ 8, room &- 7)
    }
  }

  @inline(__always)
  private func isHere<Fold: ByteFold>(_ text: UnsafeRawPointer, _: Fold.Type) -> Bool {
    var place = 0
    while place < count {
      if Fold.byte(text.load(fromByteOffset: place, as: UInt8.self)) != pattern[place] { return false }
      place &+= 1
    }
    return true
  }
}

/// The folding of bytes before they are compared.
private protocol ByteFold {
  static func byte(_ byte: UInt8) -> UInt8
  /// The same to eight bytes of ASCII.
  static func word(_ word: UInt64) -> UInt64
}

private enum Unchanged: ByteFold {
  @inline(__always) static func byte(_ byte: UInt8) -> UInt8 { byte }
  @inline(__always) static func word(_ word: UInt64) -> UInt64 { word }
}

private enum LowerCase: ByteFold {
  @inline(__always) static func byte(_ byte: UInt8) -> UInt8 { ASCII.lowerCase(byte) }
  @inline(__always) static func word(_ word: UInt64) -> UInt64 { ASCII.lowerCase(word) }
}

/// Properties of bytes below 0x80 that need no Unicode.
enum ASCII {
  @inline(__always)
  static func lowerCase(_ byte: UInt8) -> UInt8 { byte | ((byte &- 0x41 < 26) ? 0x20 : 0) }

  /// Eight bytes, all below 0x80.
  @inline(__always)
  static func lowerCase(_ word: UInt64) -> UInt64 {
    // The high bits of bytes from A on, less those of bytes behind Z.
    let letters = (word &+ 0x3F3F_3F3F_3F3F_3F3F) & ~(word &+ 0x2525_2525_2525_2525) & 0x8080_8080_8080_8080
    return word | letters &>> 2
  }
}
