/// What a results controller lists: a request resolved, in the order of its sections. It keeps nothing of the request.
struct Listing {
  /// Ordered by section first; see `init`.
  let query: FetchQuery
  let isSectioned: Bool
  let dependencies: [Dependency]
  /// The places of the order that are shown; nil for all.
  let window: Range<Int>?
  /// How many rows behind a window are known, beside those in it and before it.
  let spareRows: Int
  /// Those who watch its fetches.
  private let cancellation: Cancellation?
  private let progress: FetchMonitor.Progress?

  /// When the first sort key is not the section key, the section key goes before it, ascending: sections are contiguous
  /// whatever the request says.
  init(_ request: FetchRequest, sectionKeyPath: String?, spareRows: Int, in context: Context) throws(Failure) {
    if request.resultType != .objects {
      throw Failure(
        .invalidArgument, "A results controller needs a request for objects; set its result type to objects.")
    }
    if !request.includesPendingChanges {
      throw Failure(.unsupported, "A results controller follows pending changes; set includes_pending_changes to true.")
    }
    var sort = request.sort
    if let sectionKeyPath {
      let path = try FetchRequest.split(keyPath: sectionKeyPath)
      if sort.first?.keyPath != path { sort.insert(SortDescriptor(keyPath: path), at: 0) }
    }
    query = try FetchQuery(
      entity: context.model.entity(named: request.entityName), includesSubentities: request.includesSubentities,
      predicate: request.predicate, sort: sort, of: context.store)
    cancellation = request.cancellation
    progress = request.progress
    isSectioned = sectionKeyPath != nil
    dependencies = query.dependencies()
    self.spareRows = spareRows
    let (end, overflow) = request.offset.addingReportingOverflow(request.limit)
    let isWindow = request.limit != 0 || request.offset != 0
    window = isWindow ? request.offset..<(request.limit == 0 || overflow ? .max : end) : nil
  }

  /// The place of an object, with its values as they are now.
  func key(of object: ManagedObject) throws(Failure) -> RowKey {
    var section = SectionKey.unsectioned
    if isSectioned, let first = query.sort.first {
      section = SectionKey(try object.value(atKeyPath: first.keyPath), query)
    }
    return RowKey(section: section, order: try query.sortKey(of: object))
  }

  /// Whether objects of that entity can matter to it.
  func isConcerned(with entity: Entity) -> Bool {
    let root = entity.rootNumber
    return query.entity.rootNumber == root
      || dependencies.contains { $0.path.contains { $0.destination.rootNumber == root } }
  }
}

/// What a listing reads.
extension Listing {
  /// A place of the order at which a row of the store stands, so that reading can go on behind it.
  struct Mark {
    let key: SortKey
    fileprivate let place: FetchPlan.Place
  }

  /// The rows as they are now: what is saved, and what is pending beside it.
  func contents(in context: Context) throws(Failure) -> ListContents {
    var query = query
    query.monitor = FetchMonitor(of: query.entity.name, cancellation, progress, in: context)
    let fresh = ListContents(self)
    try context.store.watched(by: query.monitor) { () throws(Failure) in
      var loader = SectionedIndex.Loader(fresh.index)
      if let window = fresh.window {
        try window.load(self, query, in: context)
        for (id, key) in window.shown { loader.add(id, key) }
        loader.finish()
      } else {
        let (pending, _) = try read(query, in: context) { loader.add($0, $1) }
        loader.finish()
        _ = fresh.index.apply(pending)
      }
    }
    return fresh
  }

  /// Gives the saved rows in order, behind `start` and no more than `most`, and then those that are pending among them;
  /// `end` is nil when there are no others.
  func read(
    _ query: FetchQuery, in context: Context, after start: Mark? = nil, atMost most: Int? = nil,
    _ add: (Int64, RowKey) -> Void
  ) throws(Failure) -> (pending: [RowChange], end: Mark?) {
    let overlay = try PendingOverlay(query, in: context)
    var plan = query.plan()
    plan.excluded = overlay.savedIDs
    plan.limit = most
    plan.after = start?.place
    var end: Mark?
    var count = 0
    var key = RowKey(section: .unsectioned, order: SortKey())
    var lastValue: Value?
    try context.store.scan(plan, keyPaths: query.sort.map(\.keyPath)) { (row, values) throws(Failure) in
      let isSame = isSectioned && lastValue?.isIdentical(to: values[0]) == true
      if isSectioned, !isSame {
        key.section = SectionKey(values[0], query)
        lastValue = values[0]
      }
      if isSame, values.count == 1 {
        key.order.replace(tieBreak: row.id)
      } else {
        query.setSortKey(&key.order, of: row, values)
      }
      add(row.id, key)
      count += 1
      if count == most { end = Mark(key: key.order, place: FetchPlan.Place(values: values, id: row.id)) }
    }
    var pending: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      let key = try self.key(of: object)
      if let start, !(start.key < key.order) { continue }
      if let end, end.key < key.order { continue }
      pending.append(RowChange(id: object.id, newKey: key))
    }
    return (pending, end)
  }

  /// Where a row stands with its values as they are now; nil where the store cannot go on from there.
  func mark(of id: Int64, in context: Context) throws(Failure) -> Mark? {
    let reference = ObjectReference(root: query.entity.rootNumber, id: id)
    var found = context.registeredObject(reference)
    if found == nil {
      found = try context.rows(root: query.entity.root, ids: [id]).first.map(context.object(for:))
    }
    guard let object = found, id > 0, object.isLive, try object.isStillStored() else { return nil }
    var values: [Value] = []
    for key in query.sort {
      let value = try object.value(atKeyPath: key.keyPath)
      if case .object(let box) = value, box.reference.isTemporary { return nil }
      values.append(value)
    }
    return Mark(key: try query.sortKey(of: object), place: FetchPlan.Place(values: values, id: id))
  }
}

extension SectionKey {
  /// nil and empty text make one section, as in Core Data.
  init(_ value: Value, _ query: FetchQuery) {
    var order = SortKey()
    let holdsText = query.sortPaths.first?.holdsText == true
    query.append(value.isNil && holdsText ? .text("") : value, at: 0, to: &order)
    self.init(order: order, name: value.sectionName)
  }
}
