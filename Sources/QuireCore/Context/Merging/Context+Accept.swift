/// Saving into a parent.
extension Context {
  /// Takes over what a child saves, as changes of its own that can be undone together. All or nothing. Observers are
  /// told when changes are next processed.
  ///
  /// A property that both have changed, to different values, is in conflict; other changes of one object are not. Hooks
  /// of this context are called only for what its own delete rules take along.
  func accept(_ request: SaveRequest, from child: Context) throws(Failure) {
    try checkMayChange()
    try checkNotReverting()
    try process()
    clock.noteNewValues()
    let own = undoManager
    own?.closeEvent()
    // All of it is one step, also when a hook has changes processed meanwhile.
    let noted = UndoManager(levels: 0)
    noted.beginReverting()
    undoManager = noted
    activity.insert(.accepting)
    defer {
      undoManager = own
      activity.remove(.accepting)
    }
    do throws(Failure) {
      let read = try objects(of: request)
      try withExtendedLifetime(read) { () throws(Failure) in
        try checkConflicts(request, with: child)
        try insert(request.inserts, of: child)
        try update(request.updates)
        try takeTransientValues(of: child)
        for change in request.toManyChanges { try apply(change, of: child) }
        try delete(request.deletes)
      }
    } catch {
      // All that this needs has been read.
      let half = noted.takeHalf()
      noted.isPaused = true
      try? bringBack(half.images, by: nil)
      // What refers to insertions that were taken back lets go of them now, so that it shows no change.
      try? propagateDeletes()
      throw error
    }
    own?.note(noted.takeHalf())
  }

  // MARK: Conflicts

  /// What is to be changed or deleted, or is there though it is to be inserted, because the child has brought it back:
  /// read in as few statements as there are trees of entities.
  private func objects(of request: SaveRequest) throws(Failure) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    var unknown: [Int: [Int64]] = [:]
    for insert in request.inserts where insert.id > 0 && registeredObject(insert.reference) == nil {
      unknown[insert.reference.root, default: []].append(insert.id)
    }
    for (root, ids) in unknown {
      guard let entity = model.entity(numbered: root) else { continue }
      for row in try source.rows(root: entity, ids: ids) { objects.append(object(for: row)) }
    }
    for reference in request.updates.map(\.reference) + request.deletes.map(\.reference) {
      if let entity = model.entity(numbered: reference.root), let object = try object(reference, of: entity) {
        objects.append(object)
      }
    }
    try fulfil(objects)
    return objects
  }

  private func checkConflicts(_ request: SaveRequest, with child: Context) throws(Failure) {
    var conflicts: [Failure] = []
    for update in request.updates {
      let read = child.registeredObject(update.reference)?.committed ?? [:]
      guard let object = try self.object(update.reference, of: update.entity), object.isLive, try object.isStillStored()
      else {
        conflicts.append(conflict(update.entity, update.id, doing: "update", "it was deleted there"))
        continue
      }
      let disputed = update.changes.first { (slot, value) in
        let present = object.values[slot]
        return read[slot]?.isIdentical(to: present) == false && !present.isIdentical(to: value)
      }
      if let disputed {
        let name = update.entity.properties[disputed.slot].name
        conflicts.append(conflict(update.entity, update.id, doing: "update", "'\(name)' was changed there too"))
      }
    }
    for delete in request.deletes {
      guard let read = child.registeredObject(delete.reference), !read.isFault,
        let object = try self.object(delete.reference, of: delete.entity), object.isLive, try object.isStillStored()
      else { continue }
      let changed = delete.entity.properties.first { property in
        !property.isTransient && !property.isDerived
          && !(read.committed[property.slot] ?? read.values[property.slot]).isIdentical(
            to: object.values[property.slot])
      }
      if let changed {
        conflicts.append(conflict(delete.entity, delete.id, doing: "delete", "'\(changed.name)' was changed there"))
      }
    }
    for change in request.toManyChanges {
      let relationship = change.relationship
      guard let order = change.order, let read = child.readMembers(change),
        let owner = try self.object(change.owner, of: relationship.entity), owner.isLive, try owner.isStillStored()
      else { continue }
      let present = try owner.members(of: relationship)
      if present.isReordered(from: read), order.isReordered(from: read), order.isReordered(from: present) {
        conflicts.append(
          conflict(
            owner.entity, owner.id, doing: "update", "the objects of '\(relationship.name)' were reordered there too"))
      }
    }
    guard let first = conflicts.first else { return }
    if conflicts.count == 1 { throw first }
    throw Failure(
      .conflict, "\(conflicts.count) objects are in conflict with the parent context. The first: \(first.message)",
      details: conflicts)
  }

  /// The members of a saved object that this context has changed, as they were when it read them.
  private func readMembers(_ change: SaveRequest.ToManyChange) -> [ObjectReference]? {
    guard let owner = registeredObject(change.owner), owner.state == .saved else { return nil }
    return owner.toMany[change.relationship.slot]?.saved
  }

  private func conflict(_ entity: Entity, _ id: Int64, doing: String, _ reason: String) -> Failure {
    Failure(
      .conflict,
      "Could not \(doing) \(entity.name) \(id) in the parent context: \(reason). Roll back to read what is there now, "
        + "and change that.", about: .row(id, of: entity),
      report: SaveConflict.changed(ObjectReference(root: entity.rootNumber, id: id)))
  }

  // MARK: Applying

  private func insert(_ inserts: [SaveRequest.Insert], of child: Context) throws(Failure) {
    var objects: [ManagedObject] = []
    for insert in inserts {
      let object = try receive(insert)
      objects.append(object)
      for relationship in insert.entity.relationships
      where relationship.followsFromInverse && relationship.deleteRule == .noAction {
        let holders = try child.registeredObject(insert.reference)?.members(of: relationship) ?? []
        try noteHolders(of: object, among: holders, in: relationship)
      }
    }
    for (object, insert) in zip(objects, inserts) {
      for relationship in insert.entity.relationships where !relationship.isToMany && !relationship.isTransient {
        try set(insert.values[relationship.slot], for: relationship, of: object)
      }
    }
  }

  private func receive(_ insert: SaveRequest.Insert) throws(Failure) -> ManagedObject {
    if let present = registeredObject(insert.reference) {
      if present.isLive, try present.isStillStored() {
        throw Failure(
          .conflict, "The parent context has an object with the id of the new \(insert.entity.name) \(insert.id).",
          about: .row(insert.id, of: insert.entity), report: SaveConflict.taken(insert.reference))
      }
      // Deleted there, and to be there again.
      if present.state == .deleted {
        markReturned(present)
        try present.letGoOfAll()
        for attribute in insert.entity.attributes where !attribute.isDerived {
          present.write(insert.values[attribute.slot], at: attribute.slot)
        }
        return present
      }
    }
    let values = ContiguousArray(
      insert.entity.properties.map { $0 is Attribute ? insert.values[$0.slot] : Value.nil })
    // Somebody may still hold the one that was there before.
    if let former = table.goneObject(insert.reference), former.entity === insert.entity {
      former.forgetValues()
      former.fill(with: values)
      markReturned(former)
      return former
    }
    let object = ManagedObject(context: self, entity: insert.entity, id: insert.id, state: .inserted, values: values)
    table.register(object)
    markInserted(object)
    return object
  }

  private func update(_ updates: [SaveRequest.Update]) throws(Failure) {
    for update in updates {
      guard let object = try object(update.reference, of: update.entity) else { continue }
      for (slot, value) in update.changes {
        if let relationship = update.entity.properties[slot] as? Relationship {
          try set(value, for: relationship, of: object)
        } else {
          object.write(value, at: slot)
        }
      }
    }
  }

  /// Values that no store keeps go one level up all the same, as in Core Data.
  private func takeTransientValues(of child: Context) throws(Failure) {
    for changed in child.pending.updated {
      for attribute in changed.entity.attributes where attribute.isTransient {
        guard changed.committed[attribute.slot] != nil, let object = try object(changed.reference, of: changed.entity),
          object.isLive, try object.isStillStored()
        else { continue }
        object.write(changed.values[attribute.slot], at: attribute.slot)
      }
    }
  }

  private func set(_ value: Value, for relationship: Relationship, of object: ManagedObject) throws(Failure) {
    guard case .object(let box) = value else { return try object.relate(to: nil, through: relationship) }
    try object.relate(to: present(box.reference, for: relationship), through: relationship)
  }

  /// An object that a child has another one refer to.
  private func present(_ reference: ObjectReference, for relationship: Relationship) throws(Failure) -> ManagedObject {
    if let object = try object(reference, of: relationship.destination), object.isLive, try object.isStillStored() {
      return object
    }
    throw Failure(
      .conflict,
      "'\(relationship.qualifiedName)' was to refer to \(relationship.destination.name) \(reference.id), "
        + "which is no longer in the parent context. Refer to another object, or to none.",
      about: .property(relationship), report: SaveConflict.missing(reference))
  }

  /// Members come and go one by one, whatever there is of others here.
  private func apply(_ change: SaveRequest.ToManyChange, of child: Context) throws(Failure) {
    let relationship = change.relationship
    guard let owner = try object(change.owner, of: relationship.entity) else { return }
    try owner.fulfil()
    // Of the others the to-one inverse has told.
    if relationship.inverse?.isToMany ?? true {
      for reference in change.removed {
        guard let member = try object(reference, of: relationship.destination) else { continue }
        // One whose row is gone is taken out without being asked for its side.
        _ = try member.isStillStored()
        try owner.remove(member, from: relationship)
      }
      for reference in change.added { try owner.add(present(reference, for: relationship), to: relationship) }
    }
    if let order = change.order {
      let read = child.readMembers(change) ?? [], present = try owner.members(of: relationship)
      if present.isReordered(from: read), !order.isReordered(from: read) {
        // The order is that of this context; what is new comes last.
        let known = Set(read)
        owner.reorder(order.filter { !known.contains($0) }, in: relationship)
      } else {
        owner.reorder(order, in: relationship)
      }
    }
  }

  private func delete(_ deletes: [SaveRequest.Delete]) throws(Failure) {
    for delete in deletes {
      guard let object = try object(delete.reference, of: delete.entity), object.isLive, try object.isStillStored()
      else { continue }
      try prepareUndo(ofDeleting: object)
      markDeleted(object)
    }
    try propagateDeletes()
  }
}

extension ManagedObject {
  /// While it was deleted, others let go of it: it begins with nothing, without asking them.
  fileprivate func letGoOfAll() throws(Failure) {
    for relationship in entity.relationships where !relationship.isTransient {
      let slot = relationship.slot
      if !relationship.isToMany {
        write(.nil, at: slot)
      } else if relationship.isManyToMany || relationship.inverse == nil {
        for member in try members(of: relationship) { toMany[slot]?.remove(member) }
      } else {
        toMany[slot] = nil
      }
    }
  }
}
