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

/// Makes, from text, bytes that compare with memcmp in a text order. For one thread at a time.
final class TextOrderKeys {
  let order: TextOrder
  private let collator: OpaquePointer?
  private let folder = TextFolder()
  private var units: ContiguousArray<UInt16> = []
  private var key: ContiguousArray<UInt8> = ContiguousArray(repeating: 0, count: 256)

  init(_ order: TextOrder) throws(Failure) {
    self.order = order
    switch order.kind {
    case .binary, .caseInsensitive: collator = nil
    case .localized, .localizedCaseInsensitive, .localizedStandard:
      var status = U_ZERO_ERROR
      collator = quire_icu_order_open(
        order.locale, order.kind == .localizedCaseInsensitive, order.kind == .localizedStandard, &status)
      if collator == nil || status.rawValue > U_ZERO_ERROR.rawValue {
        let reason = String(cString: quire_icu_error_name(status))
        throw Failure(.unsupported, "Text cannot be ordered for the locale '\(order.locale)': ICU says \(reason).")
      }
    }
  }

  deinit {
    if let collator { quire_icu_order_close(collator) }
  }

  func withKey<Result>(
    of text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    guard let collator else {
      return folder.withFolded(text, order.kind == .caseInsensitive ? .ignoreCase : [], body)
    }
    guard Utf16Text.decode(text, into: &units) else { return body(text) }
    var size = makeKey(collator)
    if size > key.count {
      key.append(contentsOf: repeatElement(0, count: size - key.count))
      size = makeKey(collator)
    }
    // ICU ends its keys with a zero byte, which stands nowhere else in them.
    return key.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<max(0, size - 1)])) }
  }

  private func makeKey(_ collator: OpaquePointer) -> Int {
    units.withUnsafeBufferPointer { units in
      withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1) { none in
        key.withUnsafeMutableBufferPointer { key in
          // Neither address is nil: the temporary allocation is not empty, and neither is the key.
          guard let target = key.baseAddress, let source = units.baseAddress ?? none.baseAddress.map({ .init($0) })
          else { return 0 }
          return Int(quire_icu_order_key(collator, source, Int32(units.count), target, Int32(key.count)))
        }
      }
    }
  }
}
