/// A section that appeared (`index` counts in the list after the batch) or went (`index` counts in
/// the list before).
struct SectionChange: Hashable, Sendable {
  /// Core Data's raw values.
  enum Kind: Int, Sendable {
    case insert = 1
    case delete
  }

  var kind: Kind
  var index: Int
  var name: Text
}
