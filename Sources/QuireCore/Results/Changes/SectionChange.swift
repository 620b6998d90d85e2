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
  var value = Value.nil
}

extension SectionChange {
  init(kind: Kind, index: Int, key: SectionKey) {
    self.init(kind: kind, index: index, name: key.name, value: key.value)
  }

  static func == (left: SectionChange, right: SectionChange) -> Bool {
    left.kind == right.kind && left.index == right.index && left.name == right.name
      && left.value.isIdentical(to: right.value)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(index)
    hasher.combine(name)
  }
}
