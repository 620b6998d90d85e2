/// A request resolved against a model: every name checked, ready for the store and for memory alike.
struct BoundQuery {
  let entity: Entity
  let includesSubentities: Bool
  /// With where it looks beyond the rows themselves, and its evaluator.
  let predicate: BoundPredicate?
  let sort: [BoundSort]
  /// What comes before the sort keys.
  let sections: QuerySections?
  /// What else is to be known of each row.
  var values: QueryValues?
  /// Beside each sort key; nil for binary order.
  private let textOrders: [TextOrderKeys?]
  /// The monitor of its one run, if there is one.
  var monitor: FetchMonitor?

  init(_ request: FetchRequest, in context: Context) throws(Failure) {
    let entity = try context.model.entity(named: request.entityName)
    var sort: [BoundSort] = []
    // Rows of values may be ordered by columns of their own, which only the store knows.
    if request.resultType != .dictionaries { for key in request.sort { sort.append(try BoundSort(key, of: entity)) } }
    try self.init(
      entity: entity, includesSubentities: request.includesSubentities, predicate: request.predicate, sort: sort,
      of: context.store)
    monitor = FetchMonitor(of: request.entityName, request.cancellation, request.progress, in: context)
  }

  init(
    entity: Entity, includesSubentities: Bool, predicate: Predicate?, sections: SectionRule? = nil,
    sort: [BoundSort], of store: any Engine
  ) throws(Failure) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.sort = sort
    var textOrders: [TextOrderKeys?] = []
    for key in sort {
      textOrders.append(key.textOrder == .binary ? nil : try TextOrderKeys(key.textOrder))
      if key.textOrder != .binary, !key.path.holdsText {
        throw Failure(
          .invalidArgument,
          "Sort key '\(key.path.text)' has an order for text, which '\(key.path.last.qualifiedName)' does not hold. "
            + "Sort it in binary order.", about: .property(key.path.last))
      }
    }
    self.textOrders = textOrders
    self.predicate = try predicate.map { (predicate) throws(Failure) in
      try BoundPredicate(predicate, to: entity, of: store.uuid)
    }
    self.sections = try sections.map { (rule) throws(Failure) in try QuerySections(rule, in: entity, of: store) }
  }

  func plan() -> FetchPlan {
    var plan = FetchPlan(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate?.predicate, sort: sort)
    plan.sections = sections?.scan()
    plan.values = values?.expressions ?? []
    return plan
  }

  /// Whether `object`, with its values as they are now, belongs to the result.
  func matches(_ object: ManagedObject) throws(Failure) -> Bool {
    guard object.isLive, includesSubentities ? object.entity.isKind(of: entity) : object.entity === entity else {
      return false
    }
    try monitor?.check()
    guard try object.isStillStored() else { return false }
    guard let predicate else { return true }
    return try predicate.evaluator.matches(object)
  }

  /// The place of `object` in the order, tie-break included. `section` is the order of its section, if it has one.
  func sortKey(of object: ManagedObject, in section: SortKey = SortKey()) throws(Failure) -> SortKey {
    var key = section
    key.bytes.reserveCapacity(section.bytes.count + 64)
    for place in sort.indices { append(try object.value(at: sort[place].path), at: place, to: &key) }
    key.append(tieBreak: object.id)
    return key
  }

  /// The same for a stored row, from the values that `Store.scan` passes for the section and the sort keys.
  func sortKey(of row: RowIdentifier, _ values: [Value]) -> SortKey {
    var key = SortKey()
    setSortKey(&key, of: row, values)
    return key
  }

  /// The part of the key that belongs to one sort key.
  func append(_ value: Value, at place: Int, to key: inout SortKey) {
    key.append(value, descending: !sort[place].isAscending, textOrder: textOrders[place])
  }

  /// The same in the memory of another key.
  func setSortKey(_ key: inout SortKey, of row: RowIdentifier, _ values: [Value]) {
    key.removeAll()
    var first = 0
    if sections != nil {
      if case .data(let order) = values[0] { key.bytes.append(contentsOf: order.buffer) }
      first = 1
    }
    for place in sort.indices { append(values[first + place], at: place, to: &key) }
    key.append(tieBreak: row.id)
  }

  /// The same for the row at which a scan is.
  func setSortKey(_ key: inout SortKey, of row: any RowScan) throws(Failure) {
    key.removeAll()
    var first = 0
    if sections != nil {
      if case .data(let order) = try row.value(at: 0) { key.bytes.append(contentsOf: order.buffer) }
      first = 1
    }
    for place in sort.indices {
      if textOrders[place] == nil, row.append(textAt: first + place, to: &key, descending: !sort[place].isAscending) {
        continue
      }
      append(try row.value(at: first + place), at: place, to: &key)
    }
    key.append(tieBreak: row.id)
  }
}
