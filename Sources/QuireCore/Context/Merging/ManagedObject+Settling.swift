/// An object that has taken over its row, and whose relationships others still have to agree with.
struct Settlement {
  let object: ManagedObject
  fileprivate let policy: MergePolicy
  /// By slot of the to-one relationship: all that it held.
  fileprivate let formerTargets: [Int: Set<ObjectReference>]
  fileprivate var isRevived = false

  /// To be called when all objects that are settled together have taken over their rows: this reads partners anew, and
  /// what is read anew no longer shows what its own policy goes by. Those in `waiting` have their turn yet, and need to
  /// know then what they held.
  func finish(before waiting: Set<ObjectIdentifier> = []) throws(Failure) {
    try object.settleRelationships(formerTargets, by: policy, before: waiting)
    if isRevived { try object.regainMembers() }
  }
}

/// How one object comes to terms with what another writer has made of its row.
extension ManagedObject {
  /// Takes over a row that was changed in the store, for a context that has changed or deleted the object too.
  func settle(onto row: Row, by policy: MergePolicy) -> Settlement? {
    if state == .deleted {
      if policy == .storeWins || policy == .rollback { return revive(from: row) }
      rebase(onto: row)
      deleteAgain()
      return nil
    }
    guard state == .saved else { return nil }
    if isFault {
      fulfil(with: row)
      return nil
    }
    let formerTargets = targets(row)
    switch policy {
    case .error: return nil
    case .objectWins: rebase(onto: row)
    case .storeWins:
      for (slot, saved) in committed
      where !entity.properties[slot].isTransient && !saved.isIdentical(to: row.values[slot]) {
        take(row.values[slot], at: slot)
      }
      rebase(onto: row)
    case .rollback:
      for (slot, saved) in committed { take(entity.properties[slot].isTransient ? saved : row.values[slot], at: slot) }
      rebase(onto: row)
    case .overwrite: overwrite(row)
    }
    return Settlement(object: self, policy: policy, formerTargets: formerTargets)
  }

  /// Gives a deletion up: the object is as its row, and so are its relationships that its row or pairs of it hold.
  func revive(from row: Row) -> Settlement {
    let formerTargets = targets(row)
    context.markRevived(self)
    commitValues()
    toMany = [:]
    fulfil(with: row)
    context.touch(self)
    return Settlement(object: self, policy: .rollback, formerTargets: formerTargets, isRevived: true)
  }

  /// Has the delete rules applied to what the object relates to now.
  func deleteAgain() {
    toMany = [:]
    context.pending.awaitDeleteRules(self)
  }

  /// Another writer deleted the row: the object as it is here gets one again, under the same id, with the members that
  /// it had before others were settled.
  func insertAgain(_ formerMembers: [Int: ToManyMembers]) throws(Failure) {
    toMany = formerMembers
    context.pending.insertAgain(self)
    commitValues()
    version = 0
    for relationship in entity.relationships where !relationship.isTransient {
      let slot = relationship.slot
      if !relationship.isToMany {
        guard case .object(let box) = values[slot] else { continue }
        context.pending.noteHolder(self, of: box.reference)
        try settleInverse(of: relationship, at: box.reference)
      } else if isStored(relationship), relationship.isManyToMany || relationship.inverse == nil {
        overwriteMembers(at: slot, [])
        for reference in toMany[slot]?.members ?? [] {
          guard let inverse = relationship.inverse, let member = context.registeredObject(reference), member.isLive,
            member.toMany[inverse.slot] != nil
          else { continue }
          member.setMember(self, of: inverse, true)
        }
      } else if let members = formerMembers[slot] {
        // They say themselves to whom they belong.
        toMany[slot] = nil
        try context.reread(members.members)
        context.touch(self, at: slot)
      }
    }
  }

  /// The row of an object that was inserted again was brought back by another writer.
  func becomeStored(as row: Row) {
    context.pending.becomeStored(self)
    version = row.version
    for slot in toMany.keys { toMany[slot]?.overwrite([]) }
    overwrite(row)
  }

  // MARK: Values

  /// Takes the store's value in the place of what was changed here.
  private func take(_ stored: Value, at slot: Int) {
    let old = values[slot]
    showSaved(stored, at: slot)
    for case .object(let box) in [old, stored] { context.pending.noteHolder(self, of: box.reference) }
    context.touch(self, at: slot, from: old)
  }

  /// Everything that differs from the row is a change now.
  private func overwrite(_ row: Row) {
    version = row.version
    for property in entity.properties where !property.isTransient {
      let slot = property.slot
      let present = row.values[slot], mine = values[slot]
      if property.isDerived {
        show(present, at: slot)
        context.touch(self, at: slot, from: mine)
        continue
      }
      noteSaved(present, at: slot)
      for case .object(let box) in [present, mine] { context.pending.noteHolder(self, of: box.reference) }
      context.touch(self, at: slot, from: mine)
    }
  }

  // MARK: Relationships

  /// All that the to-one relationships hold here, held when they were read, and hold in the store, where these differ.
  private func targets(_ row: Row) -> [Int: Set<ObjectReference>] {
    var targets: [Int: Set<ObjectReference>] = [:]
    for relationship in entity.relationships where !relationship.isToMany && !relationship.isTransient {
      let slot = relationship.slot
      var references: Set<ObjectReference> = []
      for case .object(let box)? in [isFault ? nil : values[slot], committed[slot], row.values[slot]] {
        references.insert(box.reference)
      }
      let isSame = !isFault && committed[slot] == nil && values[slot].isIdentical(to: row.values[slot])
      if !references.isEmpty, !isSame || state == .deleted { targets[slot] = references }
    }
    return targets
  }

  fileprivate func settleRelationships(
    _ targets: [Int: Set<ObjectReference>], by policy: MergePolicy, before waiting: Set<ObjectIdentifier>
  ) throws(Failure) {
    for relationship in entity.relationships where !relationship.isTransient {
      if relationship.isToMany {
        try settleMembers(of: relationship, by: policy, before: waiting)
      } else {
        let present = targets[relationship.slot] ?? []
        for reference in present.sorted(by: { $0.id < $1.id }) {
          try settleInverse(of: relationship, at: reference)
        }
      }
    }
  }

  /// Has an object that this one referred to, or refers to now, agree with that.
  private func settleInverse(of relationship: Relationship, at reference: ObjectReference) throws(Failure) {
    guard let inverse = relationship.inverse else { return }
    // The row of a partner has to let go of this one, whether it was read here or not.
    let known =
      inverse.isToMany
      ? context.registeredObject(reference) : try context.object(reference, of: relationship.destination)
    guard let target = known, target.isLive else { return }
    var isHeld = false
    if isLive, case .object(let box) = values[relationship.slot] { isHeld = box.reference == reference }
    if inverse.isToMany {
      if target.toMany[inverse.slot] == nil { return }
      if target.state == .saved { target.rebaseMembers(of: inverse, onto: try target.storedMembers(of: inverse)) }
      target.setMember(self, of: inverse, isHeld)
      return
    }
    if !(try target.isStillStored()) { return }
    if target.state == .saved, target.committed[inverse.slot] == nil { try context.reread([reference]) }
    let held = target.values[inverse.slot]
    if case .object(let box) = held, box.reference == self.reference {
      if !isHeld { target.write(.nil, at: inverse.slot) }
    } else if isHeld {
      // Whom the target held until now has to let go of it, whether it was read here or not, and when.
      if case .object(let box) = held, let former = try context.object(box.reference, of: inverse.destination),
        former.isLive, try former.isStillStored()
      {
        if former.state == .saved, former.committed[relationship.slot] == nil { try context.reread([box.reference]) }
        if case .object(let back) = former.values[relationship.slot], back.reference == reference {
          former.write(.nil, at: relationship.slot)
        }
      }
      target.write(.object(self.reference), at: inverse.slot)
    }
  }

  /// Brings members that were read or changed here to what the store has by now.
  private func settleMembers(
    of relationship: Relationship, by policy: MergePolicy, before waiting: Set<ObjectIdentifier>
  ) throws(Failure) {
    let slot = relationship.slot
    guard let former = toMany[slot].map({ Set($0.members) }) else { return }
    let present = try storedMembers(of: relationship)
    switch policy {
    case .overwrite where relationship.isManyToMany || relationship.inverse == nil: overwriteMembers(at: slot, present)
    case .rollback where relationship.isManyToMany:
      // The other sides follow below.
      toMany[slot] = ToManyMembers(present, saved: present, isOrdered: relationship.isOrdered)
    case .rollback: take(present, asSavedIn: relationship)
    default:
      let isReordered = relationship.isOrdered && present.isReordered(from: toMany[slot]?.saved ?? [])
      rebaseMembers(of: relationship, onto: present)
      if isReordered, policy == .storeWins { reorder(present, in: relationship) }
    }
    context.touch(self, at: slot)
    guard relationship.isManyToMany, let inverse = relationship.inverse else { return }
    // The store has one among them that the same save deletes.
    if context.hasDeleted(among: toMany[slot]?.members ?? []) { context.pending.noteOverlaid(self) }
    if policy == .overwrite { try forgetGoneMembers(of: relationship) }
    guard let members = toMany[slot] else { return }
    let now = Set(members.members)
    let pending = Set(members.addedMembers + members.removedMembers)
    for reference in former.symmetricDifference(now).union(pending).sorted(by: { $0.id < $1.id }) {
      guard let member = context.registeredObject(reference), member.isLive, member !== self,
        let theirs = member.toMany[inverse.slot]
      else { continue }
      let isOther = member.isUpdated || waiting.contains(ObjectIdentifier(member))
      if theirs.isChanged || isOther || pending.contains(reference) {
        if !isOther, member.state == .saved {
          // It is only drawn in: nothing but this one member of it may change.
          try context.reread(CollectionOfOne(reference))
          member.rebaseMembers(of: inverse, onto: try member.storedMembers(of: inverse))
        }
        member.setMember(self, of: inverse, now.contains(reference))
      } else {
        // It changed nothing there and reads again what is stored.
        member.toMany[inverse.slot] = nil
        context.touch(member, at: inverse.slot)
      }
    }
  }

  /// Everything that differs from these members is a change now, but for what the same save deletes.
  private func overwriteMembers(at slot: Int, _ present: [ObjectReference]) {
    toMany[slot]?.overwrite(present)
    let lost = toMany[slot]?.addedMembers.filter(context.isToBeDeleted) ?? []
    toMany[slot]?.forget(Set(lost))
  }

  /// Members that are to be added again, although nothing of them was changed here, may have been deleted since.
  private func forgetGoneMembers(of relationship: Relationship) throws(Failure) {
    let added = toMany[relationship.slot]?.addedMembers ?? []
    let clean = added.filter { reference in
      guard let member = context.registeredObject(reference) else { return true }
      return member.state == .saved && !member.isUpdated
    }
    if clean.isEmpty { return }
    let rows = try context.storedRows(clean)
    toMany[relationship.slot]?.forget(Set(clean.filter { rows[$0] == nil }))
  }

  /// Objects that were made to let go of this one when it was deleted take it back.
  fileprivate func regainMembers() throws(Failure) {
    for relationship in entity.relationships where relationship.isManyToMany && !relationship.isTransient {
      guard let inverse = relationship.inverse else { continue }
      for reference in try storedMembers(of: relationship) {
        guard let member = context.registeredObject(reference), member.isLive,
          member.toMany[inverse.slot]?.isChanged == true
        else { continue }
        member.setMember(self, of: inverse, true)
      }
    }
  }

  private func setMember(_ other: ManagedObject, of relationship: Relationship, _ isHeld: Bool) {
    let slot = relationship.slot
    if isHeld { toMany[slot]?.add(other.reference) } else { toMany[slot]?.remove(other.reference) }
    context.touch(self, at: slot)
  }

  func storedMembers(of relationship: Relationship) throws(Failure) -> [ObjectReference] {
    let root = relationship.destination.rootNumber
    return try context.source.members(of: relationship, owner: id).map { ObjectReference(root: root, id: $0.id) }
  }
}
