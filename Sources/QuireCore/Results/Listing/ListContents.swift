/// A listing with its rows as they were last worked out.
struct ListContents {
  let listing: Listing
  /// The index of the shown rows.
  let index: SectionedIndex
  /// The rows around it, where a limit or an offset leaves some out.
  let window: ListWindow?
  /// What is calculated of what is shown, where something is.
  let aggregates: AggregateTable?

  /// Without any rows.
  init(_ listing: Listing) {
    self.listing = listing
    index = SectionedIndex(isSectioned: listing.isSectioned, fixed: listing.fixedSections)
    window = listing.window.map {
      ListWindow($0, spare: listing.spareRows, isSectioned: listing.isSectioned)
    }
    aggregates =
      listing.aggregates.isEmpty ? nil : AggregateTable(listing.aggregates, isSectioned: listing.isSectioned)
  }

  /// With an index of all rows, which nothing else has.
  init(_ listing: Listing, _ index: SectionedIndex) {
    assert(listing.window == nil && listing.aggregates.isEmpty)
    self.listing = listing
    self.index = index
    window = nil
    aggregates = nil
  }

  /// All rows that are known.
  var rows: SectionedIndex { window?.rows ?? index }

  /// Whether the row is in the list, shown or not; of a row behind all known rows that is unknown.
  func contains(_ id: Int64) -> Bool { rows.contains(id) }
  func mayContain(_ id: Int64) -> Bool { rows.contains(id) || window?.isComplete == false }

  /// Reads what is needed to take on what became of rows. What is shown stays as it is.
  func prepare(_ changes: [RowChange], in context: Context) throws(Failure) {
    if !changes.isEmpty { try window?.take(changes, listing, in: context, aggregates) }
  }

  /// The changes of the shown rows, after `prepare`.
  func shownChanges(_ changes: [RowChange]) -> [RowChange] {
    if let window { return window.changes(of: index, after: changes) }
    // The rows that came and went while the list was suspended.
    func isShown(_ change: RowChange) -> Bool { change.isIn || index.contains(change.id) }
    return changes.allSatisfy(isShown) ? changes : changes.filter(isShown)
  }

  /// Brings what is shown up to date, after `prepare`.
  func apply(_ changes: [RowChange]) -> ChangeSet {
    let shown = shownChanges(changes)
    let report = index.apply(shown)
    return report.calculating(aggregates?.apply(changes, shown: shown, self) ?? [])
  }

  /// Takes over changes without a report; false, and nothing is taken over, where there is something to report.
  func takeQuietly(_ changes: [RowChange]) -> Bool {
    let shown = shownChanges(changes)
    guard let aggregates else { return shown.isEmpty }
    // What only aggregates are made of may leave them as they are: a value that is not the least, and was not.
    if shown.contains(where: { $0.isUpdated || $0.newKey == nil || $0.newKey != index.key(of: $0.id) }) { return false }
    let former = shown.map { RowChange(id: $0.id, newKey: $0.newKey, values: aggregates.values(of: $0.id) ?? []) }
    if aggregates.apply(changes, shown: shown, self).isEmpty { return true }
    _ = aggregates.apply(former, shown: shown, self)
    return false
  }

  /// Whether it has an object as that is now.
  func isUpToDate(with object: ManagedObject) throws(Failure) -> Bool {
    guard try listing.key(of: object) == index.key(of: object.id) else { return false }
    guard let aggregates else { return true }
    let values = aggregates.values(of: object.id) ?? []
    return try values.elementsEqual(listing.values(of: object)) { $0.isIdentical(to: $1) }
  }

  /// Gives a row the permanent id of its object. False when that may put it elsewhere: it then stands where it stood,
  /// and takes its place when the object is looked at again.
  func rename(_ temporary: Int64, to object: ManagedObject) -> Bool {
    var isSettled = true
    aggregates?.rename(temporary, to: object.id)
    let key = try? listing.key(of: object)
    for index in window.map({ [index, $0.rows] }) ?? [index] {
      guard let present = index.key(of: temporary) else { continue }
      if let key, index.replaceID(temporary, with: object.id, key: key) { continue }
      _ = index.replaceID(temporary, with: object.id, key: present)
      isSettled = false
    }
    // A row that was behind the end may be before it now.
    if let window, let key, !window.isComplete, !window.rows.contains(object.id), !window.isBehindEnd(key) {
      isSettled = false
    }
    return isSettled
  }

  /// Every broken promise as a sentence; empty when it is sound. For tests.
  func checkInvariants() -> [String] {
    index.checkInvariants() + (window?.checkInvariants(showing: index) ?? [])
      + (aggregates?.checkInvariants(self) ?? [])
  }
}
