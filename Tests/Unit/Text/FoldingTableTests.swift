import Testing

@testable import QuireCore

/// Folding code point by code point gives what ICU makes of the whole.
@Suite struct FoldingTableTests {
  static let foldings: [TextFolding] = [.ignoreCase, .ignoreDiacritics, [.ignoreCase, .ignoreDiacritics]]

  private func text(_ points: some Sequence<UInt32>) -> Text {
    var text = String.UnicodeScalarView()
    for point in points { if let scalar = Unicode.Scalar(point) { text.append(scalar) } }
    return Text(String(text))
  }

  @Test(arguments: foldings) func everyCodePointFoldsBetweenItsNeighboursAsByICU(folding: TextFolding) {
    let folder = TextFolder(), alone = TextFolder()
    for first in stride(from: UInt32(0x80), to: 0x2_0000, by: 8) {
      let text = text(first..<(first + 9))
      #expect(
        folder.fold(text, folding).utf8 == alone.foldByICU(text, folding).utf8, "from U+\(String(first, radix: 16))")
    }
  }

  @Test(arguments: Dice.seeds(2)) func textsFoldAsByICU(seed: UInt64) {
    var dice = Dice(seed: seed)
    let folder = TextFolder()
    // The last few have signs that go to ICU.
    let ranges: [Range<UInt32>] = [
      0x20..<0x80, 0xC0..<0x250, 0x300..<0x370, 0x370..<0x400, 0x400..<0x530, 0x590..<0x840, 0x1E00..<0x2000,
      0x2000..<0x2100, 0x3040..<0x3100, 0x4E00..<0x4E40, 0xAC00..<0xAC40, 0x1F300..<0x1F340, 0x1100..<0x1200,
      0x980..<0xA00, 0x3000..<0x3040, 0xFB00..<0xFB10,
    ]
    for round in 0..<20_000 {
      let folding = Self.foldings[round % 3]
      let known = round % 2 == 0 ? ranges.count - 4 : ranges.count
      let text = text(
        (0..<dice.roll(12)).map { _ in
          let range = ranges[dice.roll(known)]
          return range.lowerBound + UInt32(dice.roll(range.count))
        })
      #expect(
        folder.fold(text, folding).utf8
          == (text.isASCII && folding == .ignoreDiacritics ? text : folder.foldByICU(text, folding)).utf8,
        "seed \(seed): \(text.string.debugDescription)")
    }
  }

  @Test func whatTheTableKnowsNeverGoesToICUAgain() {
    var asked = 0
    let folder = TextFolder()
    let table = FoldingTable([.ignoreCase, .ignoreDiacritics]) { source in
      asked += 1
      return ContiguousArray(folder.foldByICU(Text(utf8: source), [.ignoreCase, .ignoreDiacritics]).utf8)
    }
    func fold(_ text: String) -> String? {
      Array(text.utf8).withUnsafeBufferPointer { bytes in
        table.fold(bytes).map { String(decoding: $0, as: UTF8.self) }
      }
    }
    #expect(fold("\u{C9}dition \u{1F4D6} STRA\u{DF}E \u{391}\u{301}") == "edition \u{1F4D6} strasse \u{3B1}")
    let first = asked
    #expect(fold("\u{C9}dition \u{1F4D6} STRA\u{DF}E \u{391}\u{301}") == "edition \u{1F4D6} strasse \u{3B1}")
    #expect(first > 0 && asked == first)
    // Hangul that is composed of parts, and a sign of Bengali: what follows changes them.
    #expect(fold("\u{1100}\u{1161}") == nil && fold("\u{9C7}\u{9BE}") == nil)
  }

  @Test func whatIsNotTextIsLeftToICU() {
    let table = FoldingTable(.ignoreCase) { ContiguousArray($0) }
    let broken: [[UInt8]] = [
      [0x80], [0xC3], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xFF], [0xC3, 0x41],
    ]
    for bytes in broken { #expect(bytes.withUnsafeBufferPointer { table.fold($0) } == nil, "\(bytes)") }
  }
}

/// Looking for bytes eight at a time finds what looking one by one does.
@Suite struct TextSearchTests {
  @Test(arguments: Dice.seeds(3)) func patternsAreFoundWhereTheyAre(seed: UInt64) {
    var dice = Dice(seed: seed)
    let signs = Array("aAbBzZ@[`{\u{0}\u{1}".utf8)
    var found = 0
    for _ in 0..<40_000 {
      let text = (0..<dice.roll(40)).map { _ in signs[dice.roll(dice.roll(2) == 0 ? 2 : signs.count)] }
      let length = dice.roll(dice.chance(1, of: 20) ? 90 : 6)
      var pattern = (0..<length).map { _ in signs[dice.roll(signs.count)] }
      if dice.chance(2, of: 3) { pattern = Array(text.dropFirst(dice.roll(text.count + 1)).prefix(length)) }
      let foldsCase = dice.chance(1, of: 2) && pattern.count <= 64
      func lower(_ bytes: [UInt8]) -> [UInt8] { bytes.map { (65...90).contains($0) ? $0 + 32 : $0 } }
      if foldsCase { pattern = lower(pattern) }
      let searched = foldsCase ? lower(text) : text
      let starts = pattern.count <= text.count ? Array(0...(text.count - pattern.count)) : []
      let matching = starts.filter { Array(searched[$0..<($0 + pattern.count)]) == pattern }
      let expected: [(TextSearch.Place, Bool)] = [
        (.anywhere, !pattern.isEmpty && !matching.isEmpty), (.start, !pattern.isEmpty && matching.first == 0),
        (.end, !pattern.isEmpty && matching.last.map { $0 + pattern.count } == text.count),
        (.whole, searched == pattern),
      ]
      let kept = Text(utf8: pattern), bytes = Bytes(text)
      for (place, holds) in expected {
        #expect(
          TextSearch(kept.bytes.buffer, at: place).holds(bytes.buffer, foldsCase: foldsCase) == holds,
          "seed \(seed): \(pattern) in \(text), \(place), \(foldsCase)")
        if holds { found += 1 }
      }
    }
    #expect(found > 10_000)
  }
}
