/// Taking over what a merge makes of the list, which was worked out beside the context.
extension ResultsController {
  func preparation() -> (any PreparedObserver)? {
    guard prepared == nil, preparedRequest == nil else { return nil }
    if let awaited, isFetched, withheld == nil { return RequestPreparation(of: self, awaited) }
    if !isForAnyThread { return nil }
    if isFirstFetchAsked { return ListPreparation(of: self, []) }
    guard isFetched, withheld == nil, !isAdrift, let pending = pendingIDs() else { return nil }
    return ListPreparation(of: self, pending)
  }

  /// Whether all that it shows is in the file, but for what is pending.
  private var isForAnyThread: Bool {
    contents.window == nil && contents.aggregates == nil && listing.definition.isForAnyThread
  }

  /// Fetches beside the context: the next merge after that shows the rows. A list that only this thread can fetch is
  /// fetched at once.
  func beginFetch() throws(Failure) {
    try prepareToFetch()
    if isFetched || isFirstFetchAsked {
      throw Failure(
        .invalidState,
        isFetched
          ? "The results were fetched already. Fetch them again with a fetch that waits."
          : "The results are being fetched already. Merge the context when its descriptor polls readable.")
    }
    if composite != nil {
      throw Failure(
        .invalidState, "The results controller is in a composite; fetch that, which fetches all of its lists.")
    }
    isFirstFetchAsked = true
    if isForAnyThread, cacheName == nil, try context.beginFetch() { return }
    isFirstFetchAsked = false
    try performFetch()
  }

  var isFetchAsked: Bool { isFirstFetchAsked || awaited != nil && withheld == nil }

  func fetchHere() throws(Failure) {
    if isFirstFetchAsked {
      isFirstFetchAsked = false
      try performFetch()
    }
    try showAwaitedRequest()
  }

  /// Shows what was fetched beside the context.
  func showFirst(_ prepared: ListPreparation) throws(Failure) {
    let fresh = ListContents(listing, prepared.index)
    try listing.lay(PendingOverlay(query, in: context), over: fresh)
    show(fresh, since: context.clock.change)
  }

  /// The rows that memory decides about; nil where objects that rows refer to do so, too.
  func pendingIDs() -> Set<Int64>? {
    var ids: Set<Int64> = []
    for object in context.pending.all {
      if object.entity.rootNumber == query.entity.rootNumber { ids.insert(object.id) }
      for target in watch.targets {
        let dependency = target.dependency
        if dependency.concerns(object), object.differsFromStore(in: dependency.property) { return nil }
      }
    }
    return ids
  }

  /// The bracket of what was worked out, with what a batch says beyond that.
  func bracket(of prepared: ListPreparation, _ batch: ChangeBatch) throws(Failure) -> ResultsBracket? {
    let root = query.entity.rootNumber
    let fresh = ListContents(listing, prepared.index)
    let others = ChangeBatch(batch.all.filter { !prepared.covers($0.object, root: root) })
    let (changes, involved) = try self.changes(of: others, reached: prepared.left, in: fresh) ?? ([], [:])
    let own = batch.changes(ofRoot: root)
    var objects = involved
    for change in own { objects[change.object.id] = change.object }
    let report = report(of: prepared, fresh, own, changes, objects)
    self.prepared = nil
    if report.isEmpty {
      contents = fresh
      return nil
    }
    incoming = fresh
    return ResultsBracket(self, objects) { assigned in
      self.contents = fresh
      self.incoming = nil
      return assigned.isEmpty ? report : report.renaming(assigned.mapValues(\.id))
    }
  }

  /// `own` says what has changed of objects of the list that are held. `changes` come on top.
  private func report(
    of prepared: ListPreparation, _ fresh: ListContents, _ own: [ObjectChange], _ changes: [RowChange],
    _ objects: [Int64: ManagedObject]
  ) -> ChangeSet {
    var amended = AmendedChanges(prepared)
    for change in own where change.properties != .all {
      var keys = ownKeys(change)
      if let reached = prepared.reached(by: change.object.id) { keys.formUnion(reached) }
      amended.keys[change.object.id] = keys
    }
    let told = Set(own.lazy.map(\.object.id))
    for id in prepared.reread where !told.contains(id) && prepared.places[id] != nil {
      // It was written with the values that it had.
      let reached = prepared.reached(by: id)
      if prepared.isUpdate(id), reached?.isDisplayed != true {
        amended.removed.insert(id)
      } else {
        amended.keys[id] = reached
      }
    }
    for change in changes where change.isUpdated { amended.add(change.keys, to: change.id) }
    let isInPlace = changes.allSatisfy { $0.keepsPlace || $0.newKey == fresh.index.key(of: $0.id) }
    if !isInPlace { _ = fresh.index.apply(changes) }
    var names = ChangeNames(watch)
    return amended.report(
      from: index, to: fresh.index, further: isInPlace ? changes.filter(\.isUpdated).map(\.id) : changes.map(\.id),
      isInPlace: isInPlace
    ) { id, keys in names.texts(keys, of: objects[id]?.entity ?? query.entity) }
  }
}

/// What was worked out for a list, of which some rows come to be known better.
private struct AmendedChanges {
  private let prepared: ListPreparation
  /// By id.
  var keys: [Int64: ChangedKeys] = [:]
  var removed: Set<Int64> = []

  init(_ prepared: ListPreparation) { self.prepared = prepared }

  mutating func add(_ more: ChangedKeys, to id: Int64) {
    let known = keys[id] ?? (prepared.places[id] == nil ? ChangedKeys() : prepared.keys(of: id))
    keys[id] = known
    keys[id]?.formUnion(more)
    removed.remove(id)
  }

  /// `further` rows have changed, which either stay where they are, or may have come, gone or moved.
  func report(
    from old: SectionedIndex, to new: SectionedIndex, further: [Int64], isInPlace: Bool,
    _ names: (Int64, ChangedKeys) -> [Text]
  ) -> ChangeSet {
    let former = prepared.report
    if keys.isEmpty, removed.isEmpty, further.isEmpty { return former }
    func named(_ change: Change) -> Change {
      guard change.kind == .update || change.kind == .move else { return change }
      var change = change
      if let keys = keys[change.id] {
        change.keys = names(change.id, keys)
      } else if let place = prepared.places[change.id] {
        change.keys = former.changes[place].keys
      }
      return change
    }
    if !isInPlace {
      let changed = Set(former.changes.lazy.map(\.id)).subtracting(removed).union(further)
      let set = ChangeSet.difference(from: ListSnapshot(old), to: ListSnapshot(new), changed: changed)
      return set.replacing(set.changes.map(named)).telling(contentsMayDiffer: former.contentsMayDiffer)
    }
    var added: [Change] = []
    for id in further where prepared.places[id] == nil {
      guard let oldPlace = old.place(of: id), let newPlace = new.place(of: id) else { continue }
      var row = TouchedRow(id: id, old: oldPlace, new: newPlace)
      row.kind = .update
      if let change = row.change { added.append(named(change)) }
    }
    var changes = former.changes
    for id in keys.keys {
      if let place = prepared.places[id] { changes[place] = named(changes[place]) }
    }
    if removed.isEmpty, added.isEmpty { return former.replacing(changes) }
    changes.removeAll { $0.kind == .update && removed.contains($0.id) }
    let firstUpdate = changes.firstIndex { $0.kind == .update } ?? changes.count
    changes[firstUpdate...] = ArraySlice((changes[firstUpdate...] + added).sorted { $0.newFlat < $1.newFlat })
    return former.replacing(changes).drawingAnew { new.id(atFlat: $0) }
  }
}
