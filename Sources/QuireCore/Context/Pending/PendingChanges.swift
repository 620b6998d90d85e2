/// What differs between a context and what it saves to.
///
/// The objects are held strongly: a caller need not hold an object that a save has to write. Each of the operations
/// leaves the state of an object and the set that it is in agreeing.
final class PendingChanges {
  private(set) var inserted = ObjectSet()
  private(set) var updated = ObjectSet()
  private(set) var deleted = ObjectSet()
  /// Deleted, but their delete rules have not been applied yet.
  private var awaitingDeleteRules = ObjectSet()
  /// Deleted since the last save by having their insertion taken back: delete rules have nothing go with them.
  private var cancelledInserts = ObjectSet()
  /// Holders of to-many members that were read while unsaved objects belonged to them: a save renames those, a
  /// rollback takes them away.
  private(set) var overlaid = ObjectSet()
  /// Holders of to-many members that changed without having been read, where a save has to count them.
  private(set) var uncounted = ObjectSet()
  /// Objects whose to-one relationships came to hold, or ceased to hold, that reference since the last save.
  private var holders: [ObjectReference: ObjectSet] = [:]
  /// What looks objects up by their values; made by the first lookup after a save.
  private var lookups: [PendingValues] = []
  /// Objects that have changed since lookups filed them.
  private var unfiled = ObjectSet()

  /// Whether a save has nothing to write.
  var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && updated.isEmpty }

  /// Inserted, updated and deleted objects, in this order.
  var all: [ManagedObject] { Array(inserted) + Array(updated) + Array(deleted) }

  /// The objects whose values a save writes.
  var insertedAndUpdated: [ManagedObject] { Array(inserted) + Array(updated) }

  // MARK: What becomes of an object

  func insert(_ object: ManagedObject) {
    object.state = .inserted
    inserted.insert(object)
  }

  /// Files an object among the changed ones if it is one now.
  func sort(_ object: ManagedObject) {
    if object.isUpdated { updated.insert(object) } else { updated.remove(object) }
  }

  /// Files an object as deleted, and among the cancelled inserts if its insertion was taken back.
  func delete(_ object: ManagedObject, isCancelledInsert: Bool) {
    if isCancelledInsert {
      cancelledInserts.insert(object)
    } else if !cancelledInserts.isEmpty {
      cancelledInserts.remove(object)
    }
    for case .object(let box) in object.values { noteHolder(object, of: box.reference) }
    if object.state == .inserted {
      inserted.remove(object)
      object.state = .gone
    } else {
      object.state = .deleted
      updated.remove(object)
      deleted.insert(object)
    }
    awaitingDeleteRules.insert(object)
  }

  /// Has a deleted object back: its row is still there and to stay, or there is to be one again, with the same id.
  func takeBack(_ object: ManagedObject) {
    awaitingDeleteRules.remove(object)
    if object.state == .deleted {
      object.state = .saved
      deleted.remove(object)
      if object.isUpdated { updated.insert(object) }
    } else {
      insert(object)
    }
  }

  /// A deletion is given up, and with it what was changed before.
  func revive(_ object: ManagedObject) {
    deleted.remove(object)
    awaitingDeleteRules.remove(object)
    object.state = .saved
  }

  /// An object changed here whose row is gone is to be inserted again.
  func insertAgain(_ object: ManagedObject) {
    updated.remove(object)
    insert(object)
  }

  /// The row of an object that was inserted again has come back.
  func becomeStored(_ object: ManagedObject) {
    inserted.remove(object)
    object.state = .saved
  }

  /// Takes an object out of everything whose row is no longer there.
  func drop(_ object: ManagedObject) {
    inserted.remove(object)
    updated.remove(object)
    deleted.remove(object)
    awaitingDeleteRules.remove(object)
    object.state = .gone
  }

  /// After a save: nothing is pending. The holders of overlaid members are taken by themselves.
  func removeSaved() {
    assert(isSound)
    forget()
  }

  func removeAll() {
    forget()
    awaitingDeleteRules = ObjectSet()
    overlaid = ObjectSet()
  }

  private func forget() {
    inserted = ObjectSet()
    updated = ObjectSet()
    deleted = ObjectSet()
    cancelledInserts = ObjectSet()
    uncounted = ObjectSet()
    holders = [:]
    lookups = []
    unfiled = ObjectSet()
  }

  /// Whether the objects are in the states that their sets stand for.
  private var isSound: Bool {
    inserted.allSatisfy { $0.state == .inserted } && deleted.allSatisfy { $0.state == .deleted }
  }

  // MARK: Delete rules

  /// Has the delete rules of a deleted object applied, also if that has been done before.
  func awaitDeleteRules(_ object: ManagedObject) { awaitingDeleteRules.insert(object) }

  /// Deleted objects whose delete rules are to be applied now, or nil.
  func takeAwaitingDeleteRules() -> [ManagedObject]? {
    awaitingDeleteRules.isEmpty ? nil : awaitingDeleteRules.take()
  }

  /// Whether it was deleted by having its insertion taken back.
  func isCancelledInsert(_ object: ManagedObject) -> Bool { cancelledInserts.contains(object) }

  // MARK: Relationships

  /// Notes that members of `object` were read with unsaved ones among them.
  func noteOverlaid(_ object: ManagedObject) { overlaid.insert(object) }

  func takeOverlaid() -> [ManagedObject] { overlaid.take() }

  /// Notes that members of `object` changed without having been read, and are to be counted by a save.
  func noteUncounted(_ object: ManagedObject) { uncounted.insert(object) }

  /// Notes that a pending change of `object` concerns readers of what holds `reference`.
  func noteHolder(_ object: ManagedObject, of reference: ObjectReference) {
    holders[reference, default: ObjectSet()].insert(object)
  }

  /// The objects whose pending changes may concern the inverse relationships of that reference.
  func holders(of reference: ObjectReference) -> ObjectSet { holders[reference] ?? ObjectSet() }

  /// After an object got another reference.
  func renameHolders(of reference: ObjectReference, to permanent: ObjectReference) {
    if let renamed = holders.removeValue(forKey: reference) { holders[permanent] = renamed }
  }

  // MARK: Values

  /// More than this are found faster by their values than one after the other.
  private static let mostInTurn = 32

  /// Whether the objects are to be looked up by their values.
  var isLarge: Bool { inserted.count + updated.count > PendingChanges.mostInTurn }

  /// The objects with pending changes that have that value.
  func objects(with value: Value, of property: Property) -> [ManagedObject] {
    fileValues()
    let known = lookups.first { $0.property === property }
    let values = known ?? PendingValues(of: property, among: insertedAndUpdated)
    if known == nil { lookups.append(values) }
    return values.objects(with: value)
  }

  /// An object was inserted or changed: lookups file it before they are used.
  func noteChange(of object: ManagedObject) { if !lookups.isEmpty { unfiled.insert(object) } }

  /// Files objects under the values that they have now.
  func fileValues() {
    if unfiled.isEmpty { return }
    let objects = unfiled.take()
    for values in lookups { objects.forEach(values.note) }
  }
}
