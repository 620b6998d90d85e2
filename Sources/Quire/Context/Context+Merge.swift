/// What a context needs to take over a change of the store, read while the change could still be taken back.
struct PreparedMerge {
  fileprivate let change: StoreChange
  /// Updated rows of objects that have values here.
  fileprivate let rows: [Row]
  /// The owners of `change.regrouped` that are registered or that somebody follows.
  fileprivate let regrouped: [(relationship: Relationship, owners: [ManagedObject])]
  /// What the store now says of to-many relationships with pending changes.
  fileprivate let members: [(object: ManagedObject, slot: Int, present: [ObjectReference])]
}

extension Context {
  /// Takes over what other contexts of the store have saved since the last time, and tells observers. Pending changes
  /// stay, on top of the new values. What fails is tried again the next time.
  func merge() throws(Failure) {
    try checkMayChange()
    try process()
    guard let change = inbox.take() else { return }
    do throws(Failure) {
      merge(
        try store.withConnection { connection throws(Failure) in
          try connection.snapshot { () throws(Failure) in try prepareMerge(of: change) }
        })
    } catch {
      inbox.post(change)
      throw error
    }
    try process()
  }

  /// For what shows the state of the store. Within an observer the running bracket goes on first.
  func mergeIfAutomatic() throws(Failure) {
    if let parent {
      try parent.mergeIfAutomatic()
      // What it comes to tell arrives in the inbox.
      try parent.process()
    }
    if mergesAutomatically, !isProcessing, !isAskingHandler, !inbox.isEmpty { try merge() }
  }

  /// Reads what `merge` needs, so that nothing is left that can fail once the change is in the file.
  func prepareMerge(of change: StoreChange) throws(Failure) -> PreparedMerge {
    let change = try withoutRowsThatReturned(change)
    var wanted: [Int: [Int64]] = [:]
    for row in change.updated {
      guard let object = registeredObject(row), !object.isFault else { continue }
      wanted[object.entity.rootNumber, default: []].append(row.id)
    }
    var rows: [Row] = []
    for (root, ids) in wanted {
      guard let entity = model.entity(numbered: root) else { continue }
      rows += try self.rows(root: entity, ids: ids)
    }
    var regrouped: [(relationship: Relationship, owners: [ManagedObject])] = []
    var members: [(object: ManagedObject, slot: Int, present: [ObjectReference])] = []
    let observers = liveObservers
    for (relationship, owners) in change.regrouped {
      let isFollowed = observers.contains { $0.follows(relationship.entity) }
      var objects: [ManagedObject] = []
      for owner in owners {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner.id)
        var found = registeredObject(reference)
        if found == nil, isFollowed { found = try self.object(reference, of: relationship.entity) }
        guard let object = found else { continue }
        objects.append(object)
        guard object.toMany[relationship.slot]?.isChanged == true else { continue }
        let root = relationship.destination.rootNumber
        let present = try savedMembers(of: relationship, owner: owner.id).map {
          ObjectReference(root: root, id: $0.id)
        }
        members.append((object, relationship.slot, present))
      }
      regrouped.append((relationship, objects))
    }
    return PreparedMerge(change: change, rows: rows, regrouped: regrouped, members: members)
  }

  /// A row that was deleted may have been inserted again since, under its id, by whoever had changes of it.
  private func withoutRowsThatReturned(_ change: StoreChange) throws(Failure) -> StoreChange {
    var ids: [Int: [Int64]] = [:]
    for row in change.deleted {
      guard let object = registeredObject(row), object.isLive else { continue }
      ids[object.entity.rootNumber, default: []].append(row.id)
    }
    var change = change
    for (root, ids) in ids {
      guard let entity = model.entity(numbered: root) else { continue }
      let stored = try savedIDs(ids, root: entity)
      if stored.isEmpty { continue }
      for row in change.deleted where stored.contains(row.id) && registeredObject(row)?.entity.rootNumber == root {
        change.updated.append(row)
      }
      change.deleted.removeAll { stored.contains($0.id) && registeredObject($0)?.entity.rootNumber == root }
    }
    return change
  }

  /// Takes over a change of the store: objects show the new values, but keep what was changed here, and observers are
  /// told when changes are next processed.
  func merge(_ prepared: PreparedMerge) {
    generation += 1
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = false }
    let change = prepared.change
    for child in children { child.inbox.post(change) }
    let observers = liveObservers
    var followed: [Int32: Bool] = [:]
    func isFollowed(_ row: RowIdentifier, _ entity: Entity) -> Bool {
      if let known = followed[row.entity] { return known }
      let answer = observers.contains { $0.follows(entity) }
      followed[row.entity] = answer
      return answer
    }
    /// The object of a row if it is registered, or if somebody has to be told of it.
    func object(_ row: RowIdentifier) -> ManagedObject? {
      if let object = registeredObject(row) { return object }
      guard let entity = model.entity(numbered: Int(row.entity)), isFollowed(row, entity) else { return nil }
      return self.object(ObjectReference(root: entity.rootNumber, id: row.id), entity: entity)
    }

    for row in change.deleted {
      if let object = object(row) { file(gone: object) }
    }
    forgetMembers(change.deleted)
    for row in change.inserted {
      if let object = object(row) { touchLife(of: object, isLive: false) }
    }
    for row in prepared.rows {
      registeredObject(ObjectReference(root: row.entity.rootNumber, id: row.id))?.rebase(onto: row)
    }
    for row in change.updated {
      guard let object = object(row), object.isFault, object.state == .saved else { continue }
      object.unread?.forgetValues()
      touch(object)
    }
    for (object, slot, present) in prepared.members { object.toMany[slot]?.rebase(onto: present) }
    for (relationship, owners) in prepared.regrouped {
      for object in owners where object.state == .saved {
        if object.toMany[relationship.slot]?.isChanged == false { object.toMany[relationship.slot] = nil }
        touch(object, at: relationship.slot)
      }
    }
  }

  private func registeredObject(_ row: RowIdentifier) -> ManagedObject? {
    guard let entity = model.entity(numbered: Int(row.entity)) else { return nil }
    return registeredObject(ObjectReference(root: entity.rootNumber, id: row.id))
  }

  /// Has objects let go of rows that are gone: to-many members that were read, and what was changed here to refer to
  /// them, which could not be saved.
  private func forgetMembers(_ rows: ContiguousArray<RowIdentifier>) {
    var gone: Set<ObjectReference> = []
    for row in rows {
      if let entity = model.entity(numbered: Int(row.entity)) {
        gone.insert(ObjectReference(root: entity.rootNumber, id: row.id))
      }
    }
    forgetMembers(gone)
  }

  func forgetMembers(_ gone: Set<ObjectReference>) {
    if gone.isEmpty { return }
    for object in registeredObjects {
      for (slot, members) in object.toMany where members.members.contains(where: gone.contains) {
        object.toMany[slot]?.forget(gone)
        touch(object, at: slot)
      }
    }
    for object in Array(inserted) + Array(updated) {
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

extension ManagedObject {
  /// Takes over the values of a row that was changed in the store. What was changed here stays, on top of them.
  func rebase(onto row: Row) {
    version = row.version
    for property in entity.properties where !property.isTransient {
      let slot = property.slot
      let present = row.values[slot]
      if let saved = committed[slot] {
        if saved.isIdentical(to: present) { continue }
        committed[slot] = values[slot].isIdentical(to: present) ? nil : present
        if case .object(let box) = present { context.noteHolder(self, of: box.reference) }
        if state == .saved { context.touch(self, at: slot, from: values[slot]) }
      } else {
        let old = values[slot]
        if old.isIdentical(to: present) { continue }
        values[slot] = present
        if state == .saved { context.touch(self, at: slot, from: old) }
      }
    }
  }
}
