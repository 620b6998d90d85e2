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

extension Predicate {
  func checkTypes(in entity: Entity) throws(Failure) {
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
