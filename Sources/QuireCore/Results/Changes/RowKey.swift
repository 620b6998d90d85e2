/// The place of a row in the total order: its section, then its sort keys with the tie-break at the end. No two rows of
/// a list have equal keys. Handed on through every step of a batch, hence one reference and not the five of its parts.
final class RowKey: Sendable {
  let section: SectionKey
  let order: SortKey

  init(section: SectionKey, order: SortKey) {
    self.section = section
    self.order = order
  }
}

extension RowKey: Hashable {
  static func == (left: RowKey, right: RowKey) -> Bool {
    left === right || left.order == right.order && left.section == right.section
  }

  func hash(into hasher: inout Hasher) { hasher.combine(order) }
}
