import Testing

@testable import QuireCore

@Suite struct PredicateTextTests {
  private func matches(
    _ text: String, _ operation: TextMatcher.Operation, _ pattern: String, _ folding: TextFolding = []
  ) throws -> Bool {
    try TextMatcher(operation, folding, pattern: Text(pattern)).matches(Text(text))
  }

  private let both: TextFolding = [.ignoreCase, .ignoreDiacritics]

  @Test func `folding ignores case fully and marks that decompose`() throws {
    let equals: [(String, String, TextFolding)] = [
      ("STRASSE", "straße", .ignoreCase), ("ΣΑΣ", "σας", .ignoreCase), ("É", "é", .ignoreCase),
      ("é", "e", .ignoreDiacritics),
      ("e\u{301}", "é", .ignoreDiacritics), ("ÅNGSTRÖM", "angstrom", both), ("İ", "i", both),
      ("\u{212A}", "k", .ignoreCase),
      ("각", "\u{1100}\u{1161}\u{11A8}", .ignoreDiacritics), ("ABC", "abc", both),
    ]
    for (left, right, folding) in equals { #expect(try matches(left, .equal, right, folding), "\(left) \(right)") }
    let differs: [(String, String, TextFolding)] = [
      ("é", "e", .ignoreCase), ("É", "é", .ignoreDiacritics), ("ø", "o", both), ("각", "가", both), ("e\u{301}", "é", []),
    ]
    for (left, right, folding) in differs { #expect(try !matches(left, .equal, right, folding), "\(left) \(right)") }
    #expect(try !matches("각", .contains, "가", both))
  }

  @Test func `folding long text in one go gives the same as folding its parts`() {
    let folder = TextFolder()
    let part = "Straße ÉÅİ 각 abc "
    let folded = folder.fold(Text(part), both).string
    let long = folder.fold(Text(String(repeating: part, count: 5000)), both).string
    #expect(long == String(repeating: folded, count: 5000))
    #expect(folder.fold("", both).isEmpty)
    #expect(folder.fold("e\u{301}", .ignoreDiacritics) == "e" && folder.fold("\u{301}", both) == "\u{301}")
  }

  @Test func `the empty text is found nowhere, yet equals itself`() throws {
    for operation in [TextMatcher.Operation.contains, .beginsWith, .endsWith] {
      for text in ["", "a", "é"] { #expect(try !matches(text, operation, "", both)) }
      #expect(try !matches("a", operation, "\u{301}", .ignoreDiacritics))
    }
    #expect(
      try matches("", .equal, "") && matches("", .like, "") && matches("", .like, "*") && matches("", .matches, ""))
  }

  @Test func `LIKE matches whole texts by code points`() throws {
    let holds = [
      ("abc", "a*"), ("abc", "*"), ("abc", "a?c"), ("日本", "??"), ("a*c", #"a\*c"#), (#"a\c"#, #"a\\c"#),
      ("abcabc", "*abc"), ("a\nb", "a*b"),
      ("aXbXc", "a*b*c"), ("日本語", "*本?"), (#"a\"#, #"a\"#), ("[ab]", "[ab]"),
    ]
    for (text, pattern) in holds { #expect(try matches(text, .like, pattern), "\(text) \(pattern)") }
    let fails = [
      ("abc", "b*"), ("abc", "?"), ("", "?"), ("axc", #"a\*c"#), ("abc", "a*d"), ("日本", "?"), ("abc", "ab"),
      ("aab", "a+b"),
    ]
    for (text, pattern) in fails { #expect(try !matches(text, .like, pattern), "\(text) \(pattern)") }
    #expect(try matches("ÀBC", .like, "a*C", both) && !matches("ÀBC", .like, "a*C"))
  }

  @Test func `LIKE stays fast where naive matching is exponential`() throws {
    let text = String(repeating: "a", count: 20_000)
    #expect(try !matches(text, .like, String(repeating: "a*", count: 50) + "b"))
  }

  @Test func `LIKE agrees with a plain recursive matcher on random texts`() throws {
    func plain(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
      guard let first = pattern.first else { return text.isEmpty }
      switch first {
      case "*": return plain(text, pattern.dropFirst()) || (!text.isEmpty && plain(text.dropFirst(), pattern))
      case "?": return !text.isEmpty && plain(text.dropFirst(), pattern.dropFirst())
      default: return text.first == first && plain(text.dropFirst(), pattern.dropFirst())
      }
    }
    for seed in UInt64(1)...4 {
      var random = SplitMix(seed: seed)
      for _ in 0..<3000 {
        let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in random.pick(["a", "b", "é"] as [Character]) }
        let pattern = (0..<Int.random(in: 0...7, using: &random)).map { _ in
          random.pick(["a", "b", "é", "*", "?"] as [Character])
        }
        #expect(
          try matches(String(text), .like, String(pattern)) == plain(text[...], pattern[...]),
          "seed \(seed): \(String(text)) LIKE \(String(pattern))")
      }
    }
  }

  @Test func `MATCHES matches whole texts, across lines`() throws {
    let holds = [("a\nb", ".*^b$"), ("a\nb", "a.b"), ("ab", "^ab$"), ("日本", "\\w{2}"), ("\u{1F600}", ".")]
    for (text, pattern) in holds { #expect(try matches(text, .matches, pattern), "\(text) \(pattern)") }
    #expect(try !matches("abc", .matches, "b") && !matches("a\nb", .matches, "^a$"))
    #expect(try matches("ÀB", .matches, "[a-à]b", both) && matches("aB", .matches, "Ab", .ignoreCase))
    #expect(try matches("crème", .matches, "crEmé", both))
  }

  @Test func `a pattern that is malformed or runs away is an error`() throws {
    for pattern in ["(", "[a", "*", "a{2,1}", "\\"] {
      let failure = #expect(throws: Failure.self, "\(pattern)") { try matches("a", .matches, pattern) }
      #expect(failure?.kind == .invalidPredicate)
    }
    let failure = #expect(throws: Failure.self) {
      try matches(String(repeating: "a", count: 100) + "!", .matches, "(a+)+b")
    }
    #expect(failure?.message.string.contains("takes too long") == true)
    #expect(throws: Failure.self) { try matches(String(repeating: "ab", count: 2_000_000), .matches, "(a|b|ab)*c") }
  }
}
