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
    if try previous?.isPrepared(for: inverse) != true { previous = nil }
    try previous?.readAgain(unlessRelatedTo: self, by: inverse)
    try target?.prepare(inverse)
    try target?.readAgain(ifRelatedTo: self, by: inverse)
    var robbed: ManagedObject?
    if let target, !inverse.isToMany, case .object(let box) = target.values[inverse.slot],
      box.reference != reference
    {
      robbed = try context.object(box.reference, of: inverse.destination)
      if try robbed?.isPrepared(for: relationship) != true { robbed = nil }
      try robbed?.readAgain(unlessRelatedTo: target, by: relationship)
      // It may have been given another one here.
      if robbed?.refers(to: target.reference, at: slot) != true { robbed = nil }
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
      // A save compares the version of the row, although it is the members that change.
      try fulfil()
      _ = try members(of: relationship)
    }
  }

  /// False when there is nothing to change: it is deleted, or its row turns out to be gone.
  func isPrepared(for relationship: Relationship) throws(Failure) -> Bool {
    do {
      try prepare(relationship)
    } catch {
      if error.kind == .notFound { return false }
      throw error
    }
    return isLive
  }

  /// Reads the row if need be; false when it is gone.
  func isStillStored() throws(Failure) -> Bool {
    do {
      try fulfil()
    } catch {
      if error.kind == .notFound { return false }
      throw error
    }
    return true
  }

  /// Makes the far side of a relationship hold `other`, without looking at its inverse.
  func attach(_ other: ManagedObject, to relationship: Relationship) {
    if !isLive { return }
    if relationship.isToMany {
      context.undoManager?.note(toMany[relationship.slot], of: relationship, in: self)
      if relationship.minimumCount > 1 || relationship.maximumCount > 0 { recount(relationship) }
      // Members that were never read need no change: reading them later takes the other side into account.
      if let inverse = relationship.inverse, other.holdsAsSaved(inverse) {
        toMany[relationship.slot]?.addSaved(other.reference)
      } else {
        toMany[relationship.slot]?.add(other.reference)
      }
      context.touch(self, at: relationship.slot)
    } else {
      write(.object(other.reference), at: relationship.slot)
    }
  }

  /// Whether what a to-one relationship holds is what was read, so that it is no change of members at the other end.
  private func holdsAsSaved(_ relationship: Relationship) -> Bool {
    !relationship.isToMany && state == .saved && committed[relationship.slot] == nil
  }

  func detach(_ other: ManagedObject, from relationship: Relationship) {
    if !isLive { return }
    if relationship.isToMany {
      context.undoManager?.note(toMany[relationship.slot], of: relationship, in: self)
      if relationship.minimumCount > 1 || !relationship.isOptional { recount(relationship) }
      toMany[relationship.slot]?.remove(other.reference)
      context.touch(self, at: relationship.slot)
    } else if case .object(let box) = values[relationship.slot], box.reference == other.reference {
      write(.nil, at: relationship.slot)
    }
  }

  /// Has the next save count members that changed without having been read.
  private func recount(_ relationship: Relationship) {
    if toMany[relationship.slot] == nil { context.pending.noteUncounted(self) }
  }

  // MARK: To-many

  /// The members of a to-many relationship: in order when ordered, otherwise by id.
  func objects(of relationship: Relationship) throws(Failure) -> [ManagedObject] {
    try checkReadable()
    var objects: [ManagedObject] = []
    for reference in try members(of: relationship) {
      if let object = try context.object(reference, of: relationship.destination), object.isLive {
        objects.append(object)
      }
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
    if state != .inserted, !relationship.isTransient {
      for row in try context.source.members(of: relationship, owner: id) {
        guard let entity = context.model.entity(numbered: Int(row.entity)) else { continue }
        let object = context.object(ObjectReference(root: entity.rootNumber, id: row.id), entity: entity)
        if object.state == .saved, !object.isFault, let inverse = relationship.inverse, !inverse.isToMany,
          !object.refers(to: reference, at: inverse.slot)
        {
          // Another writer may have given it to this owner since it was read: until that is merged, both sides say no.
          if object.committed[inverse.slot] == nil { continue }
          // Then it was given to another one here, which is laid over the saved members.
          context.pending.noteHolder(object, of: reference)
        }
        members.append(object.reference)
      }
    }
    return take(members, asSavedIn: relationship)
  }

  /// Whether a to-one relationship of this object, which is no fault, holds another one.
  private func refers(to reference: ObjectReference, at slot: Int) -> Bool {
    if case .object(let box) = values[slot] { box.reference == reference } else { false }
  }

  /// Takes over the members of a relationship as they were just read. Returns them as they are now.
  @discardableResult
  func take(_ saved: [ObjectReference], asSavedIn relationship: Relationship) -> [ObjectReference] {
    var members = saved, saved = saved
    if relationship.isManyToMany {
      overlayPendingPairs(relationship, on: &members, readAs: &saved)
    } else {
      overlayPending(relationship, on: &members)
    }
    // Others have added what is deleted here, where no delete rule was to find it.
    if context.hasDeleted(among: members) { context.pending.noteOverlaid(self) }
    toMany[relationship.slot] = ToManyMembers(members, saved: saved, isOrdered: relationship.isOrdered)
    return members
  }

  private func holds(_ other: ManagedObject, in relationship: Relationship) throws(Failure) -> Bool {
    _ = try members(of: relationship)
    return toMany[relationship.slot]?.contains(other.reference) == true
  }

  /// Lays over the saved members what unsaved objects say about the to-one inverse.
  private func overlayPending(_ relationship: Relationship, on members: inout [ObjectReference]) {
    guard let inverse = relationship.inverse, !inverse.isToMany else { return }
    let holders = context.pending.holders(of: reference)
    if holders.isEmpty { return }
    var saved = Set(members)
    let savedCount = saved.count
    var removed = Set<ObjectReference>()
    var holdsDeleted = false
    for object in holders
    where object.entity.isKind(of: relationship.destination) && !object.isFault && object.state != .gone {
      let holdsSelf = object.refers(to: reference, at: inverse.slot)
      if holdsSelf, object.isLive {
        if saved.insert(object.reference).inserted { members.append(object.reference) }
      } else if saved.contains(object.reference) {
        if holdsSelf { holdsDeleted = true } else { removed.insert(object.reference) }
      }
    }
    if !removed.isEmpty { members.removeAll { removed.contains($0) } }
    if !removed.isEmpty || holdsDeleted || saved.count > savedCount { context.pending.noteOverlaid(self) }
  }

  /// Lays over the saved members what the other sides of unsaved pairs say, which keep them when others have saved.
  /// Where these only say what they have read, and others have changed since, both sides go by that until the merge.
  private func overlayPendingPairs(
    _ relationship: Relationship, on members: inout [ObjectReference], readAs saved: inout [ObjectReference]
  ) {
    guard let inverse = relationship.inverse else { return }
    for object in context.pending.holders(of: reference)
    where object.isLive && object.entity.isKind(of: relationship.destination) {
      guard object.toMany[inverse.slot]?.isChanged == true else { continue }
      let place = members.firstIndex(of: object.reference)
      let isPending = object.toMany[inverse.slot]?.pendingClaim(on: reference) != nil
      if object.toMany[inverse.slot]?.contains(reference) == true {
        if place != nil { continue }
        members.append(object.reference)
        if !isPending { saved.append(object.reference) }
      } else {
        guard let place else { continue }
        members.remove(at: place)
        if !isPending { saved.removeAll { $0 == object.reference } }
      }
      context.pending.noteOverlaid(self)
    }
  }

  /// Replaces the members of a to-many relationship; the order counts when it is ordered.
  func set(_ objects: [ManagedObject], for relationship: Relationship) throws(Failure) {
    try checkWritable()
    _ = try isAwakening(for: relationship)
    for object in objects { try check(object, for: relationship) }
    var wanted: [ManagedObject] = []
    var seen = Set<ObjectReference>()
    for object in objects where seen.insert(object.reference).inserted { wanted.append(object) }
    let present = try self.objects(of: relationship)
    // Another order alone is a change of this row as well, of which a save compares the version.
    if relationship.isOrdered, !wanted.elementsEqual(present, by: ===) { try fulfil() }
    if relationship.inverse != nil {
      // One that is gone is met before the first change.
      let known = Set(present.map(\.reference))
      let added = wanted.filter { !known.contains($0.reference) }
      try context.fulfil(added)
      for object in added { try object.fulfil() }
    }
    for object in present.reversed() where !seen.contains(object.reference) {
      try remove(object, from: relationship)
    }
    for object in wanted { try add(object, to: relationship) }
    if relationship.isOrdered { reorder(wanted.map(\.reference), in: relationship) }
  }

  /// Brings the members of an ordered relationship, once they were read, into another order. Those not in it, which
  /// are deleted, keep their places.
  func reorder(_ wanted: [ObjectReference], in relationship: Relationship, isChange: Bool = false) {
    guard let present = toMany[relationship.slot], isChange || present.members != wanted else { return }
    let known = Set(present.members), named = Set(wanted)
    var next = wanted.filter(known.contains).makeIterator()
    let order = present.members.map { named.contains($0) ? next.next() ?? $0 : $0 }
    if !isChange, order == present.members { return }
    context.undoManager?.note(present, of: relationship, in: self)
    toMany[relationship.slot]?.reorder(order)
    context.touch(self, at: relationship.slot)
  }

  func add(_ other: ManagedObject, to relationship: Relationship) throws(Failure) {
    try checkWritable()
    _ = try isAwakening(for: relationship)
    try check(other, for: relationship)
    if try holds(other, in: relationship) { return }
    if let inverse = relationship.inverse, !inverse.isToMany {
      try other.fulfil()
      if other.refers(to: reference, at: inverse.slot) { try readAgain(other, in: relationship) }
      try other.relate(to: self, through: inverse)
      if try holds(other, in: relationship) { return }
      if other.holdsAsSaved(inverse) {
        // Another writer has made it a member since the members were read, so that it is no change of them.
        toMany[relationship.slot]?.addSaved(other.reference)
        context.touch(self, at: relationship.slot)
      } else {
        attach(other, to: relationship)
      }
      return
    }
    try prepare(relationship)
    if let inverse = relationship.inverse { try other.prepare(inverse) }
    attach(other, to: relationship)
    if let inverse = relationship.inverse, !(inverse === relationship && other === self) {
      other.attach(self, to: inverse)
    }
    noteHolders(other, relationship)
  }

  func remove(_ other: ManagedObject, from relationship: Relationship) throws(Failure) {
    try checkWritable()
    _ = try isAwakening(for: relationship)
    try other.checkBelongs(to: context)
    if try !holds(other, in: relationship) { return }
    if let inverse = relationship.inverse, !inverse.isToMany {
      // A deleted object is a member only until its delete rules are applied, and is not to be written to.
      guard other.isLive else { return }
      if try !other.isStillStored() {
        forgetMember(other, of: relationship)
        return
      }
      if !other.refers(to: reference, at: inverse.slot) {
        try other.readAgain()
        let isTakenOut = other.holdsAsSaved(inverse) && !other.refers(to: reference, at: inverse.slot)
        if isTakenOut { return forgetMember(other, of: relationship) }
        forgetMembers(of: relationship, isNewer: true)
      }
      if other.refers(to: reference, at: inverse.slot) { try other.relate(to: nil, through: inverse) }
      if try holds(other, in: relationship) { detach(other, from: relationship) }
      return
    }
    try prepare(relationship)
    // A member whose row turns out to be gone is taken out without a change of its own side.
    if let inverse = relationship.inverse, try other.isPrepared(for: inverse) {
      try other.readAgain(unlessPairedWith: self, in: inverse)
    }
    detach(other, from: relationship)
    if let inverse = relationship.inverse { other.detach(self, from: inverse) }
    noteHolders(other, relationship)
  }

  /// Its row turned out to be gone, or to belong to another owner.
  private func forgetMember(_ other: ManagedObject, of relationship: Relationship) {
    toMany[relationship.slot]?.forget([other.reference])
    context.touch(self, at: relationship.slot)
  }

  /// One of the two was read before another writer has saved the owner of `other`, and one after that. Makes both show
  /// what is saved by now, as far as it was not changed here.
  private func readAgain(_ other: ManagedObject, in relationship: Relationship) throws(Failure) {
    try other.readAgain()
    forgetMembers(of: relationship, isNewer: true)
  }

  private func readAgain() throws(Failure) {
    for row in try context.source.rows(root: entity.root, ids: [id]) { refresh(with: row) }
  }

  /// Has a partner of a one-to-one relationship show its row as it is now, if it was read before another writer has
  /// related the two. Its row would keep the reference otherwise.
  private func readAgain(unlessRelatedTo other: ManagedObject, by relationship: Relationship) throws(Failure) {
    if !holdsAsSaved(relationship) || refers(to: other.reference, at: relationship.slot) { return }
    try readAgain()
  }

  /// The same if it was read before another writer has parted the two: it would not be written.
  private func readAgain(ifRelatedTo other: ManagedObject, by relationship: Relationship) throws(Failure) {
    if holdsAsSaved(relationship), refers(to: other.reference, at: relationship.slot) { try readAgain() }
  }

  /// Has this side of a pair read again that was read before another writer has made the pair. It would not lose the
  /// other object, and a fetch would look for it in the store alone.
  private func readAgain(unlessPairedWith other: ManagedObject, in relationship: Relationship) throws(Failure) {
    guard relationship.isManyToMany, state == .saved, toMany[relationship.slot]?.contains(other.reference) == false,
      toMany[relationship.slot]?.pendingClaim(on: other.reference) == nil
    else { return }
    rebaseMembers(of: relationship, onto: try storedMembers(of: relationship))
  }

  /// A pair is a change of both, of which each is to know should its own members be read anew.
  private func noteHolders(_ other: ManagedObject, _ relationship: Relationship) {
    if !relationship.isManyToMany { return }
    context.pending.noteHolder(self, of: other.reference)
    context.pending.noteHolder(other, of: reference)
  }
}
