import CICU

/// How texts are ordered. Texts at one place of the order need not be equal.
struct TextOrder: Hashable, Sendable {
  /// The numbers are those of `quire_text_order`.
  enum Kind: UInt32, Sendable {
    case binary = 0
    case caseInsensitive = 1
    case localized = 2
    case localizedCaseInsensitive = 3
    /// Numbers within the text by their value.
    case localizedStandard = 4
  }

  static let binary = TextOrder(kind: .binary)

  /// Another version may order texts otherwise, and fold them.
  static let libraryVersion: Text = {
    let parts = quire_icu_version_parts()
    let (major, minor, patch) = (parts >> 24, parts >> 16 & 0xFF, parts >> 8 & 0xFF)
    return Text(patch == 0 ? "\(major).\(minor)" : "\(major).\(minor).\(patch)")
  }()

  let kind: Kind
  /// ICU's name of the locale; empty for the order that is common to all.
  let locale: String

  private init(kind: Kind) {
    self.kind = kind
    locale = ""
  }

  init(_ kind: Kind, locale: String = "") throws(Failure) {
    self.kind = kind
    self.locale = locale
    if kind == .binary || kind == .caseInsensitive {
      if locale.isEmpty { return }
      throw Failure(
        .invalidArgument,
        "A locale, here '\(locale)', means something to the localized orders of text only. Leave it out.")
    }
    // To ICU it would end there.
    if locale.utf8.contains(0) || !quire_icu_has_locale(locale) {
      throw Failure(
        .invalidArgument,
        "'\(locale)' is not a locale that is known here. Give one such as 'de' or 'sv_SE', or none.")
    }
  }
}
