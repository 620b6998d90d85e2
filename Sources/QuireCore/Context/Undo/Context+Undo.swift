extension Context {
  // MARK: Settings

  /// Has changes be noted from now on, so that they can be undone. 0 levels are any number.
  func enableUndo(levels: Int) throws(Failure) {
    try checkMayEndStep()
    if let undoManager {
      undoManager.levels = levels
    } else {
      // The rules of what was deleted before would otherwise look like changes of their own.
      try propagateDeletes()
      undoManager = UndoManager(levels: levels)
    }
  }

  func disableUndo() throws(Failure) {
    try checkNotReverting()
    undoManager = nil
  }

  /// Delete rules belong to the deletion, whether that is noted or not.
  func setUndoRegistration(_ isRegistering: Bool) throws(Failure) {
    let undoManager = try requiredUndoManager()
    if undoManager.isRegistering == isRegistering { return }
    try propagateDeletes()
    undoManager.isRegistering = isRegistering
  }

  func removeAllUndoActions() throws(Failure) {
    try checkNotReverting()
    try requiredUndoManager().removeAllActions()
  }

  // MARK: Groups

  /// What is not processed yet belongs to the group before it.
  func beginUndoGroup(named name: Text?) throws(Failure) {
    let undoManager = try requiredUndoManager()
    try checkNotReverting()
    if undoManager.depth == 0 {
      try process()
      undoManager.closeEvent()
    }
    undoManager.beginGroup(named: name)
  }

  /// Ends the innermost group. With the outermost one changes are processed, so that delete rules belong to it; it ends
  /// even when that fails.
  func endUndoGroup() throws(Failure) {
    let undoManager = try requiredUndoManager()
    if undoManager.depth == 0 {
      throw Failure(.invalidState, "No undo group is open. Begin one first (quire_context_begin_undo_group).")
    }
    defer { undoManager.endGroup() }
    if undoManager.depth == 1 { try process() }
  }

  // MARK: Undoing

  /// Takes back what the last group changed, if there is one. What cannot be had back any more, because its row is gone
  /// from the store, is left out. On failure nothing has changed. Gives the objects that were looked at.
  @discardableResult
  func undo() throws(Failure) -> [ManagedObject] { try revert(.undo) }

  /// Does again what was undone last, if nothing else has changed since.
  @discardableResult
  func redo() throws(Failure) -> [ManagedObject] { try revert(.redo) }

  private func revert(_ direction: UndoManager.Direction) throws(Failure) -> [ManagedObject] {
    let undoManager = try requiredUndoManager()
    try checkNotReverting()
    if undoManager.depth > 0 {
      throw Failure(.invalidState, "An undo group is open. End it first (quire_context_end_undo_group).")
    }
    try process()
    undoManager.closeEvent()
    guard let group = undoManager.last(direction) else { return [] }
    clock.noteNewValues()
    undoManager.beginReverting()
    do {
      try bringBack(group.images, by: direction)
      try propagateDeletes()
    } catch {
      // All that this needs has been read.
      let half = undoManager.takeHalf()
      undoManager.isPaused = true
      try? bringBack(half.images, by: nil)
      undoManager.isPaused = false
      undoManager.endReverting()
      throw error
    }
    var failure: Failure?
    do { try process() } catch { failure = error }
    undoManager.finishReverting(direction)
    for image in group.images {
      switch image.wasLive {
      case false? where !image.object.isLive: runHooks(.undoInsertion, [image.object])
      case true? where image.object.isLive: runHooks(.undoDeletion, [image.object])
      case nil where image.object.isLive: runHooks(.undoUpdate, [image.object])
      default: break
      }
    }
    if let failure { throw failure }
    try throwHookFailure()
    return group.images.map(\.object)
  }

  private func requiredUndoManager() throws(Failure) -> UndoManager {
    try checkMayEndStep()
    if let undoManager { return undoManager }
    throw Failure(.invalidState, "Undo is off in this context. Turn it on first (quire_context_enable_undo).")
  }

  // MARK: Bringing back

  /// Makes objects what their images say, by changes like those of a caller: both sides of every relationship follow.
  /// Without a direction it is the way back from half of a way: nothing can have happened to those that were just
  /// deleted.
  func bringBack(_ images: [ObjectImage], by direction: UndoManager.Direction?) throws(Failure) {
    for image in images where image.wasLive == false && image.object.isLive {
      if try !image.object.isStillStored() { continue }
      try prepareUndo(ofDeleting: image.object)
      // Only who deletes again wants what rules take along; the group says what else is not to be there.
      markDeleted(image.object, isCancelledInsert: direction != .redo)
    }
    var returned = Set<ObjectIdentifier>()
    // One whose row another writer has brought back is not to be what it was when it was deleted.
    let images = images.filter { $0.wasLive != true || !$0.object.isLive }
    for image in images where image.wasLive == true {
      try bringToLife(image, keepsMembers: direction == nil)
      returned.insert(ObjectIdentifier(image.object))
    }
    var present: [ObjectImage] = []
    for image in images where image.object.isLive {
      if try image.object.isStillStored() { present.append(image) }
    }
    for image in present {
      try image.object.bringBackValues(image, hasReturned: returned.contains(ObjectIdentifier(image.object)))
    }
    for image in present {
      try image.object.bringBackMembers(image, hasReturned: returned.contains(ObjectIdentifier(image.object)))
    }
    for image in present {
      image.object.bringBackOrder(image, hasReturned: returned.contains(ObjectIdentifier(image.object)))
    }
  }

  private func bringToLife(_ image: ObjectImage, keepsMembers: Bool) throws(Failure) {
    let object = image.object
    if object.state != .deleted {
      // Somebody may have asked for the row that was not there.
      if let stranger = registeredObject(object.reference), stranger !== object { stranger.state = .gone }
      object.fill(
        with: ContiguousArray(
          object.entity.properties.map { $0 is Attribute ? image.values[$0.slot] ?? .nil : .nil }))
    }
    // While it was away nobody kept its members up to date.
    if !keepsMembers || object.state != .deleted { object.toMany = [:] }
    for relationship in object.entity.relationships where relationship.followsFromInverse {
      var holders = image.members[relationship.slot] ?? []
      if relationship.deleteRule == .noAction, let inverse = relationship.inverse {
        let root = relationship.destination.rootNumber
        let found = try source.owners(of: [object.reference], through: inverse, from: relationship.destination)
        holders += found.map { ObjectReference(root: root, id: $0) }
      }
      try noteHolders(of: object, among: holders, in: relationship)
    }
    markReturned(object)
    for relationship in object.entity.relationships { object.letGoOfLost(relationship) }
  }

  /// Notes who still holds an object that was away, because no delete rule made them let go.
  func noteHolders(
    of object: ManagedObject, among references: [ObjectReference], in relationship: Relationship
  ) throws(Failure) {
    guard let inverse = relationship.inverse else { return }
    for reference in references {
      guard let other = try self.object(reference, of: relationship.destination), other.isLive,
        try other.isStillStored(), case .object(let box) = other.values[inverse.slot],
        box.reference == object.reference
      else { continue }
      pending.noteHolder(other, of: object.reference)
    }
  }

  /// The objects behind references that are still there.
  fileprivate func present(
    _ references: [ObjectReference], of entity: Entity
  ) throws(Failure) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for reference in references {
      if let object = try object(reference, of: entity), object.isLive { objects.append(object) }
    }
    try fulfil(objects)
    var present: [ManagedObject] = []
    for object in objects where try object.isStillStored() { present.append(object) }
    return present
  }

  // MARK: Deletions

  /// Reads what the deletion of an object takes away from it.
  func prepareUndo(ofDeleting object: ManagedObject) throws(Failure) {
    guard undoManager?.isNoting == true else { return }
    try object.fulfil()
    for relationship in object.entity.relationships {
      if relationship.isToMany {
        if !relationship.followsFromInverse || relationship.deleteRule == .noAction {
          _ = try object.members(of: relationship)
        }
      } else if let inverse = relationship.inverse, inverse.isOrdered, relationship.deleteRule == .noAction,
        let holder = try object.object(of: relationship), holder.isLive, try holder.isStillStored()
      {
        _ = try holder.members(of: inverse)
        undoManager?.note(holder.toMany[inverse.slot], of: inverse, in: holder)
      }
    }
  }

  /// Notes who holds deleted objects in relationships of which these know nothing: a save takes them out of there.
  func noteHolders(of deleted: [ManagedObject]) throws(Failure) {
    guard let undoManager, undoManager.isNoting else { return }
    for relationship in exposedRelationships(to: deleted) where relationship.isToMany && relationship.inverse == nil {
      let root = relationship.destination.rootNumber
      let concerned = deleted.filter { $0.entity.rootNumber == root && $0.id > 0 }.map(\.reference)
      for id in try source.owners(of: concerned, through: relationship, from: relationship.entity) {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: id)
        guard let holder = try object(reference, of: relationship.entity), holder.isLive else { continue }
        _ = try holder.members(of: relationship)
        undoManager.note(holder.toMany[relationship.slot], of: relationship, in: holder)
      }
    }
  }
}

extension ManagedObject {
  /// While it was away, the object at the other end of a one-to-one relationship has let go of it.
  fileprivate func letGoOfLost(_ relationship: Relationship) {
    guard !relationship.isToMany, let inverse = relationship.inverse, !inverse.isToMany, !isFault,
      case .object(let box) = values[relationship.slot], let other = context.registeredObject(box.reference),
      !other.isFault
    else { return }
    if case .object(let back) = other.values[inverse.slot], back.reference == reference { return }
    write(.nil, at: relationship.slot)
  }

  fileprivate func bringBackValues(_ image: ObjectImage, hasReturned: Bool) throws(Failure) {
    for property in entity.properties {
      guard let value = image.values[property.slot], !property.isDerived else { continue }
      guard let relationship = property as? Relationship else {
        write(value, at: property.slot)
        continue
      }
      if relationship.isToMany { continue }
      var target: ManagedObject?
      if case .object(let box) = value {
        target = try context.present([box.reference], of: relationship.destination).first
        if target == nil {
          // What refers to an object that is gone may go on to do so, if it was saved like that, and to one that is
          // only to be deleted, if no rule takes that away.
          let deleted = context.registeredObject(box.reference).flatMap { $0.state == .deleted ? $0 : nil }
          let kept = relationship.keepsDeleted ? deleted : nil
          if let inverse = relationship.inverse { kept?.toMany[inverse.slot] = nil }
          if values[property.slot].isIdentical(to: value) {
            let isPending = state == .inserted || committed[property.slot] != nil
            if isPending, kept == nil { write(.nil, at: property.slot) }
            continue
          }
          let wasSaved = committed[property.slot]?.isIdentical(to: value) == true
          try relate(to: nil, through: relationship)
          if kept != nil || wasSaved && deleted == nil { write(value, at: property.slot) }
          continue
        }
      }
      try relate(to: target, through: relationship)
      // While it was away, the object that it holds has let go of it.
      if hasReturned, let target, let inverse = relationship.inverse, inverse.isToMany {
        if inverse.isOrdered { _ = try target.members(of: inverse) }
        target.attach(self, to: inverse)
      }
    }
  }

  fileprivate func bringBackMembers(_ image: ObjectImage, hasReturned: Bool) throws(Failure) {
    for relationship in entity.relationships {
      guard relationship.isToMany, !relationship.followsFromInverse,
        let references = image.members[relationship.slot]
      else { continue }
      let wanted = try context.present(references, of: relationship.destination)
      let present = try objects(of: relationship)
      let known = Set(references)
      let presentIdentities = Set(present.map(ObjectIdentifier.init))
      let latest = image.latest[relationship.slot].map { Set($0) }
      // Those that are known and whose rows are gone by now are taken out when that is merged.
      for other in present.reversed()
      where !known.contains(other.reference) && latest?.contains(other.reference) != false {
        // One whose row is gone is taken out without being asked for its side.
        _ = try other.isStillStored()
        try remove(other, from: relationship)
      }
      for other in wanted
      where !presentIdentities.contains(ObjectIdentifier(other)) && latest?.contains(other.reference) != true {
        try add(other, to: relationship)
      }
      if !hasReturned { continue }
      letGoOfDeleted(besides: known, in: relationship)
      // Members that let go of it while it was away are not among those that were read anew.
      toMany[relationship.slot]?.noteChange()
      context.touch(self, at: relationship.slot)
    }
  }

  /// The members of one that has returned were read anew from the store, where deleted objects still are.
  private func letGoOfDeleted(besides known: Set<ObjectReference>, in relationship: Relationship) {
    for reference in toMany[relationship.slot]?.members ?? []
    where !known.contains(reference) && !context.mayBeLive(reference) {
      toMany[relationship.slot]?.remove(reference)
      context.touch(self, at: relationship.slot)
    }
  }

  /// After all members are there again.
  fileprivate func bringBackOrder(_ image: ObjectImage, hasReturned: Bool) {
    for relationship in entity.relationships where relationship.isOrdered {
      // The members of one that was away were read with those that it has again: that they are is a change.
      if let references = image.members[relationship.slot] {
        reorder(references, in: relationship, isChange: hasReturned)
      }
    }
  }
}
