import CICU

/// Folds text code point by code point, with ICU's result for each of them, which is asked once.
///
/// The result is that of folding the whole text where no code point changes the folding of its neighbour. `[d]`
/// drops marks by the letter before them, and composes again: there signs of Hangul and of some scripts of India change
/// their neighbours. Text with these, and with marks that stay, goes to ICU, as does text that is not UTF-8. For one
/// thread at a time.
final class FoldingTable {
  let folding: TextFolding
  private let foldsCase: Bool
  /// Folds one code point.
  private let ask: (UnsafeBufferPointer<UInt8>) -> ContiguousArray<UInt8>
  /// For each 64 code points below 0x10000, once one is needed: the number of bytes in the lowest byte, then these
  /// bytes. 0 while a code point was not asked about.
  private let pages: UnsafeMutablePointer<UnsafeMutablePointer<UInt64>?>
  private var target: UnsafeMutableRawPointer
  private var capacity = 256

  private static let pageCount = 1024
  private static let unknown: UInt64 = 0xFF
  /// A mark that the letter before it decides about.
  private static let mark: UInt64 = 0xFE
  /// How far the letter of a mark is looked for.
  private static let mostMarks = 32
  /// Longer texts are rare, and would keep their memory.
  private static let longest = 1 << 20

  init(_ folding: TextFolding, ask: @escaping (UnsafeBufferPointer<UInt8>) -> ContiguousArray<UInt8>) {
    self.folding = folding
    self.ask = ask
    foldsCase = folding.contains(.ignoreCase)
    pages = .allocate(capacity: FoldingTable.pageCount)
    pages.initialize(repeating: nil, count: FoldingTable.pageCount)
    target = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit {
    for place in 0..<FoldingTable.pageCount { pages[place]?.deallocate() }
    pages.deallocate()
    target.deallocate()
  }

  /// The folded bytes, which hold until the next call; nil when ICU has to look at the whole.
  func fold(_ source: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    guard let base = UnsafeRawPointer(source.baseAddress), source.count <= FoldingTable.longest else { return nil }
    let count = source.count
    // Two bytes become seven at most, and eight are written at a time.
    if capacity < count * 4 + 8 {
      target.deallocate()
      capacity = count * 8 + 8
      target = .allocate(byteCount: capacity, alignment: 8)
    }
    let target = target, pages = pages
    var read = 0, written = 0
    while read < count {
      let start = read
      if read &+ 8 <= count {
        let word = base.loadUnaligned(fromByteOffset: read, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 == 0 {
          target.storeBytes(of: foldsCase ? ASCII.lowerCase(word) : word, toByteOffset: written, as: UInt64.self)
          read &+= 8
          written &+= 8
          continue
        }
      }
      let byte = base.load(fromByteOffset: read, as: UInt8.self)
      if byte < 0x80 {
        target.storeBytes(of: foldsCase ? ASCII.lowerCase(byte) : byte, toByteOffset: written, as: UInt8.self)
        read &+= 1
        written &+= 1
        continue
      }
      func following(_ distance: Int) -> Int? {
        guard read &+ distance < count else { return nil }
        let byte = base.load(fromByteOffset: read &+ distance, as: UInt8.self)
        return byte & 0xC0 == 0x80 ? Int(byte & 0x3F) : nil
      }
      let page: Int, place: Int
      switch byte {
      case 0xC2...0xDF:
        guard let second = following(1) else { return nil }
        (page, place) = (Int(byte & 0x1F), second)
        read &+= 2
      case 0xE0...0xEF:
        guard let second = following(1), let third = following(2) else { return nil }
        (page, place) = (Int(byte & 0x0F) << 6 | second, third)
        // Longer than need be, or half of a pair.
        if page < 0x20 || 0x360...0x37F ~= page { return nil }
        read &+= 3
      case 0xF0:
        // Pictures, which nothing happens to.
        guard let second = following(1), second == 0x1F, following(2) != nil, following(3) != nil else { return nil }
        let sign = base.loadUnaligned(fromByteOffset: read, as: UInt32.self)
        target.storeBytes(of: sign, toByteOffset: written, as: UInt32.self)
        read &+= 4
        written &+= 4
        continue
      default: return nil
      }
      var entry = pages[page]?[place] ?? 0
      if entry == 0 { entry = add(page, place) }
      if entry & 0xFF >= FoldingTable.mark {
        guard entry & 0xFF == FoldingTable.mark, FoldingTable.shedsMarks(source, before: start) else { return nil }
        continue
      }
      target.storeBytes(of: (entry >> 8).littleEndian, toByteOffset: written, as: UInt64.self)
      written &+= Int(entry & 0xFF)
    }
    return UnsafeBufferPointer(start: target.assumingMemoryBound(to: UInt8.self), count: written)
  }

  private func add(_ number: Int, _ place: Int) -> UInt64 {
    let page: UnsafeMutablePointer<UInt64>
    if let known = pages[number] {
      page = known
    } else {
      page = .allocate(capacity: 64)
      page.initialize(repeating: 0, count: 64)
      pages[number] = page
    }
    let entry = entry(of: UInt32(number << 6 | place))
    page[place] = entry
    return entry
  }

  private func entry(of point: UInt32) -> UInt64 {
    guard let scalar = Unicode.Scalar(point), FoldingTable.standsAlone(point, folding) else {
      return FoldingTable.unknown
    }
    if folding.contains(.ignoreDiacritics), quire_icu_role_of(UChar32(point)) == QUIRE_ICU_MARK {
      return FoldingTable.mark
    }
    let bytes = Array(String(Character(scalar)).utf8)
    return bytes.withUnsafeBufferPointer { source in
      let folded = ask(source)
      guard folded.count <= 7 else { return FoldingTable.unknown }
      var entry: UInt64 = 0
      for byte in folded.reversed() { entry = entry << 8 | UInt64(byte) }
      // What folds to nothing is known as well.
      return folded.isEmpty ? 1 << 8 : entry << 8 | UInt64(folded.count)
    }
  }

  /// Whether the letter before a mark is near and sheds its marks. Expects that the bytes before were UTF-8.
  private static func shedsMarks(_ source: UnsafeBufferPointer<UInt8>, before end: Int) -> Bool {
    var end = end
    for _ in 0..<mostMarks where end > 0 {
      var start = end &- 1
      while start > 0, source[start] & 0xC0 == 0x80 { start &-= 1 }
      guard let scalar = String(decoding: source[start..<end], as: UTF8.self).unicodeScalars.first else { return false }
      let role = quire_icu_role_of_composed(UChar32(scalar.value))
      if role == QUIRE_ICU_SHEDS_MARKS { return true }
      if role == QUIRE_ICU_KEEPS_MARKS { return false }
      end = start
    }
    return false
  }

  /// Whether its neighbours do not matter; a test compares what this says with ICU.
  private static func standsAlone(_ point: UInt32, _ folding: TextFolding) -> Bool {
    if !folding.contains(.ignoreDiacritics) { return true }
    switch point {
    // Latin, Greek, Cyrillic, Hebrew, Arabic and their neighbours.
    case 0..<0x840: return true
    // More of Latin and Greek; punctuation, signs, symbols.
    case 0x1E00..<0x2C00: return true
    // Chinese, Japanese and Korean, without the tone marks of Hangul, which are marks of another kind.
    case 0x302E, 0x302F: return false
    case 0x3000..<0xA000, 0xAC00..<0xD7A4: return true
    default: return false
    }
  }
}
