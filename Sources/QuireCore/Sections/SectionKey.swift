/// The order of a section among the others, and its name. Two rows share a section if and only if the orders are equal.
/// Name and value then stay those of the row that opened the section.
struct SectionKey: Sendable {
  var order: SortKey
  var name: Text
  /// The common value of the rows.
  var value = Value.nil
  /// For an index beside the list; nil for the first letter of the name.
  var indexTitle: Text?

  /// The key of the only section of a list without a section key path.
  static let unsectioned = SectionKey(order: SortKey(), name: "")
}

extension SectionKey: Hashable {
  static func == (left: SectionKey, right: SectionKey) -> Bool { left.order == right.order }
  func hash(into hasher: inout Hasher) { hasher.combine(order) }
}
