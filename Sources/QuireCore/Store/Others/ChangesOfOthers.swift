/// Files commits in the inboxes of a store, and finds out which rows other programs have changed.
///
/// The change journal tells it where it has all commits in between, else the history where that has them. Otherwise
/// anything may have changed. Used under the mutex of `Commits`.
final class ChangesOfOthers: CommitFiler, @unchecked Sendable {
  /// Where the change journal and the history of the newest known state end.
  private struct Place: Equatable {
    /// SQLite's number of the schema.
    let schema: Int64
    let journal: ChangeJournal.Form
    /// The number of the last entry of the journal; nil where the file keeps none.
    var entry: Int64?
    /// nil where the file keeps no history.
    var transaction: Int64?
  }

  private weak var store: Store?
  private let model: Model
  private let parts: JournalParts.Wanted
  /// nil where that is not known, so that the next change is not either.
  private var place: Place? { didSet { if let place { lastPlace = place } } }
  /// The last that was known, for what the file has.
  private var lastPlace: Place?
  /// Behind the commit that the store is just making.
  private var placeOfOwn: Place?

  /// Begins with the state that `connection` finds, if that is the one with this count.
  init(of store: Store, on connection: Connection, at count: UInt32?) {
    self.store = store
    model = store.model
    parts = JournalParts.Wanted(store.schema)
    let found = try? connection.unheard { () throws(Failure) in
      try connection.snapshot { () throws(Failure) in try readPlace(on: connection) }
    }
    place = connection.changeCount == count ? found : nil
  }

  func file(_ number: Int64) -> Bool { store?.file(number) ?? false }

  func fileOthers(_ number: Int64, on connection: Connection?, commitCount: Int?) -> Bool {
    let change = connection.map { changes(on: $0, commitCount: commitCount) } ?? .unknown
    return store?.file(number, ofOthers: change) ?? false
  }

  private func changes(on connection: Connection, commitCount: Int?) -> StoreChange {
    let former = place
    place = nil
    do throws(Failure) {
      return try connection.unheard { () throws(Failure) in
        let reached = try readPlace(on: connection)
        place = reached
        // Triggers and tables may be others.
        guard let former, former.schema == reached.schema else { return .unknown }
        var change = StoreChange.unknown
        if let entry = former.entry {
          change = try ChangeJournal.change(after: entry, former.journal, of: commitCount, model, on: connection)
          if !change.isUnknown { return change }
        }
        if let transaction = former.transaction, let last = reached.transaction, let commitCount {
          let recorded = try history(after: transaction, upTo: last, of: commitCount, on: connection)
          return recorded.isUnknown ? change.followed(by: recorded) : recorded
        }
        return change
      }
    } catch { return .unknown }
  }

  /// A program that knows nothing of the history commits without a word there.
  private func history(
    after former: Int64, upTo last: Int64, of commitCount: Int, on connection: Connection
  ) throws(Failure) -> StoreChange {
    let count = last - former
    if count <= 0 { return .unknown }
    guard let tables = try HistoryTables.read(on: connection) else { return .unknown }
    let reader = HistoryReader(connection: connection, tables: tables, model: model)
    try reader.check(after: former)
    let gathered = ChangeInbox()
    for (row, kind) in try reader.changes(after: former) {
      var change = StoreChange()
      switch kind {
      case .insert: change.inserted = [row]
      case .update: change.updated = [row]
      case .delete: change.deleted = [row]
      }
      if let entity = model.entity(numbered: Int(row.entity)) {
        change.rootsWithoutOwners = [entity.rootNumber]
        // Members without a way back, and their order, only the owner's row tells.
        if kind != .delete {
          change.membershipChanges = entity.relationships.filter { $0.isToMany && !$0.isTransient }.map { ($0, [row]) }
        }
      }
      gathered.post(change)
    }
    var change = gathered.take() ?? StoreChange()
    // A transaction of the file may have several of the history. Some have none: what plain SQL writes, and keys that
    // Quire takes for objects to come.
    if commitCount > 1, count != Int64(commitCount) { change.isUnknown = true }
    return change
  }

  // MARK: The store's own commits

  func announce(on connection: Connection?) {
    guard let place, let connection else { return }
    placeOfOwn = place
    if place.entry == nil, place.transaction == nil { return }
    placeOfOwn = try? connection.unheard { () throws(Failure) in
      try readPlace(
        schema: place.schema, place.journal, entry: store?.journal.number, hasHistory: place.transaction != nil,
        connection)
    }
  }

  func endAnnouncement(isMade: Bool) {
    if isMade { place = placeOfOwn }
    placeOfOwn = nil
  }

  private func readPlace(on connection: Connection) throws(Failure) -> Place {
    let number = try connection.schemaNumber()
    if let place = lastPlace, place.schema == number {
      return try readPlace(
        schema: number, place.journal, hasHistory: place.transaction != nil, connection)
    }
    let history = try connection.statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'")
    let hasHistory = try history.step()
    history.reset()
    let journal = try JournalParts(on: connection).form(parts)
    return try readPlace(schema: number, journal, hasHistory: hasHistory, connection)
  }

  /// `entry` is the number of the last entry, where that is known.
  private func readPlace(
    schema: Int64, _ journal: ChangeJournal.Form, entry: Int64? = nil, hasHistory: Bool, _ connection: Connection
  ) throws(Failure) -> Place {
    var last = entry
    if last == nil { last = try ChangeJournal.last(journal, on: connection) }
    return Place(
      schema: schema, journal: journal, entry: last,
      transaction: hasHistory ? try HistoryTables.last(.transaction, on: connection) : nil)
  }
}
