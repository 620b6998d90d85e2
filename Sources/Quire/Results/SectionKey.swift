/// What orders a section among the others, and what it is called. Two rows share a section if and
/// only if the orders are equal; the name then stays that of the row which opened the section.
struct SectionKey: Sendable {
  var order: SortKey
  var name: Text

  /// The key of the only section of a list without a section key path.
  static let unsectioned = SectionKey(order: SortKey(), name: "")
}

extension SectionKey: Hashable {
  static func == (left: SectionKey, right: SectionKey) -> Bool { left.order == right.order }
  func hash(into hasher: inout Hasher) { hasher.combine(order) }
}
