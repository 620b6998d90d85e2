import Testing

@testable import QuireCore

/// What a text index relies on: the search text of a part is a part of the search text.
@Suite struct SearchTextTests {
  static let foldings: [TextFolding] = [[], .ignoreCase, .ignoreDiacritics, [.ignoreCase, .ignoreDiacritics]]
  /// Signs that folding, normalization and regular expressions treat in ways of their own.
  static let signs: [String] = [
    "a", "B", "s", "S", "i", "I", "e", "f", "l", " ", "1", "\u{E9}", "\u{C9}", "e\u{301}", "\u{301}", "\u{323}\u{301}",
    "\u{DF}", "\u{1E9E}", "ss", "SS", "\u{130}", "\u{131}", "\u{FB01}", "\u{FB03}", "\u{149}", "\u{1F0}", "\u{3A9}",
    "\u{3B9}", "\u{399}", "\u{345}", "\u{1FB3}", "\u{1FBC}", "\u{1FB7}", "\u{390}", "\u{3B1}", "\u{3C2}", "\u{3A3}",
    "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", "\u{6F22}", "\u{5B57}", "\u{1F4D6}",
    "\u{1F469}\u{200D}\u{1F469}", "\u{9C7}", "\u{9BE}", "\u{9CB}", "\u{302E}", "\u{94D}", "\u{1D165}", "\u{0}", "'",
    "\"", "\u{FFFD}", "\u{1E69}", "\u{17F}", "\u{212A}", "K", "\u{B5}",
  ]

  private func contains(_ text: Text, _ part: Text) -> Bool {
    let text = Array(text.bytes.buffer), part = Array(part.bytes.buffer)
    if part.isEmpty { return true }
    guard text.count >= part.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
  }

  static func text(_ dice: inout Dice, upTo longest: Int) -> String {
    var text = ""
    for _ in 0..<dice.roll(longest + 1) { text += dice.pick(signs) ?? "" }
    return text
  }

  @Test func everyCodePointMapsAsItsFoldingsMapButForTheIotaSubscript() {
    let folder = TextFolder()
    func lines(_ text: Text) -> [[UInt8]] {
      text.bytes.buffer.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
    }
    func withoutIota(_ line: [UInt8]) -> [UInt8] {
      Array(String(String(decoding: line, as: UTF8.self).unicodeScalars.filter { $0.value != 0x3B9 }).utf8)
    }
    var differing = 0
    // What is left out has signs that fold to themselves, or none.
    let ranges: [Range<UInt32>] = [0x20..<0x3400, 0xA000..<0xD800, 0xF800..<0x2_0000, 0x2_F800..<0x2_FC00]
    var blocks: [UInt32] = [0xE_0020]
    for range in ranges { blocks += Array(stride(from: range.lowerBound, to: range.upperBound, by: 0x400)) }
    for block in blocks {
      let scalars = (block..<block + 0x400).compactMap(Unicode.Scalar.init)
      let source = Text(scalars.map { "\($0)" }.joined(separator: "\n"))
      let whole = folder.searchText(source)
      for folding in SearchTextTests.foldings {
        let wholeFolded = folder.searchText(folder.fold(source, folding))
        if wholeFolded == whole { continue }
        let mapped = lines(whole), folded = lines(wholeFolded)
        guard folded.count == mapped.count else {
          Issue.record("folding \(folding.rawValue) of the block at \(block) moves line ends")
          continue
        }
        for (place, scalar) in scalars.enumerated() where folded[place] != mapped[place] {
          differing += 1
          #expect(folding == .ignoreCase, "U+\(String(scalar.value, radix: 16)) under \(folding.rawValue)")
          #expect(withoutIota(folded[place]) == withoutIota(mapped[place]))
        }
      }
    }
    #expect(differing > 0 && differing < 100, "the iota subscript is in a few dozen letters, not \(differing)")
  }

  @Test(arguments: Dice.seeds(2)) func theSearchTextOfTextsPutTogetherIsThatOfTheParts(seed: UInt64) {
    var dice = Dice(seed: seed)
    let folder = TextFolder()
    for _ in 0..<5000 {
      let left = Self.text(&dice, upTo: 6), right = Self.text(&dice, upTo: 6)
      var both = left.unicodeScalars
      both.append(contentsOf: right.unicodeScalars)
      let whole = folder.searchText(Text(String(both)))
      let parts = folder.searchText(Text(left)).utf8 + folder.searchText(Text(right)).utf8
      #expect(whole.utf8 == parts, "seed \(seed): \(left.debugDescription) + \(right.debugDescription)")
    }
  }

  @Test(arguments: Dice.seeds(3)) func whatAnOperatorFindsHasAllItsLiterals(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let folder = TextFolder()
    let operations: [TextMatcher.Operation] = [.contains, .beginsWith, .endsWith, .equal, .like, .matches]
    var held = 0, known = 0
    for _ in 0..<30_000 {
      let text = Text(Self.text(&dice, upTo: 7))
      let operation = dice.pick(operations) ?? .contains, folding = dice.pick(Self.foldings) ?? []
      let pattern = Self.pattern(&dice, of: text, operation)
      guard let matcher = try? TextMatcher(operation, folding, pattern: pattern) else { continue }
      // An expression may take more memory than it is given.
      guard (try? matcher.matches(text)) == true else { continue }
      held += 1
      let literals = SearchLiterals.of(operation, pattern, folding)
      let searched = folder.searchText(text)
      if !Trigram.all(in: literals).isEmpty { known += 1 }
      for literal in literals {
        let trigrams = Set(Trigram.all(in: searched.bytes.buffer))
        #expect(
          contains(searched, literal) && trigrams.isSuperset(of: Trigram.all(in: [literal])),
          "seed \(seed): \(text) \(operation) [\(folding.rawValue)] \(pattern) needs \(literal)")
      }
    }
    #expect(held > 2000 && known > 300, "\(held) matches, \(known) of them with trigrams")
  }

  /// Mostly one that finds the text: a part of it, in another case or form, with wildcards or as an expression.
  static func pattern(_ dice: inout Dice, of text: Text, _ operation: TextMatcher.Operation) -> Text {
    var scalars = Array(text.string.unicodeScalars)
    switch operation {
    case .contains: scalars = scalars.dropFirst(dice.roll(3)).dropLast(dice.roll(3)).map { $0 }
    case .beginsWith: scalars = scalars.dropLast(dice.roll(3)).map { $0 }
    case .endsWith: scalars = scalars.dropFirst(dice.roll(3)).map { $0 }
    default: break
    }
    let folder = TextFolder()
    var result = ""
    for scalar in scalars {
      var sign = String(scalar)
      if dice.chance(1, of: 6) { sign = sign.uppercased() }
      if dice.chance(1, of: 6) { sign = sign.lowercased() }
      if dice.chance(1, of: 6) { sign = folder.fold(Text(sign), dice.pick(foldings) ?? []).string }
      switch operation {
      case .like:
        if dice.chance(1, of: 8) { sign = "*" }
        if dice.chance(1, of: 8) { sign = "?" }
        if dice.chance(1, of: 8) { sign = "\\" + sign }
      case .matches:
        switch dice.roll(24) {
        case 0: sign = "."
        case 1: sign += "+"
        case 2: sign += "*"
        case 3: sign += "?"
        case 4: sign = "(\(sign)|x)"
        case 5: sign = "[\(sign)]"
        case 6: sign = "(?:\(sign)y?)+"
        case 7: sign += "{1,2}"
        case 8: sign = "[^\\]x]"
        case 9: sign = "\\w*\(sign)"
        case 10: sign = "\\b?\(sign)"
        case 11: sign = "(?i)\(sign)"
        case 12: sign = "\\Q\(sign)\\E"
        default: break
        }
      default: break
      }
      result.unicodeScalars.append(contentsOf: sign.unicodeScalars)
    }
    if operation == .matches, dice.chance(1, of: 10) { result += "|zzz" }
    return Text(result)
  }

  @Test func theLocaleKnowsNoLiterals() {
    #expect(SearchLiterals.of(.contains, "abc", .byLocale).isEmpty)
    #expect(SearchLiterals.of(.less, "abc", []).isEmpty && SearchLiterals.of(.notEqual, "abc", .ignoreCase).isEmpty)
  }

  @Test func anExpressionKeepsWhatMustOccurAndGivesUpWhereItMeansSomethingElse() {
    func literals(_ pattern: String) -> [String] { RegularExpressionLiterals(Text(pattern)).texts.map(\.string) }
    #expect(literals("abc") == ["abc"])
    #expect(literals(".*abc.*def") == ["abc", "def"])
    #expect(literals("abc?d") == ["ab", "d"])
    #expect(literals("abc+d") == ["abc", "d"])
    #expect(literals("abc*?d{2,3}+e") == ["ab", "e"])
    #expect(literals("abc(d|e)f[g-i\\]]j") == ["abc", "f", "j"])
    #expect(literals("a\\.b\\d+c") == ["a.b", "c"])
    #expect(literals("(a(b|c)[)])?def") == ["def"])
    for pattern in ["abc|def", "(?i)abc", "abc(?=d)", "\\Qabc\\E", "abc\\u0041", "[]abc]", "abc)", "a{x}bcd", "[[abc"] {
      #expect(literals(pattern) == [], "\(pattern)")
    }
  }
}
