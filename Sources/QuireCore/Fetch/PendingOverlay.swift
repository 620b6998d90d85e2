/// Objects whose values in a context, or in one that it reads through, may differ from those of the store, so that
/// memory decides. Each is of the nearest context that has such values.
struct PendingOverlay {
  private(set) var objects: [ManagedObject] = []
  /// The permanent ids among them: rows that the store has to leave out.
  private(set) var savedIDs: [Int64] = []

  /// Nothing is pending.
  init() {}

  /// Changed objects of the query's entity, and those that reach a changed object through its key paths.
  init(_ query: BoundQuery, in context: Context) throws(Failure) {
    objects = try PendingOverlay.objects(query, pendingIn: context)
    var next = context.parent
    var seen = next == nil ? [] : Set(objects.map(\.reference))
    while let above = next {
      for object in try PendingOverlay.objects(query, pendingIn: above) {
        if seen.insert(object.reference).inserted {
          objects.append(object)
        } else if object.mayHaveRow {
          // Brought back below.
          savedIDs.append(object.id)
        }
      }
      next = above.parent
    }
    savedIDs += objects.filter(\.mayHaveRow).map(\.id)
  }

  private static func objects(_ query: BoundQuery, pendingIn context: Context) throws(Failure) -> [ManagedObject] {
    if !context.hasChanges { return [] }
    let pending = context.pending.all
    var found = ObjectSet()
    for object in pending where object.entity.isKind(of: query.entity) { found.insert(object) }
    for dependency in query.dependencies() {
      let changed = pending.filter { dependency.concerns($0) && $0.differsFromStore(in: dependency.property) }
      for object in try context.objects(reaching: changed, along: dependency.path, from: query.entity) {
        found.insert(object)
      }
    }
    return Array(found)
  }

  var isEmpty: Bool { objects.isEmpty }

  /// Those that belong to the result, in its order.
  func matching(_ query: BoundQuery) throws(Failure) -> [(key: SortKey, row: RowIdentifier)] {
    var matching: [(key: SortKey, row: RowIdentifier)] = []
    for object in objects where try query.matches(object) {
      matching.append(
        (try query.sortKey(of: object), object.identifier))
    }
    return matching.sorted { $0.key < $1.key }
  }
}
