/// The store, to a context that has no other one above it.
final class StoreSource: SavedSource {
  private let store: Store

  init(_ store: Store) { self.store = store }

  // MARK: Rows

  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row] { try store.rows(root: root, ids: ids) }

  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> Set<Int64> { Set(try store.usedIDs(ids, root: root)) }

  func usedIDs(_ ids: [Int64], of entity: Entity) throws(Failure) -> Set<Int64> {
    ids.isEmpty ? [] : Set(try store.ids(FetchPlan(entity: entity, isRestrictedTo: ids)).map(\.id))
  }

  // MARK: Relationships

  func members(of relationship: Relationship, owner: Int64) throws(Failure) -> [RowIdentifier] {
    Array(try store.relatedIDs(relationship, of: owner))
  }

  /// One statement for all of them.
  func readMembers(
    of relationship: Relationship, _ owners: [ManagedObject], in context: Context
  ) throws(Failure) -> [ManagedObject] {
    if relationship.isTransient { return [] }
    let unread = owners.filter { $0.toMany[relationship.slot] == nil && $0.state != .inserted && $0.id > 0 }
    if unread.isEmpty { return [] }
    let found = try store.members(of: relationship, owners: unread.map(\.id))
    var objects: [ManagedObject] = []
    objects.reserveCapacity(found.rows.count)
    for row in found.rows { objects.append(context.object(for: row)) }
    let root = relationship.destination.rootNumber
    var next = 0
    for owner in unread.sorted(by: { $0.id < $1.id }) {
      var members: [ObjectReference] = []
      while next < found.members.count, found.members[next].owner <= owner.id {
        members.append(ObjectReference(root: root, id: found.members[next].id))
        next += 1
      }
      owner.take(members, asSavedIn: relationship)
    }
    return objects
  }

  func owners(
    of members: [ObjectReference], through relationship: Relationship, from entity: Entity
  ) throws(Failure) -> [Int64] {
    try store.ids(reaching: members, along: [relationship], from: entity)
  }

  // MARK: Statements

  var reader: Store { store }
  var holdsObjects: Bool { false }

  func atOneState(_ body: () throws(Failure) -> Void) throws(Failure) {
    try store.withConnection { connection throws(Failure) in try connection.snapshot(body) }
  }

  // MARK: What is to come

  func readsAhead(of inbox: ChangeInbox) -> Bool { !inbox.isEmpty }

  func mergeIfAutomatic() {}

  // MARK: Saving

  func save(_ request: SaveRequest, of context: Context) throws(Failure) -> SaveResult? {
    if request.isEmpty {
      try saveProperties(of: context)
      return nil
    }
    return try context.writing { () throws(Failure) in
      try store.save(request) { context.publish(request, $0) }
    }
  }

  var hasPropertiesToSave: Bool { !store.metadataChanges.isEmpty && !store.isClosed }

  func saveProperties(of context: Context) throws(Failure) {
    if store.metadataChanges.isEmpty { return }
    try context.writing { () throws(Failure) in try store.saveProperties() }
  }

  /// Other contexts find it in their inboxes.
  func announceSave() {}

  func obtainPermanentIDs() {}

  // MARK: What only a store has

  func checkHasTransactions() {}

  func checkHasBatchRequests() {}

  var noTransaction: Failure {
    Failure(.invalidState, "The context has no transaction open. Begin one first.")
  }
}
