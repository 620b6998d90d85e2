import CICU

/// The sections of an index by first letters: those of some locales, and what is before, between and behind them.
/// For one thread at a time.
final class LetterSections {
  /// A text at which a section begins, and the number of the section. Sections of one script have ascending numbers.
  /// But one section may begin at several places: in Chinese, at a Latin letter and where the pinyin of that letter
  /// begin.
  private struct Boundary {
    let text: ContiguousArray<UInt8>
    let section: Int
  }

  private let collator: OpaquePointer
  private let keys: TextOrderKeys
  private var boundaries: [Boundary] = []
  private(set) var labels: [Int: Text] = [0: "#"]

  /// Where texts stand that begin with them, see the shim.
  private static let scriptMark: UInt32 = 0xFDD1
  private static let chineseMark: UInt32 = 0xFDD0
  private static func begins(_ text: String, _ mark: UInt32) -> Bool { text.unicodeScalars.first?.value == mark }

  private static let other: Text = "\u{2026}"

  init(locales: [String]) throws(Failure) {
    for locale in locales { _ = try TextOrder(.localized, locale: locale) }
    keys = try TextOrderKeys(TextOrder(.localized, locale: locales.first ?? ""))
    var status = U_ZERO_ERROR
    let opened = quire_icu_letters_open(locales.first ?? "", &status)
    guard let opened, status.rawValue <= U_ZERO_ERROR.rawValue else {
      throw Failure(
        .unsupported,
        "Text has no letters for the locale '\(locales.first ?? "")': ICU says "
          + "\(String(cString: quire_icu_error_name(status))).")
    }
    collator = opened
    let contractions = LetterSections.texts(of: quire_icu_contractions(collator, &status))
    let scripts = sorted(contractions.filter { LetterSections.begins($0, LetterSections.scriptMark) })
    var letters: [String] = []
    for locale in locales.isEmpty ? [""] : locales {
      let found = LetterSections.texts(of: quire_icu_index_letters(locale))
      // Of a language that ICU knows no index of, the root's: Latin.
      letters += found.isEmpty ? (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) } : found
    }
    let chinese = contractions.filter { LetterSections.begins($0, LetterSections.chineseMark) }
    let pinyin = chinese.filter { $0.utf8.count == 4 && $0.utf8.last.map { $0 < 0x80 } == true }
    if pinyin.isEmpty, !chinese.isEmpty { letters = chinese }
    place(sorted(letters).filter(isOneLetter), scripts)
    for text in pinyin {
      let label = Text(String(text.unicodeScalars.dropFirst()))
      guard let section = labels.first(where: { $0.value == label })?.key else { continue }
      boundaries.append(Boundary(text: ContiguousArray(text.utf8), section: section))
    }
    boundaries.sort { order($0.text, $1.text) < 0 }
  }

  deinit { quire_icu_collator_close(collator) }

  /// The number of the section that a text belongs to.
  func section(of text: Text) -> Int {
    let bytes = text.bytes.buffer
    let before = boundaries.partitionPoint { boundary in
      boundary.text.withUnsafeBufferPointer { order($0, bytes) <= 0 }
    }
    return before == 0 ? 0 : boundaries[before - 1].section
  }

  /// The last section that is called so.
  func section(called label: Text) -> Int? { labels.filter { $0.value == label }.keys.max() }

  /// Letters have odd numbers; what is between the letters of two scripts has the even number in between.
  private func place(_ letters: [String], _ scripts: [String]) {
    for (index, letter) in letters.enumerated() {
      if index > 0 {
        let skipped = scripts.filter { order(letters[index - 1], $0) < 0 && order($0, letter) <= 0 }
        // The script of the letter itself begins there, too.
        if skipped.count > 1 { add(skipped[0], 2 * index, LetterSections.other) }
      }
      let label = LetterSections.begins(letter, LetterSections.chineseMark) ? LetterSections.strokes(letter) : letter
      add(letter, 2 * index + 1, Text(label))
    }
    if let last = letters.last, let end = scripts.first(where: { order(last, $0) < 0 }) {
      add(end, 2 * letters.count, LetterSections.other)
    }
  }

  private func add(_ text: String, _ section: Int, _ label: Text) {
    boundaries.append(Boundary(text: ContiguousArray(text.utf8), section: section))
    labels[section] = label
  }

  /// Chinese indexes by the number of strokes have it in one character, by which it is called as a dictionary does.
  private static func strokes(_ letter: String) -> String {
    guard let mark = letter.unicodeScalars.dropFirst().first, (0x2801...0x28FF).contains(mark.value) else {
      return String(letter.unicodeScalars.dropFirst())
    }
    return "\(mark.value - 0x2800)\u{5283}"
  }

  /// Whether the text is one letter to the language, like the Czech ch, and no letter that others follow.
  private func isOneLetter(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, text.unicodeScalars.count > 1,
      first.value != LetterSections.chineseMark, let highest = UnicodeScalar(0xFFFF as UInt32)
    else { return true }
    // Behind its first letter and whatever follows that: then it is not just the two one after the other.
    return order(text, String(first) + String(highest)) > 0
  }

  /// In order, and of those that are one letter to the language the first, such as the one without a mark.
  private func sorted(_ texts: [String]) -> [String] {
    let keyed = texts.map { text in
      var key = SortKey()
      key.append(.text(text), textOrder: keys)
      return (key, text)
    }
    var kept: [String] = []
    for (_, text) in keyed.sorted(by: { $0.0 < $1.0 }) where kept.last.map({ order($0, text) != 0 }) ?? true {
      kept.append(text)
    }
    return kept
  }

  // MARK: Comparing

  private func order(_ left: String, _ right: String) -> Int32 {
    order(ContiguousArray(left.utf8), ContiguousArray(right.utf8))
  }

  private func order(_ left: ContiguousArray<UInt8>, _ right: ContiguousArray<UInt8>) -> Int32 {
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { order(left, $0) } }
  }

  private func order(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int32 {
    var status = U_ZERO_ERROR
    func chars(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
      UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    }
    guard let first = chars(left), let second = chars(right) else { return left.isEmpty ? right.isEmpty ? 0 : -1 : 1 }
    return quire_icu_collator_order(
      collator, first, Int32(clamping: left.count), second, Int32(clamping: right.count), &status)
  }

  // MARK: Sets

  private static func texts(of set: OpaquePointer?) -> [String] {
    guard let set else { return [] }
    defer { quire_icu_set_close(set) }
    var texts: [String] = []
    var units = ContiguousArray<UInt16>(repeating: 0, count: 64)
    for index in 0..<quire_icu_set_count(set) {
      var first: Int32 = 0, last: Int32 = 0
      let length = units.withUnsafeMutableBufferPointer {
        quire_icu_set_item(set, index, &first, &last, $0.baseAddress, Int32($0.count))
      }
      if length > 0 {
        texts.append(String(decoding: units.prefix(Int(length)), as: UTF16.self))
      } else if length == 0, first <= last {
        for point in first...last { if let scalar = UnicodeScalar(UInt32(point)) { texts.append(String(scalar)) } }
      }
    }
    return texts
  }
}
