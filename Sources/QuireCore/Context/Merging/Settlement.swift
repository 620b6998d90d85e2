/// An object that has taken over its row, and whose relationships others still have to agree with.
struct Settlement {
  let object: ManagedObject
  let policy: MergePolicy
  /// By slot of the to-one relationship: all that it held.
  let formerTargets: [Int: Set<ObjectReference>]
  var isRevived = false

  private var context: Context { object.context }

  /// To be called when all objects that are settled together have taken over their rows. It reads partners anew, and
  /// the former values of a partner decide about its own policy. The objects in `waiting` are settled later, and need
  /// to know then which members they had.
  func finish(before waiting: Set<ObjectIdentifier> = []) throws(Failure) {
    for relationship in object.entity.relationships where !relationship.isTransient {
      if relationship.isToMany {
        try settleMembers(of: relationship, before: waiting)
      } else {
        let former = formerTargets[relationship.slot] ?? []
        for reference in former.sorted(by: { $0.id < $1.id }) {
          try object.settleInverse(of: relationship, at: reference)
        }
      }
    }
    if isRevived { try regainMembers() }
  }

  /// Brings members that were read or changed here to what the store has by now.
  private func settleMembers(
    of relationship: Relationship, before waiting: Set<ObjectIdentifier>
  ) throws(Failure) {
    let slot = relationship.slot
    guard let former = object.toMany[slot].map({ Set($0.members) }) else { return }
    try takeMembers(of: relationship)
    context.touch(object, at: slot)
    guard relationship.isManyToMany, let inverse = relationship.inverse else { return }
    // The store has one among them that the same save deletes.
    if context.hasDeleted(among: object.toMany[slot]?.members ?? []) { context.pending.noteOverlaid(object) }
    if policy == .overwrite { try forgetGoneMembers(of: relationship) }
    guard let members = object.toMany[slot] else { return }
    let now = Set(members.members)
    let pending = Set(members.addedMembers + members.removedMembers)
    for reference in former.symmetricDifference(now).union(pending).sorted(by: { $0.id < $1.id }) {
      guard let member = context.registeredObject(reference), member.isLive, member !== object else { continue }
      let isOther = member.isUpdated || waiting.contains(ObjectIdentifier(member))
      try settle(
        member, inverse, holds: now.contains(reference), isPending: pending.contains(reference), isOther: isOther)
    }
  }

  private func takeMembers(of relationship: Relationship) throws(Failure) {
    let slot = relationship.slot
    let present = try object.storedMembers(of: relationship)
    switch policy {
    case .overwrite where relationship.isManyToMany || relationship.inverse == nil:
      object.overwriteMembers(at: slot, present)
    case .rollback where relationship.isManyToMany:
      // The other sides follow in `settleMembers`.
      object.toMany[slot] = ToManyMembers(present, saved: present, isOrdered: relationship.isOrdered)
    case .rollback: object.take(present, asSavedIn: relationship)
    default:
      let isReordered = relationship.isOrdered && present.isReordered(from: object.toMany[slot]?.saved ?? [])
      object.rebaseMembers(of: relationship, onto: present)
      if isReordered, policy == .storeWins { object.reorder(present, in: relationship) }
    }
  }

  /// Has the other side of a pair agree. With `isOther` that is an object that has changes of its own, or whose turn is
  /// yet to come.
  private func settle(
    _ member: ManagedObject, _ inverse: Relationship, holds isHeld: Bool, isPending: Bool, isOther: Bool
  ) throws(Failure) {
    guard let theirs = member.toMany[inverse.slot] else { return }
    if !theirs.isChanged, !isOther, !isPending {
      // It changed nothing there and reads again what is stored.
      member.toMany[inverse.slot] = nil
      context.touch(member, at: inverse.slot)
      return
    }
    if !isOther, member.state == .saved {
      // It is only drawn in: nothing but this one member of it may change.
      try context.reread(CollectionOfOne(member.reference))
      member.rebaseMembers(of: inverse, onto: try member.storedMembers(of: inverse))
    }
    member.setMember(object, of: inverse, isHeld)
  }

  /// Members that are to be added again, although nothing of them was changed here, may have been deleted since.
  private func forgetGoneMembers(of relationship: Relationship) throws(Failure) {
    let added = object.toMany[relationship.slot]?.addedMembers ?? []
    let clean = added.filter { reference in
      guard let member = context.registeredObject(reference) else { return true }
      return member.state == .saved && !member.isUpdated
    }
    if clean.isEmpty { return }
    let rows = try context.storedRows(clean)
    object.toMany[relationship.slot]?.forget(Set(clean.filter { rows[$0] == nil }))
  }

  /// Objects that lost this one when it was deleted take it back.
  private func regainMembers() throws(Failure) {
    for relationship in object.entity.relationships where relationship.isManyToMany && !relationship.isTransient {
      guard let inverse = relationship.inverse else { continue }
      for reference in try object.storedMembers(of: relationship) {
        guard let member = context.registeredObject(reference), member.isLive,
          member.toMany[inverse.slot]?.isChanged == true
        else { continue }
        member.setMember(object, of: inverse, true)
      }
    }
  }
}
