/// How one object comes to terms with what another writer has made of its row.
extension ManagedObject {
  /// Takes over a row that was changed in the store, for a context that has changed or deleted the object too.
  func settle(onto row: Row, by policy: MergePolicy) -> Settlement? {
    if row.entity !== entity { return nil }
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

  /// Takes a deletion back: the object is as its row, and so are its relationships that its row or pairs of it hold.
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

  /// Another writer deleted the row. The object as it is here gets one again, under the same id, with the members that
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
        // Their own to-one relationship says where they belong.
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
    for slot in Array(toMany.keys) { overwriteMembers(at: slot, []) }
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

  /// Has an object that this one referred to, or refers to now, agree with that.
  func settleInverse(of relationship: Relationship, at reference: ObjectReference) throws(Failure) {
    guard let inverse = relationship.inverse else { return }
    // The row of a partner must lose this one, whether it was read here or not.
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
    } else {
      try settle(partner: target, inverse, of: relationship, isHeld: isHeld)
    }
  }

  /// Has the other object of a one-to-one relationship agree.
  private func settle(
    partner: ManagedObject, _ inverse: Relationship, of relationship: Relationship, isHeld: Bool
  ) throws(Failure) {
    if !(try partner.isStillStored()) { return }
    if partner.state == .saved, partner.committed[inverse.slot] == nil { try context.reread([partner.reference]) }
    let held = partner.values[inverse.slot]
    if case .object(let box) = held, box.reference == reference {
      if !isHeld { partner.write(.nil, at: inverse.slot) }
    } else if isHeld {
      if case .object(let box) = held { try free(partner, of: box.reference, relationship, inverse) }
      partner.write(.object(reference), at: inverse.slot)
    }
  }

  /// The object that `partner` held until now has to let go of it, whether it was read here or not, and when.
  private func free(
    _ partner: ManagedObject, of reference: ObjectReference, _ relationship: Relationship, _ inverse: Relationship
  ) throws(Failure) {
    guard let former = try context.object(reference, of: inverse.destination), former.isLive,
      try former.isStillStored()
    else { return }
    if former.state == .saved, former.committed[relationship.slot] == nil { try context.reread([reference]) }
    if case .object(let back) = former.values[relationship.slot], back.reference == partner.reference {
      former.write(.nil, at: relationship.slot)
    }
  }

  /// Everything that differs from these members is a change now, but for what the same save deletes.
  func overwriteMembers(at slot: Int, _ present: [ObjectReference]) {
    toMany[slot]?.overwrite(present)
    let lost = toMany[slot]?.addedMembers.filter(context.isToBeDeleted) ?? []
    toMany[slot]?.forget(Set(lost))
    guard let members = toMany[slot] else { return }
    // Their own side may be read later.
    for reference in members.addedMembers + members.removedMembers {
      context.pending.noteHolder(self, of: reference)
    }
  }

  func setMember(_ other: ManagedObject, of relationship: Relationship, _ isHeld: Bool) {
    let slot = relationship.slot
    if isHeld { toMany[slot]?.add(other.reference) } else { toMany[slot]?.remove(other.reference) }
    context.touch(self, at: slot)
  }

  func storedMembers(of relationship: Relationship) throws(Failure) -> [ObjectReference] {
    let root = relationship.destination.rootNumber
    return try context.source.members(of: relationship, owner: id).map { ObjectReference(root: root, id: $0.id) }
  }
}
