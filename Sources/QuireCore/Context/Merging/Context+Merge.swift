extension Context {
  /// Takes over the saves of other contexts of the store since the last time, and notifies observers. Pending changes
  /// stay, on top of the new values. What fails is tried again the next time.
  func merge() throws(Failure) {
    try checkMayChange()
    try process()
    try mergeInbox()
  }

  /// The same without telling what has happened here.
  func mergeInbox() throws(Failure) {
    guard let change = inbox.take() else { return }
    let session = MergeSession(of: change, in: self)
    do throws(Failure) {
      try source.atOneState { () throws(Failure) in try session.prepare() }
    } catch {
      inbox.post(change)
      throw error
    }
    let refreshed = session.run()
    clock.noteMerge()
    runHooks(.refresh, refreshed)
    // What others have made refer to objects that are deleted here is for the delete rules, and not to be undone.
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = false }
    try propagateDeletes()
    undoManager?.isPaused = false
    try process()
    try throwHookFailure()
  }

  /// For what shows the state of the store. Within an observer the running bracket goes on first.
  func mergeIfAutomatic() throws(Failure) {
    try source.mergeIfAutomatic()
    if mergesAutomatically, activity.isDisjoint(with: [.notifying, .askingHandler]), !inbox.isEmpty { try merge() }
  }

  /// The rows that must lose objects which are changed here to be related one to one to others.
  func partners(of rows: [(object: ManagedObject, row: Row)]) throws(Failure) -> [Row] {
    var wanted: Set<ObjectReference> = []
    for (object, row) in rows {
      for relationship in object.entity.relationships where relationship.isOneToOne {
        guard object.committed[relationship.slot] != nil, case .object(let box) = row.values[relationship.slot] else {
          continue
        }
        wanted.insert(box.reference)
      }
    }
    return wanted.isEmpty ? [] : Array(try storedRows(wanted).values)
  }

  /// The one object of a row, if it is held.
  func registeredObject(_ row: RowIdentifier) -> ManagedObject? { reference(of: row).flatMap(registeredObject) }

  func reference(of row: RowIdentifier) -> ObjectReference? {
    model.entity(numbered: Int(row.entity)).map { ObjectReference(root: $0.rootNumber, id: row.id) }
  }

  /// Removes deleted rows from objects: from to-many members that were read, and from pending references to them, which
  /// could not be saved.
  func forgetMembers(_ gone: Set<ObjectReference>) {
    if gone.isEmpty { return }
    for object in registeredObjects {
      for (slot, members) in object.toMany where members.mentions(gone) {
        object.toMany[slot]?.forget(gone)
        touch(object, at: slot)
      }
    }
    for object in pending.insertedAndUpdated {
      for relationship in object.entity.relationships where !relationship.isToMany && !object.isFault {
        let slot = relationship.slot
        guard case .object(let box) = object.values[slot], gone.contains(box.reference),
          object.state == .inserted || object.committed[slot] != nil
        else { continue }
        object.write(.nil, at: slot)
      }
    }
  }
}
