/// One save of a child under way: the context above takes it over, as changes of its own that can be undone together.
///
/// A property that both have changed, to different values, is in conflict; other changes of one object are not. Hooks
/// of the context are called only for what its own delete rules take along.
final class AcceptSession {
  private let request: SaveRequest
  private let child: Context
  private let context: Context
  private let undoManager: UndoManager?
  /// What the changes are noted by, in the place of `undoManager`: all of it is one step, also when a hook has changes
  /// processed meanwhile.
  private let noted = UndoManager(levels: 0)
  private var conflicts: [Failure] = []

  init(_ request: SaveRequest, of child: Context, in context: Context) {
    self.request = request
    self.child = child
    self.context = context
    undoManager = context.undoManager
  }

  func run() throws(Failure) {
    begin()
    defer { end() }
    do throws(Failure) {
      let read = try readObjects()
      try withExtendedLifetime(read) { () throws(Failure) in
        try checkConflicts()
        try insertObjects()
        try updateObjects()
        try takeTransientValues()
        for change in request.toManyChanges { try apply(change) }
        try deleteObjects()
      }
    } catch {
      takeBack()
      throw error
    }
    undoManager?.note(noted.takeHalf())
  }

  private func begin() {
    context.noteNewValues()
    undoManager?.closeEvent()
    noted.beginReverting()
    context.undoManager = noted
    context.activity.insert(.accepting)
  }

  private func end() {
    context.undoManager = undoManager
    context.activity.remove(.accepting)
  }

  /// All that this needs has been read.
  private func takeBack() {
    let half = noted.takeHalf()
    noted.isPaused = true
    try? RestoreSession(half.images, by: nil, in: context).run()
    // References to insertions that were taken back are emptied now, so that they show no change.
    try? context.propagateDeletes()
  }

  /// The objects that are to be changed or deleted, and those to be inserted that are there already, because the child
  /// has brought them back. They are read in as few statements as there are trees of entities.
  private func readObjects() throws(Failure) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    var unknown: [Int: [Int64]] = [:]
    for insert in request.inserts where insert.id > 0 && context.registeredObject(insert.reference) == nil {
      unknown[insert.reference.root, default: []].append(insert.id)
    }
    for (root, ids) in unknown {
      guard let entity = context.model.entity(numbered: root) else { continue }
      for row in try context.source.rows(root: entity, ids: ids) { objects.append(context.object(for: row)) }
    }
    for reference in request.updates.map(\.reference) + request.deletes.map(\.reference) {
      guard let entity = context.model.entity(numbered: reference.root),
        let object = try context.object(reference, of: entity)
      else { continue }
      objects.append(object)
    }
    try context.fulfil(objects)
    return objects
  }

  /// An object of the context with a row, unless it is deleted there.
  private func liveObject(_ reference: ObjectReference, of entity: Entity) throws(Failure) -> ManagedObject? {
    guard let object = try context.object(reference, of: entity), object.isLive, try object.isStillStored() else {
      return nil
    }
    return object
  }
}

// MARK: Conflicts

extension AcceptSession {
  private func checkConflicts() throws(Failure) {
    for update in request.updates { try check(update) }
    for delete in request.deletes { try check(delete) }
    for change in request.toManyChanges { try check(change) }
    guard let first = conflicts.first else { return }
    if conflicts.count == 1 { throw first }
    throw Failure(
      .conflict, "\(conflicts.count) objects are in conflict with the parent context. The first: \(first.message)",
      details: conflicts)
  }

  private func check(_ update: SaveRequest.Update) throws(Failure) {
    guard let object = try liveObject(update.reference, of: update.entity) else {
      return noteConflict(update.entity, update.id, doing: "update", "it was deleted there")
    }
    let read = child.registeredObject(update.reference)?.committed ?? [:]
    let disputed = update.changes.first { (slot, value) in
      let present = object.values[slot]
      return read[slot]?.isIdentical(to: present) == false && !present.isIdentical(to: value)
    }
    if let disputed {
      let name = update.entity.properties[disputed.slot].name
      noteConflict(update.entity, update.id, doing: "update", "'\(name)' was changed there too")
    }
  }

  private func check(_ delete: SaveRequest.Delete) throws(Failure) {
    guard let read = child.registeredObject(delete.reference), !read.isFault,
      let object = try liveObject(delete.reference, of: delete.entity)
    else { return }
    let changed = delete.entity.properties.first { property in
      !property.isTransient && !property.isDerived
        && !(read.committed[property.slot] ?? read.values[property.slot]).isIdentical(to: object.values[property.slot])
    }
    if let changed {
      noteConflict(delete.entity, delete.id, doing: "delete", "'\(changed.name)' was changed there")
    }
  }

  private func check(_ change: SaveRequest.ToManyChange) throws(Failure) {
    let relationship = change.relationship
    guard let order = change.order, let read = readMembers(change),
      let owner = try liveObject(change.owner, of: relationship.entity)
    else { return }
    let present = try owner.members(of: relationship)
    if present.isReordered(from: read), order.isReordered(from: read), order.isReordered(from: present) {
      noteConflict(
        owner.entity, owner.id, doing: "update", "the objects of '\(relationship.name)' were reordered there too")
    }
  }

  /// The members of a saved object that the child has changed, as they were when it read them.
  private func readMembers(_ change: SaveRequest.ToManyChange) -> [ObjectReference]? {
    guard let owner = child.registeredObject(change.owner), owner.state == .saved else { return nil }
    return owner.toMany[change.relationship.slot]?.saved
  }

  private func noteConflict(_ entity: Entity, _ id: Int64, doing: String, _ reason: String) {
    conflicts.append(
      Failure(
        .conflict,
        "Could not \(doing) \(entity.name) \(id) in the parent context: \(reason). "
          + "Roll back to read what is there now, and change that.", about: .row(id, of: entity),
        report: SaveConflict.changed(ObjectReference(root: entity.rootNumber, id: id))))
  }
}

// MARK: Applying

extension AcceptSession {
  private func insertObjects() throws(Failure) {
    var objects: [ManagedObject] = []
    for insert in request.inserts {
      let object = try receive(insert)
      objects.append(object)
      for relationship in insert.entity.relationships
      where relationship.followsFromInverse && relationship.deleteRule == .noAction {
        let holders = try child.registeredObject(insert.reference)?.members(of: relationship) ?? []
        try context.noteHolders(of: object, among: holders, in: relationship)
      }
    }
    for (object, insert) in zip(objects, request.inserts) {
      for relationship in insert.entity.relationships where !relationship.isToMany && !relationship.isTransient {
        try set(insert.values[relationship.slot], for: relationship, of: object)
      }
    }
  }

  private func receive(_ insert: SaveRequest.Insert) throws(Failure) -> ManagedObject {
    if let present = context.registeredObject(insert.reference) {
      if present.isLive, try present.isStillStored() {
        throw Failure(
          .conflict, "The parent context has an object with the id of the new \(insert.entity.name) \(insert.id).",
          about: .row(insert.id, of: insert.entity), report: SaveConflict.taken(insert.reference))
      }
      if present.state == .deleted { return try bringBack(present, as: insert) }
    }
    let values = ContiguousArray(
      insert.entity.properties.map { $0 is Attribute ? insert.values[$0.slot] : Value.nil })
    // A caller may still hold the one that was there before.
    if let former = context.table.goneObject(insert.reference), former.entity === insert.entity {
      former.forgetValues()
      former.fill(with: values)
      context.markReturned(former)
      return former
    }
    let object = ManagedObject(
      context: context, entity: insert.entity, id: insert.id, state: .inserted, values: values)
    context.table.register(object)
    context.markInserted(object)
    return object
  }

  /// An object that was deleted in the context, and is to be there again.
  private func bringBack(_ object: ManagedObject, as insert: SaveRequest.Insert) throws(Failure) -> ManagedObject {
    context.markReturned(object)
    try object.letGoOfAll()
    for attribute in insert.entity.attributes where !attribute.isDerived {
      object.write(insert.values[attribute.slot], at: attribute.slot)
    }
    return object
  }

  private func updateObjects() throws(Failure) {
    for update in request.updates {
      guard let object = try context.object(update.reference, of: update.entity) else { continue }
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
  private func takeTransientValues() throws(Failure) {
    for changed in child.pending.updated {
      for attribute in changed.entity.attributes where attribute.isTransient {
        guard changed.committed[attribute.slot] != nil,
          let object = try liveObject(changed.reference, of: changed.entity)
        else { continue }
        object.write(changed.values[attribute.slot], at: attribute.slot)
      }
    }
  }

  private func set(_ value: Value, for relationship: Relationship, of object: ManagedObject) throws(Failure) {
    guard case .object(let box) = value else { return try object.relate(to: nil, through: relationship) }
    try object.relate(to: present(box.reference, for: relationship), through: relationship)
  }

  /// An object that the child has another one refer to.
  private func present(_ reference: ObjectReference, for relationship: Relationship) throws(Failure) -> ManagedObject {
    if let object = try liveObject(reference, of: relationship.destination) { return object }
    throw Failure(
      .conflict,
      "'\(relationship.qualifiedName)' was to refer to \(relationship.destination.name) \(reference.id), "
        + "which is no longer in the parent context. Refer to another object, or to none.",
      about: .property(relationship), report: SaveConflict.missing(reference))
  }

  private func apply(_ change: SaveRequest.ToManyChange) throws(Failure) {
    guard let owner = try context.object(change.owner, of: change.relationship.entity) else { return }
    try owner.fulfil()
    // The to-one inverse has reported the others.
    if change.relationship.inverse?.isToMany ?? true { try moveMembers(change, of: owner) }
    if let order = change.order { try reorder(change, of: owner, order) }
  }

  /// Members come and go one by one, whatever there is of others here.
  private func moveMembers(_ change: SaveRequest.ToManyChange, of owner: ManagedObject) throws(Failure) {
    let relationship = change.relationship
    for reference in change.removed {
      guard let member = try context.object(reference, of: relationship.destination) else { continue }
      // A member whose row is gone is taken out without a change of its own side.
      _ = try member.isStillStored()
      try owner.remove(member, from: relationship)
    }
    for reference in change.added { try owner.add(present(reference, for: relationship), to: relationship) }
  }

  private func reorder(
    _ change: SaveRequest.ToManyChange, of owner: ManagedObject, _ order: [ObjectReference]
  ) throws(Failure) {
    let relationship = change.relationship
    let read = readMembers(change) ?? [], present = try owner.members(of: relationship)
    if present.isReordered(from: read), !order.isReordered(from: read) {
      // The order is that of this context; what is new comes last.
      let known = Set(read)
      owner.reorder(order.filter { !known.contains($0) }, in: relationship)
    } else {
      owner.reorder(order, in: relationship)
    }
  }

  private func deleteObjects() throws(Failure) {
    for delete in request.deletes {
      guard let object = try liveObject(delete.reference, of: delete.entity) else { continue }
      try context.prepareUndo(ofDeleting: object)
      context.markDeleted(object)
    }
    try context.propagateDeletes()
  }
}

extension ManagedObject {
  /// While it was deleted, others lost it: it begins with nothing, without asking them.
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
