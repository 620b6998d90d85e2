/// The result of a fetch, a to-many relationship or the like: which objects or rows there are, fixed when it is made.
final class ObjectList {
  private enum Content {
    case objects
    case dictionaries(names: [Text], kinds: [Column.Kind], cells: [[Value]])
    case count(Int)
  }

  let context: Context
  /// nil when the objects may be of unrelated entities.
  private let entity: Entity?
  private let content: Content
  private(set) var rows: ContiguousArray<RowIdentifier>
  /// Objects that were touched. Without a batch size the list keeps all, otherwise those of the last batches.
  private var objects: [ManagedObject?]
  private let reading: ObjectReading
  private var keptBatches: KeptBatches
  /// Related objects by the place of their batch, as long as the list keeps that.
  private var prefetched: [Int: [ManagedObject]] = [:]
  /// By place: whether those of the batch that begins there have been read.
  private var hasPrefetched: [Bool] = []

  /// Objects that are made when asked for, and read as `reading` says.
  init(context: Context, entity: Entity, rows: ContiguousArray<RowIdentifier>, reading: ObjectReading) {
    self.context = context
    self.entity = entity
    self.rows = rows
    self.reading = reading
    keptBatches = KeptBatches(batchSize: reading.batchSize)
    if !reading.prefetched.isEmpty { hasPrefetched = Array(repeating: false, count: rows.count) }
    content = .objects
    objects = Array(repeating: nil, count: rows.count)
    // What was never saved has no row to be read from later.
    for (place, row) in rows.enumerated() where row.id < 0 {
      objects[place] = context.registeredObject(ObjectReference(root: entity.rootNumber, id: row.id))
    }
  }

  convenience init(context: Context, objects: [ManagedObject], entity: Entity?) {
    self.init(context: context, kept: objects.map { $0 }, entity: entity)
  }

  /// The same; there is no gap in `objects`, whose type saves a copy.
  init(context: Context, kept objects: [ManagedObject?], entity: Entity?) {
    self.context = context
    self.entity = entity
    var rows: ContiguousArray<RowIdentifier> = []
    rows.reserveCapacity(objects.count)
    for case let object? in objects { rows.append(object.identifier) }
    self.objects = objects
    self.rows = rows
    reading = ObjectReading()
    keptBatches = KeptBatches(batchSize: 0)
    content = .objects
  }

  /// Rows of values, which are none of the table: they have no ids.
  init(context: Context, names: [Text], kinds: [Column.Kind], cells: [[Value]]) {
    self.context = context
    rows = ContiguousArray(repeating: RowIdentifier(id: 0, entity: 0), count: cells.first?.count ?? 0)
    entity = nil
    objects = []
    reading = ObjectReading()
    keptBatches = KeptBatches(batchSize: 0)
    content = .dictionaries(names: names, kinds: kinds, cells: cells)
  }

  init(context: Context, count: Int) {
    self.context = context
    rows = []
    entity = nil
    objects = []
    reading = ObjectReading()
    keptBatches = KeptBatches(batchSize: 0)
    content = .count(count)
  }

  var count: Int { if case .count = content { 1 } else { rows.count } }

  /// nil for a count, which has no ids. An object that was saved meanwhile has its permanent id.
  func id(at index: Int) -> Int64 { objects.isEmpty ? rows[index].id : objects[index]?.id ?? rows[index].id }

  func checkHasIDs() throws(Failure) {
    switch content {
    case .objects: return
    case .count: throw Failure(.invalidState, "This list holds a count, which has no ids.")
    case .dictionaries:
      throw Failure(.invalidState, "This list holds rows of values, which have no ids. Add SELF as a column.")
    }
  }

  func object(at index: Int) throws(Failure) -> ManagedObject {
    guard case .objects = content else {
      throw Failure(.invalidState, "This list holds values, not objects. Fetch with the result type objects.")
    }
    guard objects.indices.contains(index) else {
      throw Failure(.notFound, "The list has \(count) objects; there is none at \(index).")
    }
    if objects[index]?.state == .forgotten { letGoOfForgotten() }
    let batch = batch(around: index)
    // What was never saved is there from the beginning, though not what is to come with it.
    let isComplete = reading.prefetched.isEmpty || hasPrefetched[batch.lowerBound]
    if let object = objects[index], isComplete { return object }
    try load(batch)
    guard let object = objects[index] else {
      throw context.missingRow("The row of object \(rows[index].id) is no longer in the store.")
    }
    for place in keptBatches.note(batch.lowerBound) { letGo(of: self.batch(around: place)) }
    return object
  }

  /// Releases objects without another reference. Objects without a row to be read from again stay, and so do those that
  /// an id other than their row's leads to.
  private func letGo(of range: Range<Int>) {
    for index in range {
      if let object = objects[index], object.state == .saved, object.id == rows[index].id { objects[index] = nil }
    }
    prefetched[range.lowerBound] = nil
    if !hasPrefetched.isEmpty { hasPrefetched[range.lowerBound] = false }
  }

  /// After the context was reset: the rows are there, for other objects.
  private func letGoOfForgotten() {
    if entity == nil { return }
    for index in objects.indices where objects[index]?.state == .forgotten { objects[index] = nil }
    for place in hasPrefetched.indices { hasPrefetched[place] = false }
  }

  private func batch(around index: Int) -> Range<Int> {
    if reading.batchSize == 0 { return 0..<rows.count }
    let first = index / reading.batchSize * reading.batchSize
    return first..<min(first + reading.batchSize, rows.count)
  }

  func loadAll() throws(Failure) { try load(0..<rows.count) }

  /// Makes the objects in `range` that were not asked for yet.
  private func load(_ range: Range<Int>) throws(Failure) {
    guard let entity else { return }
    switch reading.extent {
    case .values: try read(range, entity)
    // Some properties are known to the store alone, and a parent may have others.
    case .whenTouched(let properties) where context.source.holdsObjects && !properties.isEmpty: try read(range, entity)
    case .whenTouched(let properties): try makeUnread(range, entity, properties)
    case .alone: _ = make(range)
    }
  }

  /// Reads what is missing in `range`, in one go, and what is to come with it.
  private func read(_ range: Range<Int>, _ entity: Entity) throws(Failure) {
    var missing: [Int64] = []
    for index in range where objects[index] == nil {
      if let object = registered(at: index, entity), !object.isFault {
        objects[index] = object
        if reading.refreshes, object.state == .saved { missing.append(rows[index].id) }
      } else {
        missing.append(rows[index].id)
      }
    }
    if !missing.isEmpty {
      var found: [Int64: ManagedObject] = [:]
      found.reserveCapacity(missing.count)
      for row in try context.source.rows(root: entity.root, ids: missing) {
        let object = context.object(for: row)
        if reading.refreshes { object.refresh(with: row) }
        found[row.id] = object
      }
      for index in range where objects[index] == nil { objects[index] = found[rows[index].id] }
    }
    try prefetch(reading.prefetched, from: objects[range].compactMap { $0 }, at: range.lowerBound)
    if !hasPrefetched.isEmpty { hasPrefetched[range.lowerBound] = true }
  }

  /// Reads related objects of those from `place` on, and keeps them.
  func prefetch(_ paths: [[Relationship]], from objects: [ManagedObject], at place: Int = 0) throws(Failure) {
    if !paths.isEmpty { prefetched[place] = try context.prefetch(paths, from: objects) }
  }

  /// Makes objects in `range` without reading their rows; returns those that have no values.
  private func make(_ range: Range<Int>) -> [ManagedObject] {
    var faults: [ManagedObject] = []
    for index in range where objects[index] == nil {
      guard let entity = context.model.entity(numbered: Int(rows[index].entity)) else { continue }
      let object = context.object(ObjectReference(root: entity.rootNumber, id: rows[index].id), entity: entity)
      objects[index] = object
      if object.isFault, object.state == .saved { faults.append(object) }
    }
    return faults
  }

  /// The same for objects that are read together, with the values of `properties`.
  private func makeUnread(_ range: Range<Int>, _ entity: Entity, _ properties: [Property]) throws(Failure) {
    let faults = make(range)
    if faults.isEmpty { return }
    var ids = faults.map(\.id)
    var columns: [[Value]] = Array(repeating: [], count: properties.count)
    if !properties.isEmpty {
      // Its order is that of the ids.
      let plan = FetchPlan(entity: entity, isRestrictedTo: ids)
      ids = []
      let paths = properties.map(ResolvedKeyPath.init)
      try context.source.moment.scan(plan, paths: paths) { (row, values) throws(Failure) in
        ids.append(row.id)
        for (place, value) in values.enumerated() { columns[place].append(value) }
      }
    }
    let batch = UnreadBatch(root: entity.rootNumber, ids: ids, slots: properties.map(\.slot), columns: columns)
    for object in faults { object.unread = batch }
  }

  // MARK: Pages

  static func attributePaths(of entity: Entity) -> [ResolvedKeyPath] {
    entity.attributes.filter { $0.type != .undefined && !$0.isTransient }.map(ResolvedKeyPath.init)
  }

  /// Values of the rows in `range` as columns; no `keys` for all attributes, or for the columns of the request.
  func page(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    switch content {
    case .count(let count):
      try checkNoKeys(keys)
      var column = ColumnBuilder(name: "count", kind: .integer, capacity: 1)
      for _ in range { column.append(.integer(Int64(count))) }
      return Page(rowCount: range.count, columns: [try column.column()])
    case .dictionaries(let names, let kinds, let cells):
      try checkNoKeys(keys)
      var columns: [Column] = []
      for (index, name) in names.enumerated() {
        var column = ColumnBuilder(name: name, kind: kinds[index], capacity: range.count)
        for value in cells[index][range] { column.append(value.fitting(kinds[index])) }
        columns.append(try column.column(nulSeparated: nulSeparated))
      }
      return Page(rowCount: range.count, columns: columns)
    case .objects: return try objectPage(range, keys: keys, nulSeparated: nulSeparated)
    }
  }

  private func checkNoKeys(_ keys: [String]) throws(Failure) {
    if !keys.isEmpty {
      throw Failure(.invalidArgument, "This list has columns of its own; ask for its page without key paths.")
    }
  }

  private func objectPage(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    let known = if let entity { entity } else { try commonEntity() }
    guard let entity = known else { return Page(rowCount: 0, columns: []) }
    let reader = try PageReader(entity: entity, keys: keys, context: context)
    var values = PageReader.Builders(reader, rowCount: range.count)
    // Held, for another thread may release the last handle of an object in between.
    let shown = range.map { index -> ManagedObject? in
      guard let object = objects[index] ?? registered(at: index, entity), !object.isFault else { return nil }
      return object.state == .gone ? nil : object
    }
    let held = shown.compactMap(\.self)
    if held.count == shown.count {
      try values.append(held)
      return try values.page(nulSeparated: nulSeparated)
    }
    if reader.reachesRelated {
      try values.append(try made(range, shown, reader))
      return try values.page(nulSeparated: nulSeparated)
    }
    context.pageAhead.note(range.map { rows[$0].id }, root: entity.rootNumber)
    if held.isEmpty, let page = try reader.page(ofStored: range.map { rows[$0].id }, nulSeparated: nulSeparated) {
      return page
    }
    var next = range.lowerBound
    func gone() -> Failure { self.gone(next, entity) }
    func addObjects() throws(Failure) {
      while next < range.upperBound, let object = shown[next - range.lowerBound] {
        try values.append(object)
        next += 1
      }
    }
    let missing = zip(range, shown).compactMap { $1 == nil ? rows[$0].id : nil }
    let isRead = try reader.readColumns(missing) { row throws(Failure) in
      try addObjects()
      guard next < range.upperBound, rows[next].id == row.id else { throw gone() }
      _ = try values.append(row)
      next += 1
    }
    if isRead {
      try addObjects()
      if next < range.upperBound { throw gone() }
      return try values.page(nulSeparated: nulSeparated)
    }
    let stored = try reader.stored(missing)
    for (index, object) in zip(range, shown) {
      next = index
      if let object {
        try values.append(object)
      } else if let row = stored[rows[index].id] {
        try values.append(row)
      } else {
        throw gone()
      }
    }
    return try values.page(nulSeparated: nulSeparated)
  }

  /// The objects of `range`, made where there are none, since the values at paths through relationships are theirs.
  private func made(
    _ range: Range<Int>, _ shown: [ManagedObject?], _ reader: PageReader
  ) throws(Failure) -> [ManagedObject] {
    let stored = try reader.stored(zip(range, shown).compactMap { $1 == nil ? rows[$0].id : nil })
    return try zip(range, shown).map { (index, object) throws(Failure) in
      if let object { return object }
      guard let row = stored[rows[index].id] else { throw gone(index, reader.entity) }
      return context.object(for: row)
    }
  }

  private func gone(_ index: Int, _ entity: Entity) -> Failure {
    context.missingRow("The row of \(entity.name) \(rows[index].id) is no longer in the store.")
  }

  /// The entity that all objects are of; nil when there are none.
  private func commonEntity() throws(Failure) -> Entity? {
    guard let first = objects.first??.entity else { return nil }
    var common = first
    for case let object? in objects {
      while !object.entity.isKind(of: common) {
        guard let parent = common.parent else {
          throw Failure(
            .invalidState,
            "The list holds objects of '\(first.name)' and of '\(object.entity.name)', which have no keys in common. "
              + "Read them one by one.")
        }
        common = parent
      }
    }
    return common
  }

  private func registered(at index: Int, _ entity: Entity) -> ManagedObject? {
    context.registeredObject(ObjectReference(root: entity.rootNumber, id: rows[index].id))
  }
}

extension Value {
  /// A number as a double in a column of doubles.
  fileprivate func fitting(_ kind: Column.Kind) -> Value {
    switch (kind, self) {
    case (.double, .integer), (.double, .boolean): .double(number?.double ?? 0)
    default: self
    }
  }
}
