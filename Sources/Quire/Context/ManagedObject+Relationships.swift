extension ManagedObject {
  // MARK: To-one

  /// Points a to-one relationship at `target` and keeps both inverses right.
  func relate(to target: ManagedObject?, through relationship: Relationship) throws(Failure) {
    let slot = relationship.slot
    var previous: ManagedObject?
    if case .object(let box) = values[slot] {
      if let target, box.reference == target.reference { return }
      previous = try context.object(box.reference, of: relationship.destination)
    } else if target == nil {
      return
    }
    guard let inverse = relationship.inverse else {
      write(target.map { .object($0.reference) } ?? .nil, at: slot)
      return
    }
    // Everything that may have to be read is read before the first change, so that a failure changes nothing.
    try previous?.prepare(inverse)
    try target?.prepare(inverse)
    var robbed: ManagedObject?
    if let target, !inverse.isToMany, case .object(let box) = target.values[inverse.slot],
      box.reference != reference
    {
      robbed = try context.object(box.reference, of: inverse.destination)
      try robbed?.fulfil()
    }
    previous?.detach(self, from: inverse)
    robbed?.write(.nil, at: slot)
    write(target.map { .object($0.reference) } ?? .nil, at: slot)
    target?.attach(self, to: inverse)
  }

  /// Reads what `attach` and `detach` will change.
  private func prepare(_ relationship: Relationship) throws(Failure) {
    if !isLive { return }
    if !relationship.isToMany {
      try fulfil()
    } else if relationship.isOrdered || relationship.isManyToMany || relationship.inverse == nil {
      _ = try members(of: relationship)
    }
  }

  /// Makes the far side of a relationship hold `other`, without looking at its inverse.
  private func attach(_ other: ManagedObject, to relationship: Relationship) {
    if !isLive { return }
    if relationship.isToMany {
      let reference = other.reference
      changeMembers(of: relationship) { if !$0.contains(reference) { $0.append(reference) } }
    } else {
      write(.object(other.reference), at: relationship.slot)
    }
  }

  private func detach(_ other: ManagedObject, from relationship: Relationship) {
    if !isLive { return }
    if relationship.isToMany {
      let reference = other.reference
      changeMembers(of: relationship) { members in members.removeAll { $0 == reference } }
    } else if case .object(let box) = values[relationship.slot], box.reference == other.reference {
      write(.nil, at: relationship.slot)
    }
  }

  /// Members that were never read need no change: reading them later takes the other side into account.
  private func changeMembers(of relationship: Relationship, _ body: (inout [ObjectReference]) -> Void) {
    toMany[relationship.slot]?.change(body)
    context.touch(self)
  }

  // MARK: To-many

  /// The members of a to-many relationship: in order when ordered, otherwise by id.
  func objects(of relationship: Relationship) throws(Failure) -> [ManagedObject] {
    try checkReadable()
    var objects: [ManagedObject] = []
    for reference in try members(of: relationship) {
      if let object = try context.object(reference, of: relationship.destination), object.isLive { objects.append(object) }
    }
    if !relationship.isOrdered { objects.sort { $0.isBefore($1) } }
    return objects
  }

  /// Permanent ids first, in their order, then temporary ones, oldest first: the order of the tie-break.
  func isBefore(_ other: ManagedObject) -> Bool {
    id > 0 && other.id > 0 ? id < other.id : id > 0 || (other.id < 0 && id > other.id)
  }

  func members(of relationship: Relationship) throws(Failure) -> [ObjectReference] {
    if let loaded = toMany[relationship.slot] { return loaded.members }
    var members: [ObjectReference] = []
    if id > 0, state != .inserted {
      for row in try context.store.relatedIDs(relationship, of: id) {
        guard let entity = context.model.entity(numbered: Int(row.entity)) else { continue }
        let object = context.object(ObjectReference(root: entity.rootNumber, id: row.id), entity: entity)
        members.append(object.reference)
      }
    }
    overlayPending(relationship, on: &members)
    toMany[relationship.slot] = ToManyMembers(saved: members)
    return members
  }

  /// Lays over the saved members what unsaved objects say about the to-one inverse.
  private func overlayPending(_ relationship: Relationship, on members: inout [ObjectReference]) {
    guard let inverse = relationship.inverse, !inverse.isToMany else { return }
    var saved = Set(members)
    let savedCount = saved.count
    var removed = Set<ObjectReference>()
    for object in context.pending where object.entity.isKind(of: relationship.destination) && !object.isFault {
      var holdsSelf = false
      if object.isLive, case .object(let box) = object.values[inverse.slot] { holdsSelf = box.reference == reference }
      if holdsSelf {
        if saved.insert(object.reference).inserted { members.append(object.reference) }
      } else if saved.contains(object.reference), object.isLive {
        removed.insert(object.reference)
      }
    }
    if !removed.isEmpty { members.removeAll { removed.contains($0) } }
    if !removed.isEmpty || saved.count > savedCount { context.overlaid.insert(self) }
  }

  /// Replaces the members of a to-many relationship; the order counts when it is ordered.
  func set(_ objects: [ManagedObject], for relationship: Relationship) throws(Failure) {
    try checkWritable()
    for object in objects { try check(object, for: relationship) }
    var wanted: [ManagedObject] = []
    var seen = Set<ObjectReference>()
    for object in objects where seen.insert(object.reference).inserted { wanted.append(object) }
    for object in try self.objects(of: relationship) where !seen.contains(object.reference) {
      try remove(object, from: relationship)
    }
    for object in wanted { try add(object, to: relationship) }
    let order = wanted.map(\.reference)
    if relationship.isOrdered, let present = toMany[relationship.slot]?.members, present != order {
      changeMembers(of: relationship) { $0 = order }
    }
  }

  func add(_ other: ManagedObject, to relationship: Relationship) throws(Failure) {
    try checkWritable()
    try check(other, for: relationship)
    if try members(of: relationship).contains(other.reference) { return }
    if let inverse = relationship.inverse, !inverse.isToMany {
      try other.fulfil()
      try other.relate(to: self, through: inverse)
      return
    }
    if let inverse = relationship.inverse { try other.prepare(inverse) }
    attach(other, to: relationship)
    if let inverse = relationship.inverse, !(inverse === relationship && other === self) { other.attach(self, to: inverse) }
  }

  func remove(_ other: ManagedObject, from relationship: Relationship) throws(Failure) {
    try checkWritable()
    try other.checkBelongs(to: context)
    if try !members(of: relationship).contains(other.reference) { return }
    if let inverse = relationship.inverse, !inverse.isToMany {
      try other.fulfil()
      try other.relate(to: nil, through: inverse)
      return
    }
    if let inverse = relationship.inverse { try other.prepare(inverse) }
    detach(other, from: relationship)
    if let inverse = relationship.inverse { other.detach(self, from: inverse) }
  }

  // MARK: Deletion

  /// Takes a deleted object out of everything that it related to, and gives the objects to delete with it.
  func applyDeleteRules() throws(Failure) -> [ManagedObject] {
    var cascade: [ManagedObject] = []
    for relationship in entity.relationships where relationship.deleteRule != .noAction {
      var others: [ManagedObject] = []
      if relationship.isToMany {
        for reference in try members(of: relationship) {
          if let other = try context.object(reference, of: relationship.destination) { others.append(other) }
        }
      } else if !isFault, case .object(let box) = values[relationship.slot] {
        if let other = try context.object(box.reference, of: relationship.destination) { others.append(other) }
      }
      for other in others where other.isLive {
        if relationship.deleteRule == .cascade {
          cascade.append(other)
        } else if relationship.deleteRule == .nullify, let inverse = relationship.inverse {
          try other.prepare(inverse)
          other.detach(self, from: inverse)
        }
      }
    }
    return cascade
  }
}

extension Context {
  /// Applies the delete rules of everything deleted since the last time, in one pass over what they reach.
  func propagateDeletes() throws(Failure) {
    while !undelivered.isEmpty {
      for object in undelivered.take() {
        for other in try object.applyDeleteRules() where other.isLive {
          try other.fulfil()
          file(deleted: other)
        }
      }
    }
  }
}
