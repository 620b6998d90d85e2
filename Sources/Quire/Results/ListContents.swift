/// A listing with its rows as they were last worked out.
struct ListContents {
  let listing: Listing
  /// What is shown.
  let index: SectionedIndex
  /// The rows around it, where a limit or an offset leaves some out.
  let window: ListWindow?

  /// Without any rows.
  init(_ listing: Listing) {
    self.listing = listing
    index = SectionedIndex(isSectioned: listing.isSectioned, fixed: listing.fixedSections)
    window = listing.window.map {
      ListWindow($0, spare: listing.spareRows, isSectioned: listing.isSectioned)
    }
  }

  /// All rows that are known.
  private var rows: SectionedIndex { window?.rows ?? index }

  /// Whether the row is in the list, shown or not; of one behind all that is known that cannot be told.
  func contains(_ id: Int64) -> Bool { rows.contains(id) }
  func mayContain(_ id: Int64) -> Bool { rows.contains(id) || window?.isComplete == false }
  func key(of id: Int64) -> RowKey? { rows.key(of: id) }

  /// Reads what is needed to take on what became of rows. What is shown stays as it is.
  func prepare(_ changes: [RowChange], in context: Context) throws(Failure) {
    if !changes.isEmpty { try window?.take(changes, listing, in: context) }
  }

  /// What becomes of the rows that are shown, after `prepare`.
  func shownChanges(_ changes: [RowChange]) -> [RowChange] {
    if let window { return window.changes(of: index, after: changes) }
    // What came and went while nobody was told.
    return changes.filter { $0.newKey != nil || index.contains($0.id) }
  }

  /// Gives a row the permanent id of its object. False when that may put it elsewhere: it then stands where it stood,
  /// and takes its place when the object is looked at again.
  func rename(_ temporary: Int64, to object: ManagedObject) -> Bool {
    var isSettled = true
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
  }
}
