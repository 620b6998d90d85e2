/// The differences that a comparison of text ignores. Two texts are equal under it when their folded bytes are.
struct TextFolding: OptionSet, Hashable, Sendable {
  let rawValue: UInt32

  /// `[c]`: full case folding, so that `STRASSE` equals `straße`; no locale takes part.
  static let ignoreCase = TextFolding(rawValue: 1)
  /// `[d]`: decomposes, drops the nonspacing marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters, and composes
  /// again. Marks of other scripts are vowels and tones: without them, words become other words.
  static let ignoreDiacritics = TextFolding(rawValue: 2)
  /// `[l]`: texts compare as the process's locale collates them. No bytes can be folded for that; see `TextCollator`.
  static let byLocale = TextFolding(rawValue: 4)
}

extension Text {
  /// A copy of the bytes for code that reads them one by one.
  var utf8: [UInt8] { Array(bytes.buffer) }

  init(utf8 bytes: some Collection<UInt8>) { self.init(trusted: Bytes(bytes)) }
}
