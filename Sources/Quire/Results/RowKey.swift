/// The place of a row in the total order: its section, then its sort keys with the tie-break at the
/// end, so that no two rows of a list have equal keys.
struct RowKey: Hashable, Sendable {
  var section: SectionKey
  var order: SortKey
}
