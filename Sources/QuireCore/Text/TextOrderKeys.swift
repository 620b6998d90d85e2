import CICU

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
