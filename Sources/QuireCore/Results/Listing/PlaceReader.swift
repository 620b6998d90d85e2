/// Makes the places of rows in a list from the rows of a scan.
final class PlaceReader {
  private let query: BoundQuery
  private let isSectioned: Bool
  private let sections: SectionScan?
  /// Whether rows with the same first value differ in their ids alone.
  private let firstIsAll: Bool
  private var isFirst = true
  /// Of the last row that was read.
  private(set) var section = SectionKey.unsectioned
  private(set) var order = SortKey()

  init(_ listing: Listing, _ sections: SectionScan?) {
    query = listing.query
    isSectioned = listing.isSectioned
    self.sections = sections
    firstIsAll = listing.query.sort.count + (sections == nil ? 0 : 1) <= 1
  }

  /// Reads the place of a row.
  func read(_ row: any RowScan) throws(Failure) {
    if !row.repeatsFirst(), isSectioned { section = try section(row.value(at: 0)) }
    try query.setSortKey(&order, of: row)
  }

  /// Adds the row to a list; false where it comes out of order.
  @_optimize(speed)
  func load(_ row: any RowScan, into loader: SectionedIndex.Loader) throws(Failure) -> Bool {
    let isRepeated = row.repeatsFirst()
    if isRepeated, firstIsAll, loader.addRepeated(row.id) { return true }
    if isSectioned, isFirst || !isRepeated {
      section = try section(row.value(at: 0))
      loader.begin(section)
    }
    isFirst = false
    try query.setSortKey(&order, of: row)
    return loader.add(row.id, order)
  }

  /// The section of a row by the first value that the store has for it.
  private func section(_ value: Value) throws(Failure) -> SectionKey {
    guard let sections, case .data(let order) = value else { return query.section(value) }
    return try sections.section(SortKey(bytes: ContiguousArray(order.buffer)))
  }
}
