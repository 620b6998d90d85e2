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
  /// What a higher layer made of it, to lend it.
  var lent: AnyObject?

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
