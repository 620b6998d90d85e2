import CICU
import Glibc

/// One text operator with its pattern compiled: built once, then asked row by row without allocation.
///
/// For one thread at a time, because it reuses its buffers.
final class TextMatcher {
  enum Operation: UInt32, Sendable {
    case less = 0
    case lessOrEqual = 1
    case greater = 2
    case greaterOrEqual = 3
    case equal = 4
    case notEqual = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case contains = 99
  }

  let operation: Operation
  let folding: TextFolding
  let pattern: Text
  private let folder: TextFolder
  private let folded: Text
  private let wildcards: WildcardPattern?
  private let regularExpression: RegularExpression?
  /// Under [l], which changes nothing for LIKE and MATCHES: these compare sign by sign.
  private let collator: TextCollator?

  init(_ operation: Operation, _ folding: TextFolding, pattern: Text) throws(Failure) {
    self.operation = operation
    self.folding = folding
    self.pattern = pattern
    let folder = TextFolder()
    self.folder = folder
    let isPattern = operation == .matches || operation == .like
    collator = folding.contains(.byLocale) && !isPattern ? try TextCollator(folding) : nil
    let folding = folding.subtracting(.byLocale)
    regularExpression = operation == .matches ? try RegularExpression(pattern, folding) : nil
    wildcards = operation == .like ? WildcardPattern(pattern, folding, folder) : nil
    folded = isPattern || collator != nil ? pattern : folder.fold(pattern, folding)
  }

  func matches(_ text: Text) throws(Failure) -> Bool { try matches(text.bytes.buffer) }

  func matches(_ text: UnsafeBufferPointer<UInt8>) throws(Failure) -> Bool {
    if let regularExpression { return try regularExpression.matches(text) }
    if let collator { return try collator.holds(operation, text, folded.bytes.buffer) }
    return folder.withFolded(text, folding.subtracting(.byLocale)) { decide($0) }
  }

  /// The empty pattern is found nowhere: CONTAINS, BEGINSWITH and ENDSWITH are false for it.
  private func decide(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let pattern = folded.bytes
    switch operation {
    case .like: return wildcards?.matches(text) ?? false
    case .matches: return false
    case .beginsWith:
      return pattern.count > 0 && text.count >= pattern.count
        && memcmp(text.baseAddress!, pattern.start, pattern.count) == 0
    case .endsWith:
      return pattern.count > 0 && text.count >= pattern.count
        && memcmp(text.baseAddress! + (text.count - pattern.count), pattern.start, pattern.count) == 0
    case .contains:
      return pattern.count > 0 && text.count >= pattern.count
        && quire_contains(text.baseAddress, text.count, pattern.start, pattern.count)
    case .equal: return order(text, pattern) == 0
    case .notEqual: return order(text, pattern) != 0
    case .less: return order(text, pattern) < 0
    case .lessOrEqual: return order(text, pattern) <= 0
    case .greater: return order(text, pattern) > 0
    case .greaterOrEqual: return order(text, pattern) >= 0
    }
  }

  private func order(_ text: UnsafeBufferPointer<UInt8>, _ pattern: Bytes) -> Int {
    guard let base = text.baseAddress else { return -pattern.count }
    let shared = memcmp(base, pattern.start, min(text.count, pattern.count))
    return shared != 0 ? Int(shared) : text.count - pattern.count
  }
}
