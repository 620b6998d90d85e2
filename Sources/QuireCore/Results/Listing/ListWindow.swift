/// The rows from the beginning of a list to somewhat behind the end of what it shows. A row that leaves can thus be
/// replaced without a new fetch.
///
/// Rows before the window are kept, because each that comes or goes there shifts it. The window knows all rows up to
/// `end`. When too few are left, rows behind `end` are read on from there, by key.
final class ListWindow {
  /// In order, those that are not shown included.
  let rows: SectionedIndex
  /// The places that are shown.
  let range: Range<Int>
  /// How many rows behind the window are read with it.
  private let spare: Int
  /// Every row of the list up to here is known; nil when there are no others.
  private var end: Listing.Mark?

  init(_ range: Range<Int>, spare: Int, isSectioned: Bool) {
    self.range = range
    self.spare = spare
    rows = SectionedIndex(isSectioned: isSectioned)
  }

  var isComplete: Bool { end == nil }

  func isBehindEnd(_ key: RowKey) -> Bool {
    guard let end else { return false }
    return end.key < key.order
  }

  /// Reads the first rows.
  func load(
    _ listing: Listing, _ query: BoundQuery, in context: Context, _ aggregates: AggregateTable?
  ) throws(Failure) {
    let loader = SectionedIndex.Loader(rows)
    let (pending, end) = try listing.read(query, in: context, aggregates, atMost: most(range.upperBound)) {
      loader.add($0, $1)
    }
    loader.finish()
    _ = rows.apply(pending)
    self.end = end
  }

  /// Takes on what became of rows, and reads others where too few are left. A second report of the same change does no
  /// harm.
  func take(
    _ changes: [RowChange], _ listing: Listing, in context: Context, _ aggregates: AggregateTable?
  ) throws(Failure) {
    _ = rows.apply(
      changes.map { change in
        guard let key = change.newKey, isBehindEnd(key) else { return change }
        return RowChange(id: change.id, newKey: nil)
      })
    while let start = end, rows.count < range.upperBound {
      var found: [RowChange] = []
      let (pending, end) = try listing.read(
        listing.query, in: context, aggregates, after: start, atMost: most(range.upperBound - rows.count)
      ) { id, key in
        found.append(RowChange(id: id, newKey: key))
      }
      // Another writer may have put a known row behind the end; it goes there when that is merged.
      _ = rows.apply((found + pending).filter { !rows.contains($0.id) })
      self.end = end
    }
    try forgetFar(listing, in: context, aggregates)
  }

  private func most(_ count: Int) -> Int? {
    let (sum, overflow) = count.addingReportingOverflow(spare)
    return overflow ? nil : sum
  }

  /// Drops rows far behind the window. The new end must be a saved place, which the store can go on from.
  private func forgetFar(_ listing: Listing, in context: Context, _ aggregates: AggregateTable?) throws(Failure) {
    guard let kept = most(range.upperBound), kept > 0, rows.count - kept > max(kept, spare),
      let id = rows.id(atFlat: kept - 1), let key = rows.key(of: id),
      let mark = try listing.mark(of: id, in: context), mark.key == key.order
    else { return }
    let far = rows.ids(in: kept..<rows.count)
    _ = rows.apply(far.map { RowChange(id: $0, newKey: nil) })
    aggregates?.doubt(far)
    end = mark
  }

  // MARK: What is shown

  var shown: [(id: Int64, key: RowKey)] {
    rows.ids(in: range).compactMap { id in rows.key(of: id).map { (id, $0) } }
  }

  /// What brings `index`, which shows the window as it was before `changes`, up to date. O(k log N).
  func changes(of index: SectionedIndex, after changes: [RowChange]) -> [RowChange] {
    var settled: Set<Int64> = []
    var result: [RowChange] = []
    func settle(_ id: Int64, isUpdated: Bool, _ names: [Text] = []) {
      guard settled.insert(id).inserted else { return }
      let isShown = rows.path(of: id).map { range.contains($0.flat) } ?? false
      if isShown {
        result.append(RowChange(id: id, newKey: rows.key(of: id), isUpdated: isUpdated, names: names))
      } else if index.contains(id) {
        result.append(RowChange(id: id, newKey: nil))
      }
    }
    for change in changes { settle(change.id, isUpdated: change.isUpdated, change.names) }
    let touched = settled
    // The other rows have their order still, so that they leave and enter at both ends, up to one that stays.
    func leaves(_ place: Int) -> Bool {
      guard let id = index.id(atFlat: place) else { return false }
      if touched.contains(id) { return true }
      if let place = rows.path(of: id)?.flat, range.contains(place) { return false }
      settle(id, isUpdated: false)
      return true
    }
    func enters(_ place: Int) -> Bool {
      guard let id = rows.id(atFlat: place) else { return false }
      if touched.contains(id) { return true }
      if index.contains(id) { return false }
      settle(id, isUpdated: false)
      return true
    }
    let old = 0..<index.count, new = range.clamped(to: 0..<rows.count)
    _ = old.first { !leaves($0) }
    _ = old.reversed().first { !leaves($0) }
    _ = new.first { !enters($0) }
    _ = new.reversed().first { !enters($0) }
    return result
  }

  /// Every broken promise as a sentence, `index` being what is shown; empty when it is sound. For tests.
  func checkInvariants(showing index: SectionedIndex) -> [String] {
    var problems = rows.checkInvariants()
    let ids = rows.ids(in: range)
    if ids != index.ids(in: 0..<index.count) {
      problems.append("The window shows other rows than those at its places.")
    }
    for id in ids where rows.key(of: id) != index.key(of: id) {
      problems.append("Row \(id) is shown by another key than its own.")
    }
    if let end {
      for id in rows.ids(in: 0..<rows.count) where rows.key(of: id).map({ end.key < $0.order }) == true {
        problems.append("Row \(id) is behind the end of what is known.")
      }
      if rows.count < range.upperBound { problems.append("The window is not full, although there are rows behind it.") }
    }
    return problems
  }
}
