extension Context {
  /// A fetch that refreshes objects advances the context first. Any other only reads.
  private func prepareFetch(refreshes: Bool) throws(Failure) {
    if !refreshes { return try beginFetching() }
    try store.checkOpen()
    try moveToNewest()
    try mergeIfAutomatic()
    try process()
  }

  /// Runs a request. Delete rules are applied first, and pending changes are laid over the result.
  func fetch(_ request: FetchRequest) throws(Failure) -> ObjectList {
    try request.checkForFetch()
    try prepareFetch(refreshes: request.shouldRefreshRefetchedObjects)
    if let kept = try keptQuery(for: request), try overlay(for: request, kept.query).isEmpty {
      return list(try source.moment.ids(kept.compiled), request, kept.query)
    }
    let query = try BoundQuery(request, in: self)
    let list = try source.moment.watched(by: query.monitor) { () throws(Failure) in try fetch(request, query) }
    // Objects may have been found changed, and their followers are notified at once.
    if request.shouldRefreshRefetchedObjects { try process() }
    return list
  }

  private func fetch(_ request: FetchRequest, _ query: BoundQuery) throws(Failure) -> ObjectList {
    switch request.resultType {
    case .dictionaries: return try fetchDictionaries(request, query)
    case .count:
      return ObjectList(context: self, count: try count(request, query))
    case .ids:
      return list(try identifiers(request, query, overlay(for: request, query)), request, query)
    case .objects: return try fetchObjects(request, query)
    }
  }

  /// The values of the whole result as columns, as a page of the list would have them. Where one statement finds and
  /// reads the rows, they are of one state of the file.
  func fetchPage(_ request: FetchRequest, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    let isOfRows = request.resultType == .ids || request.resultType == .objects
    guard isOfRows, !request.shouldRefreshRefetchedObjects else {
      let list = try fetch(request)
      return try list.page(0..<list.count, keys: keys, nulSeparated: nulSeparated)
    }
    try request.checkForFetch()
    try beginFetching()
    let query = try BoundQuery(request, in: self)
    if request.resultType == .objects { _ = try ObjectReading(request, of: query.entity) }
    let reader = try PageReader(entity: query.entity, keys: keys, context: self)
    var page: Page?
    var rows: ContiguousArray<RowIdentifier> = []
    try source.moment.watched(by: query.monitor) { () throws(Failure) in
      let overlay = try overlay(for: request, query)
      if overlay.isEmpty {
        page = try reader.page(of: window(query.plan(), request), nulSeparated: nulSeparated)
      }
      if page == nil { rows = try identifiers(request, query, overlay) }
    }
    if let page { return page }
    return try list(rows, request, query).page(0..<rows.count, keys: keys, nulSeparated: nulSeparated)
  }

  private func list(
    _ rows: ContiguousArray<RowIdentifier>, _ request: FetchRequest, _ query: BoundQuery
  ) -> ObjectList {
    ObjectList(context: self, entity: query.entity, rows: rows, reading: ObjectReading(batchSize: request.batchSize))
  }

  private func fetchObjects(_ request: FetchRequest, _ query: BoundQuery) throws(Failure) -> ObjectList {
    let reading = try ObjectReading(request, of: query.entity)
    let overlay = try overlay(for: request, query)
    if reading.refreshes { try refresh(overlay.objects) }
    if overlay.isEmpty, !source.holdsObjects, reading.batchSize == 0, case .values = reading.extent {
      // Nothing to lay over: ids and values come in one statement.
      let rows = try source.moment.rows(window(query.plan(), request))
      var objects: [ManagedObject?] = []
      objects.reserveCapacity(rows.count)
      for row in rows {
        try query.monitor?.check()
        let object = object(for: row)
        if reading.refreshes { object.refresh(with: row) }
        objects.append(object)
      }
      let list = ObjectList(context: self, kept: objects, entity: query.entity)
      if !reading.prefetched.isEmpty { try list.prefetch(reading.prefetched, from: objects.compactMap { $0 }) }
      return list
    }
    let rows = try identifiers(request, query, overlay)
    let list = ObjectList(context: self, entity: query.entity, rows: rows, reading: reading)
    if reading.batchSize == 0 { try list.loadAll() }
    return list
  }

  /// Brings pending objects up to date, before memory decides which of them belong to the result.
  private func refresh(_ objects: [ManagedObject]) throws(Failure) {
    let saved = objects.filter { $0.context === self && $0.state == .saved && !$0.isFault }
    guard let first = saved.first else { return }
    for row in try source.rows(root: first.entity.root, ids: saved.map(\.id)) { object(for: row).refresh(with: row) }
  }

  /// The plan with the request's limit and offset, for the store to apply.
  func window(_ plan: FetchPlan, _ request: FetchRequest) -> FetchPlan {
    var plan = plan
    plan.limit = request.limit
    plan.offset = request.offset
    return plan
  }

  /// How many results the request has, whatever its result type.
  func count(_ request: FetchRequest) throws(Failure) -> Int {
    try request.checkForFetch()
    try beginFetching()
    let query = try BoundQuery(request, in: self)
    return try source.moment.watched(by: query.monitor) { () throws(Failure) in try count(request, query) }
  }

  /// What a fetch of the request would run, in words for people.
  func explain(_ request: FetchRequest) throws(Failure) -> String {
    try request.checkForFetch()
    try beginFetching()
    let query = try BoundQuery(request, in: self)
    if request.resultType == .dictionaries {
      return try source.moment.explain(valuesPlan(request, query), projection(request, query)).text
    }
    let overlay = try overlay(for: request, query)
    let text = try source.moment.explain(window(query.plan(), request)).text
    if overlay.isEmpty { return text }
    return "\(text)\npending: \(overlay.objects.count) objects are looked at in memory, and their rows left out"
  }

  private func count(_ request: FetchRequest, _ query: BoundQuery) throws(Failure) -> Int {
    if request.resultType == .dictionaries {
      return try source.moment.count(valuesPlan(request, query), projection(request, query))
    }
    let overlay = try overlay(for: request, query)
    var plan = query.plan()
    plan.sort = []
    if overlay.isEmpty { return try source.moment.count(window(plan, request)) }
    plan.excluded = overlay.savedIDs
    var count = try source.moment.count(plan)
    for object in overlay.objects where try query.matches(object) { count += 1 }
    count = max(0, count - request.offset)
    return min(count, request.limit ?? count)
  }

  /// The ids of the result in order, limit and offset applied to saved rows and pending changes together.
  private func identifiers(
    _ request: FetchRequest, _ query: BoundQuery, _ overlay: PendingOverlay
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var plan = query.plan()
    let limit = request.limit
    if overlay.isEmpty { return try source.moment.ids(window(plan, request)) }
    plan.excluded = overlay.savedIDs
    if let limit { plan.limit = limit.addingReportingOverflow(request.offset).overflow ? nil : limit + request.offset }
    let matching = try overlay.matching(query)
    var merged = ContiguousArray<RowIdentifier>()
    if matching.isEmpty {
      merged = try source.moment.ids(plan)
    } else {
      var next = 0
      try source.moment.scan(plan, paths: query.sort.map(\.path)) { (row, values) throws(Failure) in
        let key = query.sortKey(of: row, values)
        while next < matching.count, matching[next].key < key {
          merged.append(matching[next].row)
          next += 1
        }
        merged.append(row)
      }
      for entry in matching[next...] { merged.append(entry.row) }
    }
    let from = min(request.offset, merged.count)
    let end = limit.map { min(merged.count - from, $0) + from } ?? merged.count
    return ContiguousArray(merged[from..<end])
  }

  private func overlay(for request: FetchRequest, _ query: BoundQuery) throws(Failure) -> PendingOverlay {
    if request.includesPendingChanges { return try PendingOverlay(query, in: self) }
    // What is pending in its parent is saved, to this context.
    return try parent.map { context throws(Failure) in try PendingOverlay(query, in: context) } ?? PendingOverlay()
  }

  /// What the request asks for, with the columns that it gets when it names none.
  private func projection(_ request: FetchRequest, _ query: BoundQuery) throws(Failure) -> Projection {
    var projection = try request.projection.readingDates(of: query.entity, in: store.uuid)
    projection.order = request.sort
    if projection.columns.isEmpty {
      let paths = ObjectList.attributePaths(of: query.entity)
      projection.columns = paths.map { .init(keyPath: $0.names) }
    }
    return projection
  }

  private func valuesPlan(_ request: FetchRequest, _ query: BoundQuery) -> FetchPlan {
    window(query.plan(), request)
  }

  private func fetchDictionaries(_ request: FetchRequest, _ query: BoundQuery) throws(Failure) -> ObjectList {
    let projection = try projection(request, query)
    let columns = try source.moment.columns(valuesPlan(request, query), projection)
    var kinds: [Column.Kind] = []
    for (place, column) in columns.enumerated() {
      if let property = column.property {
        kinds.append(Column.Kind(of: property))
      } else {
        kinds.append(try Column.Kind(of: column.values, called: projection.columns[place].name))
      }
    }
    return ObjectList(
      context: self, names: projection.columns.map { Text($0.name) }, kinds: kinds, cells: columns.map(\.values))
  }
}

extension Column.Kind {
  /// The kind that holds all of these; doubles where there are none.
  fileprivate init(of values: [Value], called name: String) throws(Failure) {
    var kind: Column.Kind?
    for value in values {
      guard let next = Column.Kind(of: value) else { continue }
      if kind == nil || kind == next {
        kind = next
      } else if let known = kind, known.isNumber, next.isNumber {
        kind = .double
      } else {
        throw Failure(
          .invalidArgument,
          "Column '\(name)' has values of different types, \(value.kindName) among them. CAST them to one.")
      }
    }
    self = kind ?? .double
  }

  private var isNumber: Bool { self == .integer || self == .double || self == .boolean }

  /// nil for nil, and for what is in no column.
  init?(of value: Value) {
    switch value {
    case .nil, .list: return nil
    case .integer: self = .integer
    case .boolean: self = .boolean
    case .double, .float: self = .double
    case .decimal: self = .decimal
    case .text: self = .text
    case .date: self = .date
    case .data, .external: self = .data
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .object: self = .objectID
    }
  }
}

extension Context {
  /// The objects of `entity` from which a path of relationships leads to one of `targets`, as it is saved or as it is
  /// now. There may be some more that lead there in neither way.
  func objects(
    reaching targets: [ManagedObject], along path: [Relationship], from entity: Entity
  ) throws(Failure) -> [ManagedObject] {
    guard let last = path.last else { return [] }
    var reached = targets.filter { $0.entity.isKind(of: last.destination) }
    for (depth, relationship) in path.enumerated().reversed() {
      if reached.isEmpty { return [] }
      reached = try owners(of: reached, through: relationship, from: depth == 0 ? entity : path[depth - 1].destination)
    }
    return reached
  }

  func owners(
    of members: [ManagedObject], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [ManagedObject] {
    try owners(of: Set(members.map(\.reference)), present: members, through: relationship, from: entity)
  }

  /// The same for references. Those whose objects are not `present` are references to deleted objects.
  func owners(
    of references: Set<ObjectReference>, present members: [ManagedObject], through relationship: Relationship,
    from entity: Entity
  ) throws(Failure) -> [ManagedObject] {
    var owners = ObjectSet()
    let ids = try source.owners(of: Array(references), through: relationship, from: entity)
    for row in try source.rows(root: entity.root, ids: ids) { owners.insert(object(for: row)) }
    if let inverse = relationship.inverse, !inverse.isToMany {
      for member in members where !member.isFault {
        guard case .object(let box) = member.values[inverse.slot],
          let owner = try object(box.reference, of: relationship.entity), owner.entity.isKind(of: entity)
        else { continue }
        owners.insert(owner)
      }
    }
    for object in pending.all where object.isLive && !object.isFault && object.entity.isKind(of: entity) {
      if relationship.isToMany {
        if object.toMany[relationship.slot]?.members.contains(where: references.contains) == true {
          owners.insert(object)
        }
      } else if case .object(let box) = object.values[relationship.slot], references.contains(box.reference) {
        owners.insert(object)
      }
    }
    return Array(owners)
  }
}

extension ManagedObject {
  /// An object to be inserted has a row only if it had one before, and another writer has brought that back.
  var mayHaveRow: Bool { id > 0 && (state != .inserted || version > 0) }

  func differsFromStore(in property: Property) -> Bool {
    state != .saved || committed[property.slot] != nil || toMany[property.slot]?.isChanged == true
  }
}
