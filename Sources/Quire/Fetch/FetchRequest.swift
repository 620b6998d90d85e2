import Synchronization

/// Which objects to fetch, in which order, how many, and as what. Plain data; names are resolved when it runs.
final class FetchRequest {
  /// Numbers as in Core Data.
  enum ResultType: UInt32, Sendable {
    case objects = 0, ids = 1, dictionaries = 2, count = 4
  }

  let entityName: String
  var predicate: Predicate? { didSet { stamp = FetchRequest.newStamp() } }
  var sort: [SortDescriptor] = [] { didSet { stamp = FetchRequest.newStamp() } }
  /// nil for all; 0 is none.
  var limit: Int? { didSet { stamp = FetchRequest.newStamp() } }
  var offset = 0 { didSet { stamp = FetchRequest.newStamp() } }
  /// 0 for all at once.
  var batchSize = 0
  var resultType = ResultType.objects { didSet { stamp = FetchRequest.newStamp() } }
  var includesSubentities = true { didSet { stamp = FetchRequest.newStamp() } }
  var includesPendingChanges = true
  /// Paths of relationships whose objects are read with the result.
  var prefetchedKeyPaths: [[String]] = []
  /// Without, objects are made from their ids alone, and each is read by itself when it is touched.
  var includesPropertyValues = true
  /// Objects are made from their ids alone, and a batch of them is read when one is touched.
  var returnsObjectsAsFaults = false
  /// Whether objects that have values already take over what is newer in the store.
  var shouldRefreshRefetchedObjects = false
  var cancellation: Cancellation?
  var progress: FetchMonitor.Progress?
  /// What dictionary results are made of; without columns, all attributes. Objects come with the columns alone.
  var projection = Projection()

  /// Another number, that no request had, whenever it came to ask for something else.
  private(set) var stamp = FetchRequest.newStamp()
  private static let lastStamp = Atomic<UInt64>(0)

  private static func newStamp() -> UInt64 { lastStamp.wrappingAdd(1, ordering: .relaxed).newValue }

  init(entityName: String) { self.entityName = entityName }

  /// A key path as it is written, split at its dots. Empty parts are refused.
  static func split(keyPath text: String) throws(Failure) -> [String] {
    if !text.isEmpty, !text.utf8.contains(UInt8(ascii: ".")) { return [text] }
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.contains("") {
      throw Failure(
        .invalidArgument, "'\(text)' is not a key path: a name is missing. Write keys separated by single dots.")
    }
    return names
  }
}

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
  /// Who watches its one run, if anybody does.
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

  /// The same for a stored row, from the values that `Store.scan` gives for the section and the sort keys.
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

extension Predicate {
  fileprivate func checkTypes(in entity: Entity) throws(Failure) {
    try checkTypes { (names) throws(Failure) in try entity.columnType(atKeyPath: names)?.comparisonClass }
  }
}

extension Entity {
  /// What a key path is declared to hold; nil where it leads through a to-many relationship or is calculated from it.
  func columnType(atKeyPath names: [String]) throws(Failure) -> ColumnType? {
    var current = self
    var isSingle = true
    var last: Property?
    for name in names {
      // What follows an attribute or an operator is known when there are values.
      if name.utf8.first == UInt8(ascii: "@") || last is Attribute { return nil }
      if name == "self" { continue }
      let property = try current.property(named: name)
      if let relationship = property as? Relationship {
        if relationship.isToMany { isSingle = false }
        current = relationship.destination
      }
      last = property
    }
    guard let last else { return .object(root: rootNumber) }
    return isSingle ? try ColumnType(comparing: last) : nil
  }
}

extension ManagedObject {
  /// Whether the object, with its values as they are now, fulfils a predicate.
  func fulfils(_ predicate: Predicate) throws(Failure) -> Bool {
    try fulfils(predicate, PredicateEvaluator(predicate))
  }

  /// The same with an evaluator of the predicate that is there already.
  func fulfils(
    _ predicate: Predicate, _ evaluator: PredicateEvaluator, variables: [String: Item] = [:]
  ) throws(Failure) -> Bool {
    _ = try PredicateReach(predicate, in: entity, of: context.store)
    try predicate.checkTypes(in: entity)
    return try evaluator.matches(self, variables: variables)
  }
}
