/// The cache of a list: what a first fetch found, in a file beside the store. It is a guess that is checked: what was
/// written for another query, or for another state of the store, is not taken.
struct ListCacheFile {
  private let file: CacheFile
  private let key: ContiguousArray<UInt8>
  private let moment: any Moment

  /// nil for a list that depends on more than the store, and where there is no file.
  init?(_ name: Text, of listing: Listing, in context: Context) {
    let query = listing.query
    guard !context.source.holdsObjects, context.store.path != ":memory:", listing.window == nil, query.sections == nil,
      query.predicate?.predicate.dependsOnStoreAlone ?? true
    else { return nil }
    moment = context.source.moment
    file = CacheFile(name, of: context.store.location)
    // The model is that of the store's file.
    var parts = [
      "1", TextOrder.libraryVersion.string, name.string, query.entity.name, "\(query.includesSubentities)",
      "\(listing.isSectioned)", query.predicate?.predicate.text ?? "",
    ]
    for sort in query.sort {
      parts.append(
        "\(sort.path.text) \(sort.isAscending) \(sort.textOrder.kind.rawValue) "
          + sort.textOrder.locale)
    }
    var key = ContiguousArray<UInt8>()
    for part in parts {
      key.append(contentsOf: part.utf8)
      key.append(0)
    }
    self.key = key
  }

  /// The beginning of the file.
  private func identity(_ state: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
    ContiguousArray("\(key.count) ".utf8) + key + state
  }

  func state() -> ContiguousArray<UInt8>? { moment.state().map { ContiguousArray($0) } }

  /// Fills an index with the rows of that state; false when they are not in the file.
  func load(into index: SectionedIndex, _ state: ContiguousArray<UInt8>) -> Bool {
    let identity = identity(state)
    guard let reader = file.read(), reader.part(1) == [identity.count] as ContiguousArray,
      reader.part(identity.count) == identity
    else { return false }
    if index.read(from: reader) { return true }
    index.removeAll()
    return false
  }

  /// Writes the rows that were read while the store was in that state, unless it was written since.
  func save(_ index: SectionedIndex, _ state: ContiguousArray<UInt8>) {
    guard let now = moment.settledState(), ContiguousArray(now) == state else { return }
    var writer = CacheFile.Writer()
    let identity = identity(state)
    writer.part([identity.count] as ContiguousArray)
    writer.part(identity)
    if index.write(to: &writer) { file.write(writer) }
  }
}

extension Predicate {
  /// Whether it says the same of the same rows at any time and in any process.
  fileprivate var dependsOnStoreAlone: Bool {
    let isOfThisProcess =
      switch self {
      case .comparison(let comparison): comparison.options.contains(.localeSensitive)
      case .not(let part): !part.dependsOnStoreAlone
      case .and(let parts), .or(let parts): !parts.allSatisfy(\.dependsOnStoreAlone)
      case .constant: false
      }
    return !isOfThisProcess && sides.allSatisfy(\.dependsOnStoreAlone)
  }
}

extension Expression {
  fileprivate var dependsOnStoreAlone: Bool {
    switch self {
    case .constant(let constant): return constant.value.isPlain
    case .variable, .variableKey, .assignment, .argument, .fetch, .subquery: return false
    case .function(let name, _) where FunctionRegistry.function(named: name) != nil || !FunctionTable.isPure(name):
      return false
    default: return parts.allSatisfy(\.dependsOnStoreAlone)
    }
  }
}

extension Value {
  /// Whether it is written out as what it is; objects may get another id.
  fileprivate var isPlain: Bool {
    switch self {
    case .object: false
    case .list(let list): list.values.allSatisfy(\.isPlain)
    default: true
    }
  }
}
