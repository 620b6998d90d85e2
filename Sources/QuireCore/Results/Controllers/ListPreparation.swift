/// What a merge makes of a list, worked out beside its context: the rows that it will show, and the report of that.
///
/// The thread of the store asks the file for the rows that have changed, and for those that reach them. What is pending
/// in the context is left to the context's thread.
final class ListPreparation: PreparedObserver, @unchecked Sendable {
  private weak var results: ResultsController?
  // The list as it was when that began.
  private let definition: ListDefinition
  private let displayed: [[String]]
  private let generation: UInt64
  /// The rows that memory decides about.
  private let pending: Set<Int64>
  /// nil where it is fetched for the first time.
  private let former: SectionedIndex?
  /// Another one when the list has come to be asked for something else.
  private let shown: SectionedIndex

  // Worked out.
  private(set) var index: SectionedIndex
  private(set) var report = ChangeSet(unchanged: 0, sections: 0)
  /// The rows that were looked at; nil for all.
  private var looked: Set<Int64>? = []
  /// What has changed of rows, where it is something else than all of their own.
  private var rows: [Int64: ListedRows.Row] = [:]
  /// What has changed in objects that rows reach which were left to the thread of the context.
  private(set) var left: [Int64: ChangedKeys] = [:]
  /// Objects of which the context knows what has changed, so that the rows that reach them are left to it.
  private var leftTargets: Set<ObjectReference> = []
  /// Where the report has rows that stay in the list.
  private(set) var places: [Int64: Int] = [:]

  /// Objects that have taken over their rows.
  private(set) var reread: [Int64] = []

  init(of results: ResultsController, _ pending: Set<Int64>) {
    self.results = results
    self.pending = pending
    definition = results.listing.definition.forThreadOfStore
    displayed = results.watch.displayed
    generation = results.generation.value
    shown = results.index
    former = results.isFetched ? SectionedIndex(copying: results.index) : nil
    index = SectionedIndex(copying: results.index)
  }

  var isFirst: Bool { former == nil }

  // MARK: The thread of the store

  func prepare(
    for change: StoreChange, besides known: Set<ObjectReference>, at moment: any Moment,
    while goesOn: @escaping () -> Bool
  ) throws(Failure) -> Set<ObjectReference> {
    let monitor = FetchMonitor(
      .fetch, of: definition.request.entityName, cancellation: isFirst ? definition.request.cancellation : nil,
      progress: FetchMonitor.Progress(nanoseconds: 5_000_000) { _ in goesOn() })
    try moment.watched(by: monitor) { () throws(Failure) in
      try prepare(Listing(definition, spareRows: 0, at: moment), for: change, besides: known, at: moment)
    }
    return leftTargets
  }

  private func prepare(
    _ listing: Listing, for change: StoreChange, besides known: Set<ObjectReference>, at moment: any Moment
  ) throws(Failure) {
    let watch = try ListWatch(listing.query, displaying: displayed, of: moment.engine)
    if let former, !change.isUnknown, !mayHaveOtherMembers(change, listing, watch, of: moment.model) {
      try follow(change, besides: known, from: former, listing, watch, at: moment)
    } else {
      try fetchAnew(listing, at: moment)
    }
    for (place, change) in report.changes.enumerated() where change.kind == .update || change.kind == .move {
      places[change.id] = place
    }
  }

  /// Whether the list may depend on members of objects of which nothing tells that they are others.
  private func mayHaveOtherMembers(
    _ change: StoreChange, _ listing: Listing, _ watch: ListWatch, of model: Model
  ) -> Bool {
    change.entitiesOfPossibleOwners(in: model).contains {
      listing.isConcerned(with: $0) || watch.isConcerned(with: $0)
    }
  }

  /// Nothing tells what has changed.
  private func fetchAnew(_ listing: Listing, at moment: any Moment) throws(Failure) {
    if former != nil, !pending.isEmpty {
      throw Failure(.unsupported, "What is pending is in no file.")
    }
    let fresh = SectionedIndex(isSectioned: listing.isSectioned, fixed: listing.fixedSections)
    try listing.load(fresh, at: moment)
    if let former {
      report = .difference(from: ListSnapshot(former), to: ListSnapshot(fresh)).telling(contentsMayDiffer: true)
    }
    index = fresh
    looked = nil
  }

  private func follow(
    _ change: StoreChange, besides known: Set<ObjectReference>, from former: SectionedIndex, _ listing: Listing,
    _ watch: ListWatch, at moment: any Moment
  ) throws(Failure) {
    let entity = listing.query.entity
    var rows = ListedRows(change, of: entity.rootNumber, moment.model)
    for target in watch.targets {
      leftTargets.formUnion(try rows.add(target, change, besides: known, from: entity, at: moment))
    }
    for id in pending { left[id] = rows.remove(id)?.reached }
    var names = ChangeNames(watch)
    var changes: [RowChange] = []
    changes.reserveCapacity(rows.count)
    func add(_ id: Int64, _ key: RowKey?) {
      guard let row = rows.remove(id) else { return }
      if row.keys?.properties != .all || row.reached != nil { self.rows[id] = row }
      let isIn = former.contains(id)
      if key == nil, !isIn { return }
      if let reached = row.reached {
        if !row.hasChanged, !reached.isDisplayed || key == nil, key == former.key(of: id) { return }
      }
      let owner = moment.model.entity(numbered: Int(row.entity)) ?? entity
      let texts = isIn && key != nil ? names.texts(watch.keys(row.allKeys), of: owner) : []
      changes.append(RowChange(id: id, newKey: key, names: texts))
    }
    let ids = rows.ids
    looked = Set(ids)
    if !ids.isEmpty { try listing.places(of: ids, at: moment, add) }
    for id in rows.ids { add(id, nil) }
    report = index.apply(changes)
  }

  // MARK: The thread of the context

  var observer: (any ContextObserver)? { results }

  var isCurrent: Bool {
    guard let results else { return true }
    if isFirst { return results.isFirstFetchAsked && results.index === shown }
    return results.generation.value == generation && results.isFetched && results.withheld == nil
      && results.pendingIDs() == pending
  }

  func hand(reread: [ObjectReference]) {
    guard let results else { return }
    let root = results.query.entity.rootNumber
    self.reread = reread.lazy.filter { $0.root == root }.map(\.id)
    results.prepared = self
  }

  /// Whether an object is as the file says, and was looked at.
  func covers(_ object: ManagedObject, root: Int) -> Bool {
    guard object.state == .gone || object.state == .saved && !object.isUpdated, !leftTargets.contains(object.reference)
    else { return false }
    return object.entity.rootNumber != root || looked?.contains(object.id) ?? true
  }

  /// What has changed in objects that a row reaches.
  func reached(by id: Int64) -> ChangedKeys? { rows[id]?.reached }

  /// What has changed of a row.
  func keys(of id: Int64) -> ChangedKeys { rows[id]?.allKeys ?? ListedRows.all }

  /// Whether a row is reported that stays where it is.
  func isUpdate(_ id: Int64) -> Bool { places[id].map { report.changes[$0].kind == .update } ?? false }
}
