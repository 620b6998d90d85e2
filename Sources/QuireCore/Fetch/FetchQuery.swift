/// A request resolved against a model: every name checked, ready for the store and for memory alike.
struct FetchQuery {
  let entity: Entity
  let includesSubentities: Bool
  let predicate: Predicate?
  let sort: [SortDescriptor]
  let sortPaths: [ResolvedKeyPath]
  /// What comes before the sort keys.
  let sections: QuerySections?
  /// What else is to be known of each row.
  var values: QueryValues?
  /// Beside each sort key; nil for binary order.
  private let textOrders: [TextOrderKeys?]
  /// Where the predicate looks beyond the rows themselves.
  let predicateReach: PredicateReach
  private let evaluator: PredicateEvaluator?
  /// The monitor of its one run, if there is one.
  var monitor: FetchMonitor?

  init(_ request: FetchRequest, in context: Context) throws(Failure) {
    try self.init(
      entity: context.model.entity(named: request.entityName), includesSubentities: request.includesSubentities,
      predicate: request.predicate,
      // Rows of values may be ordered by columns of their own, which only the store knows.
      sort: request.resultType == .dictionaries ? [] : request.sort, of: context.store)
    monitor = FetchMonitor(of: request.entityName, request.cancellation, request.progress, in: context)
  }

  init(
    entity: Entity, includesSubentities: Bool, predicate: Predicate?, sections: SectionRule? = nil,
    sort: [SortDescriptor], of store: Store
  ) throws(Failure) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    var paths: [ResolvedKeyPath] = []
    var textOrders: [TextOrderKeys?] = []
    for key in sort {
      let path = try ResolvedKeyPath(key.keyPath, of: entity, for: .sort)
      paths.append(path)
      textOrders.append(key.textOrder == .binary ? nil : try TextOrderKeys(key.textOrder))
      if key.textOrder != .binary, !path.holdsText {
        throw Failure(
          .invalidArgument,
          "Sort key '\(path.text)' has an order for text, which '\(path.last.qualifiedName)' does not hold. "
            + "Sort it in binary order.", about: .property(path.last))
      }
    }
    sortPaths = paths
    self.textOrders = textOrders
    evaluator = try predicate.map { (predicate) throws(Failure) in try PredicateEvaluator(predicate) }
    predicateReach = try PredicateReach(predicate, in: entity, of: store)
    try predicate?.checkTypes(in: entity)
    self.sections = try sections.map { (rule) throws(Failure) in try QuerySections(rule, in: entity, of: store) }
  }

  func plan() -> FetchPlan {
    var plan = FetchPlan(entity: entity, includesSubentities: includesSubentities, predicate: predicate, sort: sort)
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
    guard let evaluator else { return true }
    return try evaluator.matches(object)
  }

  /// The place of `object` in the order, tie-break included. `section` is the order of its section, if it has one.
  func sortKey(of object: ManagedObject, in section: SortKey = SortKey()) throws(Failure) -> SortKey {
    var key = section
    key.bytes.reserveCapacity(section.bytes.count + 64)
    for place in sort.indices { append(try object.value(at: sortPaths[place]), at: place, to: &key) }
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
  func setSortKey(_ key: inout SortKey, of row: RowScan) throws(Failure) {
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
