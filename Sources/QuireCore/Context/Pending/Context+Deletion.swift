extension Context {
  /// Applies the delete rules of everything deleted since the last time, in one pass over what they reach. What fails
  /// is tried again the next time.
  func propagateDeletes() throws(Failure) {
    while let batch = pending.takeAwaitingDeleteRules() {
      let reached: [ManagedObject]
      do {
        try noteHolders(of: batch)
        reached = try readReach(of: batch)
      } catch {
        batch.forEach(pending.awaitDeleteRules)
        throw error
      }
      defer { withExtendedLifetime(reached) {} }
      for (place, object) in batch.enumerated() {
        do {
          for other in try object.applyDeleteRules(cascades: !pending.isCancelledInsert(object)) where other.isLive {
            try prepareForDeletion(other)
            if !other.isLive { continue }
            try prepareUndo(ofDeleting: other)
            markDeleted(other)
          }
        } catch {
          batch[place...].forEach(pending.awaitDeleteRules)
          throw error
        }
      }
      releaseFromPending(batch)
    }
  }

  /// Reads the objects that the delete rules of `deleted` lead to: a statement for each relationship, not one for each
  /// object. Returns the objects that were read, which may have no other reference. A child reads from its parent,
  /// object by object.
  private func readReach(of deleted: [ManagedObject]) throws(Failure) -> [ManagedObject] {
    if source.holdsObjects { return [] }
    var read: [ManagedObject] = []
    for (_, objects) in Dictionary(grouping: deleted, by: { ObjectIdentifier($0.entity) }) {
      for relationship in objects[0].entity.relationships where relationship.hasDeleteRule {
        read +=
          try relationship.isToMany
          ? source.readMembers(of: relationship, objects, in: self) : readTargets(of: relationship, objects)
      }
    }
    return read
  }

  /// Reads the objects that a to-one relationship holds, where they have no values yet.
  private func readTargets(
    of relationship: Relationship, _ holders: [ManagedObject]
  ) throws(Failure) -> [ManagedObject] {
    var wanted: Set<Int64> = []
    for holder in holders where !holder.isFault {
      guard case .object(let box) = holder.values[relationship.slot], !box.reference.isTemporary else { continue }
      let target = registeredObject(box.reference)
      if target == nil || target?.isFault == true && target?.state == .saved { wanted.insert(box.reference.id) }
    }
    return try source.rows(root: relationship.destination.root, ids: wanted.sorted()).map { object(for: $0) }
  }

  /// Relationships whose holders no delete rule reaches when one of `gone` is deleted.
  func exposedRelationships(to gone: [ManagedObject]) -> [Relationship] {
    let roots = Set(gone.map(\.entity.rootNumber))
    return model.entities.flatMap(\.ownRelationships).filter {
      roots.contains($0.destination.rootNumber) && ($0.inverse?.deleteRule ?? .noAction) == .noAction
    }
  }

  /// A save cannot write a reference to what it deletes: pending objects lose it where no rule did that. What was
  /// never saved is not there to deny anything.
  private func releaseFromPending(_ gone: [ManagedObject]) {
    let roots = Set(gone.lazy.filter { $0.state == .gone }.map(\.entity.rootNumber))
    let denying = model.entities.flatMap(\.ownRelationships).filter {
      $0.inverse?.deleteRule == .deny && roots.contains($0.destination.rootNumber)
    }
    let exposed = exposedRelationships(to: gone) + denying
    if exposed.isEmpty { return }
    for object in pending.insertedAndUpdated {
      for relationship in exposed where object.entity.isKind(of: relationship.entity) { object.release(relationship) }
    }
  }
}

extension ManagedObject {
  /// Drops deleted objects among unsaved members; under a rule that denies, only those that were never saved.
  fileprivate func release(_ relationship: Relationship) {
    let slot = relationship.slot
    let isDenied = relationship.inverse?.deleteRule == .deny
    func isLost(_ reference: ObjectReference) -> Bool {
      isDenied ? context.registeredObject(reference)?.state == .gone : !context.mayBeLive(reference)
    }
    if relationship.isToMany {
      guard let members = toMany[slot], members.isChanged || state == .inserted, members.members.contains(where: isLost)
      else { return }
      context.undoManager?.note(members, of: relationship, in: self)
      for reference in members.members where isLost(reference) { toMany[slot]?.remove(reference) }
      context.touch(self, at: slot)
    } else if !isFault, case .object(let box) = values[slot], state == .inserted || committed[slot] != nil,
      isLost(box.reference)
    {
      write(.nil, at: slot)
    }
  }
}
