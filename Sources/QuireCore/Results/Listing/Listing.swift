/// The list of a results controller: a request resolved, in the order of its sections. It keeps nothing of the request.
struct Listing {
  /// What it was made from.
  let definition: ListDefinition
  /// Ordered by section first; see `init`.
  private(set) var query: BoundQuery
  let isSectioned: Bool
  private(set) var dependencies: [Dependency]
  private(set) var aggregates = AggregatePlan()
  /// The places of the order that are shown; nil for all.
  let window: Range<Int>?
  /// The relationships that are read together with objects.
  let prefetched: [[Relationship]]
  /// How many rows behind a window are known, beside those in it and before it.
  let spareRows: Int
  /// Sections that are there in any case, in order.
  var fixedSections: [SectionKey] { query.sections?.fixed ?? [] }
  /// The monitors of its fetches.
  private let cancellation: Cancellation?
  private let progress: FetchMonitor.Progress?

  init(_ request: FetchRequest, _ sectioning: Sectioning, spareRows: Int, in context: Context) throws(Failure) {
    try request.checkForResults()
    try self.init(ListDefinition(request, sectioning), spareRows: spareRows, at: context.source.moment)
  }

  /// When the first sort key is not the section key, the section key goes before it, ascending: sections are contiguous
  /// whatever the request says.
  init(_ definition: ListDefinition, spareRows: Int, at moment: any Moment) throws(Failure) {
    self.definition = definition
    let request = definition.request, sectioning = definition.sectioning
    let entity = try moment.model.entity(named: request.entityName)
    var sort = request.sort
    // Of the first sort key, where it is known.
    var sectionPath: ResolvedKeyPath?
    var rule: SectionRule?
    switch sectioning {
    case .none: isSectioned = false
    case .keyPath(let text):
      isSectioned = true
      let path = try FetchRequest.split(keyPath: text)
      if sort.first?.keyPath != path { sort.insert(SortDescriptor(keyPath: path), at: 0) }
    case .rule(let given):
      isSectioned = true
      if let keys = given.plainKeyPath, let path = try? ResolvedKeyPath(keys, of: entity, for: .sort) {
        let first = SortDescriptor(keyPath: keys, isAscending: !given.isDescending, textOrder: given.textOrder)
        if sort.first != first { sort.insert(first, at: 0) }
        sectionPath = path
      } else {
        rule = given
      }
    }
    var bound: [BoundSort] = []
    for key in sort {
      if let path = sectionPath, bound.isEmpty {
        bound.append(BoundSort(path, isAscending: key.isAscending, textOrder: key.textOrder))
      } else {
        bound.append(try BoundSort(key, of: entity))
      }
    }
    query = try BoundQuery(
      entity: entity, includesSubentities: request.includesSubentities, predicate: request.predicate, sections: rule,
      sort: bound, of: moment.engine)
    // What the store cannot make of the rule shows here, and not in the midst of following.
    if rule != nil { try moment.check(query.plan()) }
    cancellation = request.cancellation
    progress = request.progress
    prefetched = try ObjectReading.prefetched(request, of: entity)
    dependencies = query.dependencies()
    self.spareRows = spareRows
    let (end, overflow) = request.offset.addingReportingOverflow(request.limit ?? .max)
    let isWindow = request.limit != nil || request.offset != 0
    window = isWindow ? request.offset..<(overflow ? .max : end) : nil
  }

  /// The same with aggregates of its rows.
  func calculating(_ plan: AggregatePlan, in context: Context) throws(Failure) -> Listing {
    if plan.isEmpty { return self }
    var listing = self
    listing.aggregates = plan
    let values = try QueryValues(plan.columns, in: query.entity, of: context.store)
    try plan.check(values.expressions, in: query.entity)
    listing.query.values = values
    listing.dependencies = listing.query.dependencies()
    // What the store cannot make of them shows here.
    try context.source.moment.check(listing.query.plan())
    return listing
  }

  /// The values of an object for the aggregates, as it is now.
  func values(of object: ManagedObject) throws(Failure) -> [Value] { try query.values?.values(of: object) ?? [] }

  /// The place of an object, with its values as they are now.
  func key(of object: ManagedObject) throws(Failure) -> RowKey {
    if let sections = query.sections {
      let section = try sections.section(of: object)
      return RowKey(section: section, order: try query.sortKey(of: object, in: section.order))
    }
    var section = SectionKey.unsectioned
    if isSectioned, let first = query.sort.first {
      section = query.section(try object.value(at: first.path))
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

/// The reads of a listing.
extension Listing {
  /// A place of the order at which a row of the store stands, so that reading can go on behind it.
  struct Mark {
    let key: SortKey
    fileprivate let place: FetchPlan.Place
  }

  /// The rows as they are now: what is saved, and what is pending beside it.
  ///
  /// With a cache they come from there, if it has those of the store as it is; otherwise they are written there.
  func contents(in context: Context, cache name: Text? = nil) throws(Failure) -> ListContents {
    var query = query
    query.monitor = FetchMonitor(of: query.entity.name, cancellation, progress, in: context)
    let fresh = ListContents(self)
    context.noteReadingOfList()
    try context.source.moment.watched(by: query.monitor) { () throws(Failure) in
      let loader = SectionedIndex.Loader(fresh.index)
      if let window = fresh.window {
        try window.load(self, query, in: context, fresh.aggregates)
        for (id, key) in window.shown { loader.add(id, key) }
        loader.finish()
      } else {
        let overlay = try PendingOverlay(query, in: context)
        // The values of aggregates are in no file.
        let cache = fresh.aggregates == nil ? name.flatMap { ListCacheFile($0, of: self, in: context) } : nil
        let state = cache?.state()
        if let cache, let state, cache.load(into: fresh.index, state) {
          removeSaved(overlay, from: fresh)
        } else {
          try load(query, besides: overlay.savedIDs, loader, fresh.aggregates, at: context.source.moment)
          loader.finish()
          if overlay.isEmpty, let state { cache?.save(fresh.index, state) }
        }
        try add(overlay, to: fresh)
      }
      fresh.aggregates?.load(fresh)
    }
    return fresh
  }

  /// Lays what is pending over all saved rows.
  func lay(_ overlay: PendingOverlay, over contents: ListContents) throws(Failure) {
    removeSaved(overlay, from: contents)
    try add(overlay, to: contents)
  }

  private func removeSaved(_ overlay: PendingOverlay, from contents: ListContents) {
    if !overlay.isEmpty { _ = contents.index.apply(overlay.savedIDs.map { RowChange(id: $0, newKey: nil) }) }
  }

  private func add(_ overlay: PendingOverlay, to contents: ListContents) throws(Failure) {
    var pending: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      contents.aggregates?.take(object.id, try values(of: object))
      pending.append(RowChange(id: object.id, newKey: try key(of: object)))
    }
    if !pending.isEmpty { _ = contents.index.apply(pending) }
  }

  /// All rows of a moment, with nothing that is pending.
  func load(_ index: SectionedIndex, at moment: any Moment) throws(Failure) {
    let loader = SectionedIndex.Loader(index)
    try load(query, besides: [], loader, nil, at: moment)
    loader.finish()
  }

  /// Loads the saved rows but for some.
  private func load(
    _ query: BoundQuery, besides excluded: [Int64], _ loader: SectionedIndex.Loader, _ aggregates: AggregateTable?,
    at moment: any Moment
  ) throws(Failure) {
    var plan = query.plan()
    plan.excluded = excluded
    let paths = query.sort.map(\.path)
    let passing = PlaceReader(self, plan.sections)
    let isLoaded = try moment.scanInPassing(plan, paths: paths) { (row) throws(Failure) in
      aggregates?.take(row.id, try row.furtherValues())
      return try passing.load(row, into: loader)
    }
    if !isLoaded {
      loader.start()
      aggregates?.removeAll()
      let reader = PlaceReader(self, plan.sections)
      try moment.scanRows(plan, paths: paths) { (row) throws(Failure) in
        aggregates?.take(row.id, try row.furtherValues())
        _ = try reader.load(row, into: loader)
      }
    }
  }

  /// Passes those of some rows that are in the list at a moment, with their places, in no order.
  func places(
    of ids: [Int64], at moment: any Moment, _ body: (Int64, RowKey) -> Void
  ) throws(Failure) {
    var plan = query.plan()
    plan.isRestrictedTo = ids
    plan.sort = []
    let reader = PlaceReader(self, plan.sections)
    try moment.scanRows(plan, paths: query.sort.map(\.path)) { (row) throws(Failure) in
      try reader.read(row)
      body(row.id, RowKey(section: reader.section, order: reader.order))
    }
  }

  /// Passes the saved rows in order, behind `start` and no more than `most`, and then those that are pending among
  /// them. `end` is nil when there are no others. `aggregates` takes their values.
  func read(
    _ query: BoundQuery, in context: Context, _ aggregates: AggregateTable?, after start: Mark? = nil,
    atMost most: Int? = nil,
    _ add: (Int64, RowKey) -> Void
  ) throws(Failure) -> (pending: [RowChange], end: Mark?) {
    context.noteReadingOfList()
    let overlay = try PendingOverlay(query, in: context)
    var plan = query.plan()
    plan.excluded = overlay.savedIDs
    plan.limit = most
    plan.after = start?.place
    var end: Mark?
    var count = 0
    let reader = PlaceReader(self, plan.sections)
    try context.source.moment.scanRows(plan, paths: query.sort.map(\.path)) { (row) throws(Failure) in
      try reader.read(row)
      aggregates?.take(row.id, try row.furtherValues())
      add(row.id, RowKey(section: reader.section, order: reader.order))
      count += 1
      if count == most {
        end = Mark(key: reader.order, place: FetchPlan.Place(values: try row.values(), id: row.id))
      }
    }
    var pending: [RowChange] = []
    for object in overlay.objects where try query.matches(object) {
      let key = try self.key(of: object)
      if let start, !(start.key < key.order) { continue }
      if let end, end.key < key.order { continue }
      aggregates?.take(object.id, try values(of: object))
      pending.append(RowChange(id: object.id, newKey: key))
    }
    return (pending, end)
  }

  /// Where a row stands with its values as they are now; nil where the store cannot go on from there.
  func mark(of id: Int64, in context: Context) throws(Failure) -> Mark? {
    let reference = ObjectReference(root: query.entity.rootNumber, id: id)
    var found = context.registeredObject(reference)
    if found == nil {
      found = try context.source.rows(root: query.entity.root, ids: [id]).first.map(context.object(for:))
    }
    guard let object = found, id > 0, object.isLive, try object.isStillStored() else { return nil }
    var values: [Value] = []
    let key = try key(of: object)
    if query.sections != nil {
      if case .object(let box) = key.section.value, box.reference.isTemporary { return nil }
      values.append(.data(Bytes(key.section.order.bytes)))
    }
    for key in query.sort {
      let value = try object.value(at: key.path)
      if case .object(let box) = value, box.reference.isTemporary { return nil }
      values.append(value)
    }
    return Mark(key: key.order, place: FetchPlan.Place(values: values, id: id))
  }
}

extension BoundQuery {
  /// The section of a value of the first sort key. nil and empty text make one, as in Core Data.
  func section(_ value: Value) -> SectionKey {
    var order = SortKey()
    let holdsText = sort.first?.path.holdsText == true
    append(value.isNil && holdsText ? .text("") : value, at: 0, to: &order)
    let name = value.sectionName
    return SectionKey(order: order, name: name, value: holdsText && name.bytes.count == 0 ? .nil : value)
  }
}
