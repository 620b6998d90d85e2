/// What a results controller lists: a request resolved, in the order of its sections. It keeps nothing of the request.
struct Listing {
  /// Ordered by section first; see `init`.
  let query: FetchQuery
  let isSectioned: Bool
  let dependencies: [Dependency]
  /// Those who watch its fetches.
  private let cancellation: Cancellation?
  private let progress: FetchMonitor.Progress?

  /// When the first sort key is not the section key, the section key goes before it, ascending: sections are contiguous
  /// whatever the request says.
  init(_ request: FetchRequest, sectionKeyPath: String?, in context: Context) throws(Failure) {
    if request.resultType != .objects {
      throw Failure(
        .invalidArgument, "A results controller needs a request for objects; set its result type to objects.")
    }
    if request.limit != 0 || request.offset != 0 {
      throw Failure(
        .unsupported,
        "A results controller cannot keep a limit or an offset true while it is live; fetch with them, "
          + "or leave them out."
      )
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

  // MARK: Reading

  /// The rows as they are now: what is saved, and what is pending beside it.
  func contents(in context: Context) throws(Failure) -> ListContents {
    var query = query
    query.monitor = FetchMonitor(of: query.entity.name, cancellation, progress, in: context)
    let fresh = SectionedIndex(isSectioned: isSectioned)
    var loader = SectionedIndex.Loader(fresh)
    let pending = try context.store.watched(by: query.monitor) { () throws(Failure) in
      try read(query, in: context) { loader.add($0, $1) }
    }
    loader.finish()
    _ = fresh.apply(pending)
    return ListContents(listing: self, index: fresh)
  }

  /// Gives the saved rows in order, and then those that are pending.
  private func read(
    _ query: FetchQuery, in context: Context, _ add: (Int64, RowKey) -> Void
  ) throws(Failure) -> [RowChange] {
    let overlay = try PendingOverlay(query, in: context)
    var plan = query.plan()
    plan.excluded = overlay.savedIDs
    var key = RowKey(section: .unsectioned, order: SortKey())
    var lastValue: Value?
    try context.store.scan(plan, keyPaths: query.sort.map(\.keyPath)) { (row, values) throws(Failure) in
      if isSectioned, lastValue?.isIdentical(to: values[0]) != true {
        key.section = SectionKey(values[0], query)
        lastValue = values[0]
      }
      query.setSortKey(&key.order, of: row, values)
      add(row.id, key)
    }
    var pending: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      pending.append(RowChange(id: object.id, newKey: try self.key(of: object)))
    }
    return pending
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
