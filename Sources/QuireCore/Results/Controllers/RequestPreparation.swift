import Synchronization

/// A request that a list is to show, and whose rows are fetched in the background meanwhile.
final class AwaitedRequest: @unchecked Sendable {
  /// Counts the requests of the list.
  let number: Int64
  let listing: Listing
  /// For the thread of the context.
  var watch: ListWatch
  private let hasEnded = Atomic<Bool>(false)

  init(_ number: Int64, _ listing: Listing, _ watch: ListWatch) {
    self.number = number
    self.listing = listing
    self.watch = watch
  }

  /// Whether another request has taken its place, or the list has ended. Any thread.
  var isWithdrawn: Bool { hasEnded.load(ordering: .relaxed) }

  func withdraw() { hasEnded.store(true, ordering: .relaxed) }
}

/// The rows of another request of a list, fetched in the background, and how they differ from the rows that are shown.
///
/// They are of the commit of a merge, which may have changed rows as well. Objects that are pending in the context are
/// laid over them by the context's thread.
final class RequestPreparation: PreparedObserver, @unchecked Sendable {
  private weak var results: ResultsController?
  let request: AwaitedRequest
  private let definition: ListDefinition
  private let displayed: [[String]]
  private let generation: UInt64
  private let former: SectionedIndex

  // Made by the thread of the store.
  private(set) var index: SectionedIndex
  private(set) var report = ChangeSet(unchanged: 0, sections: 0)
  /// Rows of both requests that the merge has changed.
  private(set) var updated: Set<Int64> = []

  init(of results: ResultsController, _ request: AwaitedRequest) {
    self.results = results
    self.request = request
    definition = request.listing.definition.forThreadOfStore
    displayed = request.watch.displayed
    generation = results.generation.value
    former = SectionedIndex(copying: results.index)
    index = former
  }

  // MARK: The thread of the store

  func prepare(
    for change: StoreChange, besides known: Set<ObjectReference>, at moment: any Moment,
    while goesOn: @escaping () -> Bool
  ) throws(Failure) -> Set<ObjectReference> {
    let monitor = FetchMonitor(
      .fetch, of: definition.request.entityName, cancellation: definition.request.cancellation,
      progress: FetchMonitor.Progress(nanoseconds: 5_000_000) { [request] _ in goesOn() && !request.isWithdrawn })
    try moment.watched(by: monitor) { () throws(Failure) in
      try prepare(Listing(definition, spareRows: 0, at: moment), for: change, at: moment)
    }
    return []
  }

  private func prepare(_ listing: Listing, for change: StoreChange, at moment: any Moment) throws(Failure) {
    let fresh = SectionedIndex(isSectioned: listing.isSectioned, fixed: listing.fixedSections)
    try listing.load(fresh, at: moment)
    if !change.isUnknown { updated = try updatedRows(change, listing, in: fresh, at: moment) }
    report = .difference(from: ListSnapshot(former), to: ListSnapshot(fresh), updated: updated)
    index = fresh
  }

  private func updatedRows(
    _ change: StoreChange, _ listing: Listing, in fresh: SectionedIndex, at moment: any Moment
  ) throws(Failure) -> Set<Int64> {
    let entity = listing.query.entity
    let watch = try ListWatch(listing.query, displaying: displayed, of: moment.engine)
    var rows = ListedRows(change, of: entity.rootNumber, moment.model)
    for target in watch.targets { _ = try rows.add(target, change, besides: [], from: entity, at: moment) }
    return Set(
      rows.ids.filter { id in
        guard former.contains(id), fresh.contains(id), let row = rows.remove(id) else { return false }
        return row.hasChanged || row.reached?.isDisplayed == true
      })
  }

  var isSuperseded: Bool { request.isWithdrawn }

  // MARK: The thread of the context

  var observer: (any ContextObserver)? { results }

  var isCurrent: Bool {
    guard let results else { return true }
    return results.awaited === request && results.isFetched && results.withheld == nil
  }

  /// Whether the report begins at what the list shows.
  func isExact(for results: ResultsController) -> Bool { results.generation.value == generation }

  func hand(reread: [ObjectReference]) { results?.preparedRequest = self }
}
