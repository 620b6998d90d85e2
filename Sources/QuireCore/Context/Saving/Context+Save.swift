extension Context {
  /// Writes everything pending in one transaction. On failure nothing was written and everything stays pending.
  ///
  /// What others have saved before it, the context takes over after that.
  func save() throws(Failure) {
    if try writePending() { try finishSave() }
  }

  /// Returns false where there was nothing to be saved.
  private func writePending() throws(Failure) -> Bool {
    try checkMaySave()
    settledCount = 0
    try process()
    if !hasChanges { return try saveProperties() }
    try willSave()
    if !hasChanges { return try saveProperties() }
    try Validation.check(self)
    let (request, result) = try writeSettlingConflicts()
    hasConflicted = false

    // From here on nothing fails: the file has the changes.
    var assigned: [(object: ManagedObject, temporary: Int64)] = []
    let insertedObjects = Array(pending.inserted), updatedObjects = Array(pending.updated)
    let deletedObjects = Array(pending.deleted)
    defer { didSave(insertedObjects, updatedObjects, deletedObjects) }
    pending.removeSaved()
    for object in insertedObjects {
      if object.id < 0, let id = result?.permanentIDs[object.reference] {
        assigned.append((object, rename(object, to: id)))
      }
      object.state = .saved
      object.version = SaveRequest.Insert.savedVersion
      object.commit()
    }
    let writtenVersions = Dictionary(
      request.updates.map { ($0.reference, $0.savedVersion) }, uniquingKeysWith: { first, _ in first })
    for object in updatedObjects {
      if let version = writtenVersions[object.reference] { object.version = version }
      object.commit()
    }
    for object in deletedObjects {
      object.state = .gone
      table.unregister(object.reference)
    }
    dropFromMembers(deletedObjects)
    if !assigned.isEmpty {
      resolveTemporaryReferences(in: insertedObjects + updatedObjects + Array(pending.overlaid), assigned)
    }
    for object in pending.takeOverlaid() { object.commit() }
    defer { source.announceSave() }
    // What still refers to a deleted object, because no rule took it away, refers to nothing from now on.
    let hasDangling = !exposedRelationships(to: deletedObjects).isEmpty
    if hasDangling { for object in deletedObjects { touch(object) } }
    let ownersLosingMembers = result?.ownersLosingMembers ?? []
    touchOwners(ownersLosingMembers, besides: deletedObjects)
    let derived = result?.derived ?? []
    takeOver(derived)
    if assigned.isEmpty, !hasDangling, derived.isEmpty, ownersLosingMembers.isEmpty { return true }
    if !assigned.isEmpty { announceIDs(assigned) }
    // The changes are in the file; observers that cannot be notified now are notified the next time.
    try? notifyObservers()
    return true
  }

  private func saveProperties() throws(Failure) -> Bool {
    try source.saveProperties(of: self)
    try takeWhatWasLeft()
    return false
  }

  /// What was deleted, or given to another, is no longer a member of objects that had it without an inverse. Only the
  /// save says so.
  private func touchOwners(
    _ ownersLosingMembers: [(relationship: Relationship, owners: [RowIdentifier])], besides gone: [ManagedObject]
  ) {
    if ownersLosingMembers.isEmpty { return }
    let gone = Set(gone.map(\.reference)), observers = announcer.observers
    for (relationship, owners) in ownersLosingMembers {
      let isFollowed = !announcer.children.isEmpty || observers.contains { $0.follows(relationship.entity) }
      for owner in owners {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner.id)
        if gone.contains(reference) { continue }
        var found = registeredObject(reference)
        if found == nil, isFollowed { found = try? self.object(reference, of: relationship.entity) }
        guard let object = found, object.isLive else { continue }
        object.toMany[relationship.slot] = nil
        touch(object, at: relationship.slot)
      }
    }
  }

  /// Assigns permanent ids to inserted objects that could not have one at once, or whose id another program has used.
  /// Ids follow the order of insertion, as in a save.
  ///
  /// Changes are processed first: an object that was deleted unheard still has its place among the temporary ids.
  func obtainPermanentIDs() throws(Failure) {
    try checkMayEndStep()
    try source.obtainPermanentIDs()
    try process()
    var assigned: [(object: ManagedObject, temporary: Int64)] = []
    let byRoot = Dictionary(grouping: pending.inserted, by: \.entity.rootNumber)
    for (_, objects) in byRoot.sorted(by: { $0.key < $1.key }) {
      guard let root = objects.first?.entity.root else { continue }
      var used: Set<Int64> = []
      // As it is now, whatever the context shows.
      try source.readNewest { () throws(Failure) in
        used = try source.usedIDs(objects.filter { $0.id > 0 }.map(\.id), root: root)
      }
      // An insertion that was redone comes last among the inserted, but has its old place among the temporary ids.
      let wanting = objects.filter { $0.id < 0 || used.contains($0.id) }.sorted { $0.isBefore($1) }
      if wanting.isEmpty { continue }
      let first = try store.allocateIDs(root: root, count: wanting.count)
      for (place, object) in wanting.enumerated() {
        assigned.append((object, rename(object, to: first + Int64(place))))
      }
    }
    if assigned.isEmpty { return }
    resolveTemporaryReferences(in: pending.all + Array(pending.overlaid), assigned)
    announceIDs(assigned)
    try process()
  }

  /// Drops everything pending. After a conflict everything is read anew, or it would be in conflict for ever.
  func rollback() throws(Failure) {
    try checkMayEndStep()
    let hadConflict = hasConflicted
    dropPending()
    // What is read anew is read as it is now.
    if hadConflict { try mergeInbox() }
    try process()
    try throwHookFailure()
  }

  /// The same without telling observers yet.
  func dropPending() {
    noteNewValues()
    undoManager?.removeAllActions()
    let insertedObjects = Array(pending.inserted), updatedObjects = Array(pending.updated)
    let deletedObjects = Array(pending.deleted), overlaidObjects = Array(pending.overlaid)
    pending.removeAll()
    for object in insertedObjects {
      touchLife(of: object, isLive: true)
      object.state = .gone
      table.unregister(object.reference)
    }
    for object in deletedObjects {
      touchLife(of: object, isLive: false)
      object.state = .saved
    }
    for object in updatedObjects + deletedObjects {
      object.restore()
    }
    for object in overlaidObjects { object.toMany = [:] }
    if hasConflicted {
      turnIntoFaults(registeredObjects, if: { $0.state == .saved }) { object in
        noteTargets(of: object)
        object.forgetValues()
        touch(object)
      }
    }
    hasConflicted = false
    runHooks(.rollback, (updatedObjects + deletedObjects).filter { $0.state == .saved && !$0.isFault })
  }

  private func announceIDs(_ assigned: [(object: ManagedObject, temporary: Int64)]) {
    let oldestFirst = assigned.sorted { $0.object.id < $1.object.id }
    for observer in announcer.observers { observer.contextDidAssignIDs(oldestFirst) }
    for child in announcer.children { child.adoptIDs(assigned) }
  }

  /// Objects of the parent got permanent ids.
  private func adoptIDs(_ assigned: [(object: ManagedObject, temporary: Int64)]) {
    var permanent: [ObjectReference: ObjectReference] = [:]
    var own: [(object: ManagedObject, temporary: Int64)] = []
    for (object, temporary) in assigned {
      let reference = ObjectReference(root: object.entity.rootNumber, id: temporary)
      permanent[reference] = object.reference
      if let mine = registeredObject(reference) {
        own.append((mine, rename(mine, to: object.id)))
      } else {
        pending.renameHolders(of: reference, to: object.reference)
        own.append((self.object(object.reference, entity: object.entity), temporary))
      }
    }
    noteNewValues()
    for object in registeredObjects { object.replaceReferences(permanent) }
    undoManager?.replace(permanent)
    inbox.rename(permanent, model)
    earlyReading.rename(permanent)
    announceIDs(own)
  }

  /// Takes deleted objects out of members that were read after the deletion, or from which no delete rule took them.
  /// While there is something to merge, any object may have been read with one that others have given away since.
  private func dropFromMembers(_ gone: [ManagedObject]) {
    if gone.isEmpty { return }
    let isAnywhere = mayReadAhead || exposedRelationships(to: gone).contains(where: \.isToMany)
    if pending.overlaid.isEmpty && !isAnywhere { return }
    let references = Set(gone.map(\.reference))
    for object in isAnywhere ? registeredObjects : Array(pending.overlaid) { object.dropMembers(references) }
  }

  /// Files an object under its permanent id; returns the temporary one.
  private func rename(_ object: ManagedObject, to id: Int64) -> Int64 {
    let temporary = object.reference
    table.unregister(temporary)
    object.becomePermanent(id: id)
    table.register(object)
    pending.renameHolders(of: temporary, to: object.reference)
    return temporary.id
  }

  private func resolveTemporaryReferences(
    in objects: [ManagedObject], _ assigned: [(object: ManagedObject, temporary: Int64)]
  ) {
    var permanent: [ObjectReference: ObjectReference] = [:]
    for (object, temporary) in assigned {
      permanent[ObjectReference(root: object.entity.rootNumber, id: temporary)] = object.reference
    }
    for object in objects { object.replaceReferences(permanent) }
    undoManager?.replace(permanent)
  }

  // MARK: The request

  func saveRequest() throws(Failure) -> SaveRequest {
    var request = SaveRequest()
    request.authorship = authorship
    request.inserts.reserveCapacity(pending.inserted.count)
    request.deletes.reserveCapacity(pending.deleted.count)
    for object in pending.inserted {
      request.inserts.append(SaveRequest.Insert(entity: object.entity, id: object.id, values: object.values))
      object.appendToManyChanges(to: &request)
    }
    for object in pending.updated {
      var changes: [(slot: Int, value: Value)] = []
      for (slot, _) in object.committed.sorted(by: { $0.key < $1.key })
      where !object.entity.properties[slot].isTransient {
        changes.append((slot, object.values[slot]))
      }
      if !changes.isEmpty || object.hasStoredToManyChange {
        request.updates.append(
          SaveRequest.Update(
            entity: object.entity, id: object.id, expectedVersion: object.version, changes: changes))
      }
      object.appendToManyChanges(to: &request)
    }
    for object in pending.deleted {
      request.deletes.append(
        SaveRequest.Delete(entity: object.entity, id: object.id, expectedVersion: object.version))
    }
    return request
  }
}

extension ManagedObject {
  /// What is in memory is now what is saved.
  fileprivate func commit() {
    commitValues()
    if toMany.isEmpty { return }
    for (slot, members) in toMany {
      if members.isOrdered, !members.isChanged, members.members != members.saved { place(members, at: slot) }
      toMany[slot]?.commit()
    }
  }

  /// Members that came by references of their own, and not by this side, have their places from the store.
  private func place(_ members: ToManyMembers, at slot: Int) {
    guard members.members.count > 1, let relationship = entity.properties[slot] as? Relationship,
      let stored = try? storedMembers(of: relationship)
    else { return }
    let own = Set(members.members)
    let placed = stored.filter(own.contains), places = Set(placed)
    toMany[slot]?.reorder(placed + members.members.filter { !places.contains($0) })
  }

  /// Back to the saved values. To-many members are read again when they are next asked for.
  fileprivate func restore() {
    let changedToMany = toMany.filter(\.value.isChanged).keys
    toMany = [:]
    for (slot, value) in takeCommitted() {
      let old = values[slot]
      show(value, at: slot)
      context.touch(self, at: slot, from: old)
    }
    for slot in changedToMany { context.touch(self, at: slot) }
  }

  fileprivate func replaceReferences(_ permanent: [ObjectReference: ObjectReference]) {
    replaceTargets(permanent)
    if toMany.isEmpty { return }
    for relationship in entity.relationships where relationship.isToMany {
      toMany[relationship.slot]?.replace(permanent)
    }
  }

  fileprivate func dropMembers(_ gone: Set<ObjectReference>) {
    for slot in toMany.keys { toMany[slot]?.forget(gone) }
  }

  /// Relationships whose members or order live with this side; the others follow from the to-one inverse.
  func isStored(_ relationship: Relationship) -> Bool {
    relationship.isToMany && !relationship.isTransient
      && (relationship.isManyToMany || relationship.inverse == nil || relationship.isOrdered)
  }

  fileprivate var hasStoredToManyChange: Bool {
    entity.relationships.contains { isStored($0) && toMany[$0.slot]?.isChanged == true }
  }

  fileprivate func appendToManyChanges(to request: inout SaveRequest) {
    for relationship in entity.relationships where isStored(relationship) {
      guard let members = toMany[relationship.slot], members.isChanged else { continue }
      var change = SaveRequest.ToManyChange(relationship: relationship, owner: reference)
      change.added = members.addedMembers
      change.removed = members.removedMembers
      if relationship.isOrdered { change.order = members.members }
      request.toManyChanges.append(change)
    }
  }
}
