import CICU

/// Divides texts into parts that fold by themselves, to count the characters that the folding was made of. For one
/// thread at a time.
final class TextParts {
  /// A part whose folding has another number of code points than the part.
  struct Uneven: Equatable {
    /// In bytes of the folded text.
    let range: Range<Int>
    /// How many code points of the text itself the folding was made of.
    let count: Int
    /// Marks behind these, of which nothing is left.
    let droppedCount: Int
  }

  /// What a code point is within its part.
  private enum Kind {
    /// Begins a part, and marks behind it stay.
    case keeping
    /// Begins a part, and marks behind it are dropped.
    case shedding
    /// A mark that stays by itself, unless it is dropped.
    case mark
    /// Stays by itself, whatever is before it.
    case follower
    /// Becomes several, or one with what is before it.
    case uneven
  }

  private let folding: TextFolding
  private let folder = TextFolder()
  /// Of code points that are not ASCII.
  private var known: [UInt32: Kind] = [:]

  init(_ folding: TextFolding) { self.folding = folding }

  /// The uneven parts of a text in order, most often none. `size` is that of the whole folded text.
  func uneven(_ source: UnsafeBufferPointer<UInt8>, foldedSize size: Int) -> [Uneven] {
    if TextFolder.isASCII(source) { return [] }
    let text = String(decoding: source, as: UTF8.self).unicodeScalars
    if isEven(text) { return [] }
    var found: [Uneven] = []
    var start = text.startIndex, place = 0
    while start < text.endIndex {
      var end = text.index(after: start), count = 1
      while end < text.endIndex, !begins(text[end]) {
        end = text.index(after: end)
        count += 1
      }
      let part = folded(text[start..<end])
      let range = place..<(place + part.bytes.count)
      let isLetter = count > 1 && folded(text[start...start]) == part
      let made = isLetter ? 1 : count
      if isLetter || part.string.unicodeScalars.count != count {
        found.append(Uneven(range: range, count: made, droppedCount: count - made))
      }
      (start, place) = (end, range.upperBound)
    }
    // Bytes that are no text fold otherwise.
    return place == size ? found : []
  }

  private func folded(_ part: Substring.UnicodeScalarView) -> Text {
    folder.fold(Text(String(Substring(part))), folding)
  }

  /// Whether each code point becomes one. That is said of nearly all texts without a folding of their parts.
  private func isEven(_ text: String.UnicodeScalarView) -> Bool {
    var sheds = false
    for scalar in text {
      switch kind(of: scalar) {
      case .keeping: sheds = false
      case .shedding: sheds = true
      case .follower: break
      case .mark: if sheds { return false }
      case .uneven: return false
      }
    }
    return true
  }

  private func begins(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII || !folding.contains(.ignoreDiacritics) { return true }
    let role = quire_icu_role_of(UChar32(scalar.value))
    return role != QUIRE_ICU_MARK && role != QUIRE_ICU_FOLLOWER && hasBoundary(scalar)
  }

  private func hasBoundary(_ scalar: Unicode.Scalar) -> Bool {
    var status = U_ZERO_ERROR
    guard let compose = quire_icu_nfc(&status) else { return true }
    return quire_icu_has_boundary(compose, UChar32(scalar.value))
  }

  private func kind(of scalar: Unicode.Scalar) -> Kind {
    if scalar.isASCII { return 0x61...0x7A ~= scalar.value | 0x20 ? .shedding : .keeping }
    if let kind = known[scalar.value] { return kind }
    let kind = newKind(of: scalar)
    known[scalar.value] = kind
    return kind
  }

  private func newKind(of scalar: Unicode.Scalar) -> Kind {
    if folder.fold(Text(String(scalar)), folding).string.unicodeScalars.count != 1 { return .uneven }
    // Folding of case alone looks at each code point by itself.
    if !folding.contains(.ignoreDiacritics) { return .keeping }
    if !hasBoundary(scalar) { return .uneven }
    switch quire_icu_role_of(UChar32(scalar.value)) {
    case QUIRE_ICU_KEEPS_MARKS: return .keeping
    case QUIRE_ICU_SHEDS_MARKS: return .shedding
    case QUIRE_ICU_MARK: return .mark
    default: return .follower
    }
  }
}
