/// How one object takes over what others have saved, with what was changed here on top.
extension ManagedObject {
  /// The store has come to hold other members: what was added and removed here, on either side, stays so, and can
  /// still be undone.
  func rebaseMembers(of relationship: Relationship, onto present: [ObjectReference]) {
    let slot = relationship.slot
    guard let before = toMany[slot]?.members else { return }
    toMany[slot]?.rebase(onto: present)
    if let undoManager = context.undoManager, let after = toMany[slot]?.members, before != after {
      let known = Set(before)
      undoManager.rebase(
        self, at: slot, added: after.filter { !known.contains($0) }, removed: known.subtracting(after))
    }
    agree(in: relationship)
  }

  /// Brings rebased members in line with what objects here say of the inverse: their pending changes win. This side
  /// need not have known of them, as it may have been read before others saved, and theirs after that.
  private func agree(in relationship: Relationship) {
    guard let inverse = relationship.inverse else { return }
    if inverse.isToMany {
      agreeWithPairs(in: relationship, inverse)
    } else {
      letGoOfMembers(in: relationship, holding: inverse)
      takeMembers(in: relationship, holding: inverse)
    }
  }

  private func agreeWithPairs(in relationship: Relationship, _ inverse: Relationship) {
    for member in context.pending.holders(of: reference)
    where member.entity.isKind(of: relationship.destination) && member.isLive {
      switch member.toMany[inverse.slot]?.pendingClaim(on: reference) {
      case true?: toMany[relationship.slot]?.add(member.reference)
      case false?: toMany[relationship.slot]?.remove(member.reference)
      case nil: break
      }
    }
  }

  private func letGoOfMembers(in relationship: Relationship, holding inverse: Relationship) {
    for other in toMany[relationship.slot]?.members ?? [] {
      guard let member = context.registeredObject(other), !member.isFault, member.isLive,
        !member.refers(to: self, by: inverse)
      else { continue }
      if member.committed[inverse.slot] == nil {
        // It was read before others had it refer to this one: until that is merged, both sides say no.
        toMany[relationship.slot]?.forget([other])
      } else {
        toMany[relationship.slot]?.remove(other)
      }
    }
  }

  private func takeMembers(in relationship: Relationship, holding inverse: Relationship) {
    for other in toMany[relationship.slot]?.saved ?? [] {
      let member = context.registeredObject(other)
      if member.map({ $0.isLive && ($0.isFault || $0.refers(to: self, by: inverse)) }) ?? true {
        toMany[relationship.slot]?.takeBack(other)
      }
    }
    for member in context.pending.holders(of: reference)
    where member.entity.isKind(of: relationship.destination) && !member.isFault && member.isLive {
      if !member.refers(to: self, by: inverse) { continue }
      if member.state == .saved, member.committed[inverse.slot] == nil { continue }
      toMany[relationship.slot]?.add(member.reference)
    }
  }

  /// Has both sides of one-to-one relationships agree after others have changed one of them: what is pending wins.
  func agreeWithPartners() {
    if !isLive || isFault { return }
    for relationship in entity.relationships where relationship.isOneToOne {
      guard let inverse = relationship.inverse else { continue }
      let slot = relationship.slot
      if case .object(let box)? = committed[slot], let former = partner(box.reference), former !== self,
        former.refers(to: self, by: inverse), !refers(to: former, by: relationship)
      {
        former.write(.nil, at: inverse.slot)
      }
      guard case .object(let box) = values[slot], let other = partner(box.reference),
        !other.refers(to: self, by: inverse)
      else { continue }
      if committed[slot] == nil {
        // Where nothing is pending either, the other one was read before others had it refer to this one.
        if other.committed[inverse.slot] != nil { write(.nil, at: slot) }
        continue
      }
      if case .object(let box) = other.values[inverse.slot], let rival = partner(box.reference),
        rival.refers(to: other, by: relationship)
      {
        rival.write(.nil, at: slot)
      }
      other.write(.object(reference), at: inverse.slot)
    }
  }

  private func partner(_ reference: ObjectReference) -> ManagedObject? {
    guard let object = context.registeredObject(reference), object.isLive, !object.isFault else { return nil }
    return object
  }

  private func refers(to other: ManagedObject, by relationship: Relationship) -> Bool {
    if case .object(let box) = values[relationship.slot] { return box.reference == other.reference }
    return false
  }

  /// Takes over the values of a row that was changed in the store. Pending changes stay on top of them. An object that
  /// is deleted here keeps none, because its delete rules must find the objects that refer to it by now.
  func rebase(onto row: Row) {
    version = row.version
    unheard.isUncertain = true
    if state == .deleted {
      for property in entity.properties where !property.isTransient {
        showSaved(row.values[property.slot], at: property.slot)
        if case .object(let box) = row.values[property.slot] { context.pending.noteHolder(self, of: box.reference) }
      }
      return
    }
    for property in entity.properties where !property.isTransient {
      let slot = property.slot
      let present = row.values[slot]
      if let saved = committed[slot] {
        if saved.isIdentical(to: present) { continue }
        noteSaved(present, at: slot)
        if case .object(let box) = present { context.pending.noteHolder(self, of: box.reference) }
        if state == .saved { context.touch(self, at: slot, from: values[slot]) }
      } else {
        let old = values[slot]
        if old.isIdentical(to: present) { continue }
        context.undoManager?.rebase(self, at: slot, from: old, to: present)
        show(present, at: slot)
        if state == .saved { context.touch(self, at: slot, from: old) }
      }
    }
  }
}
