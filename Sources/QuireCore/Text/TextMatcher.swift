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
  /// For the operators that look for the folded pattern, which it points into.
  private let search: TextSearch?
  private let foldsCase: Bool
  private let wildcards: WildcardPattern?
  /// Where `?` has to count the characters of texts that were folded.
  private let parts: TextParts?
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
    let wildcards = operation == .like ? WildcardPattern(pattern, folding, folder) : nil
    self.wildcards = wildcards
    parts = wildcards?.countsCharacters == true && !folding.isEmpty ? TextParts(folding) : nil
    folded = isPattern || collator != nil ? pattern : folder.fold(pattern, folding)
    foldsCase = folding.contains(.ignoreCase)
    let place: TextSearch.Place? =
      switch operation {
      case .contains: .anywhere
      case .beginsWith: .start
      case .endsWith: .end
      case .equal: .whole
      default: nil
      }
    let bytes = folded.bytes.buffer
    search = collator != nil ? nil : place.map { TextSearch(bytes, at: $0) }
  }

  func matches(_ text: Text) throws(Failure) -> Bool { try matches(text.bytes.buffer) }

  func matches(_ text: UnsafeBufferPointer<UInt8>) throws(Failure) -> Bool {
    if let search {
      if folding.isEmpty { return search.holds(text, foldsCase: false) }
      if !(foldsCase && search.isLong), TextFolder.isASCII(text) { return search.holds(text, foldsCase: foldsCase) }
      return folder.withFolded(text, folding) { search.holds($0, foldsCase: false) }
    }
    if let regularExpression { return try regularExpression.matches(text) }
    if let collator { return try collator.holds(operation, text, folded.bytes.buffer) }
    return folder.withFolded(text, folding.subtracting(.byLocale)) { folded in
      if let wildcards { return isLike(wildcards, folded, text) }
      return decide(folded)
    }
  }

  private func isLike(
    _ wildcards: WildcardPattern, _ folded: UnsafeBufferPointer<UInt8>, _ text: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    if wildcards.matches(folded) { return true }
    guard let uneven = parts?.uneven(text, foldedSize: folded.count), !uneven.isEmpty else { return false }
    return wildcards.matches(folded, uneven)
  }

  private func decide(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let pattern = folded.bytes
    switch operation {
    // These look for the pattern, or compare otherwise.
    case .matches, .like, .beginsWith, .endsWith, .contains, .equal: return false
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
