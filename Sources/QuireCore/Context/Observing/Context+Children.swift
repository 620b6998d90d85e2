/// What the children of a context learn of it, as contexts of a store learn what others save.
extension Context {
  /// Files the changes that observers are being notified of, for the children to merge. The child that has just saved a
  /// change receives the part that it does not show itself. The children may have read changes that were taken back
  /// before they were reported.
  func forwardToChildren(_ batch: [ObjectChange], takenBack: [ManagedObject]) {
    let children = announcer.children
    if children.isEmpty { return }
    let ownersLosingMembers = ownersLosingMembers(by: batch)
    for child in children {
      var change = StoreChange()
      var membershipChanges = ownersLosingMembers
      for each in batch {
        let own = child === announcer.savingChild ? child.registeredObject(each.object.reference) : nil
        if !each.object.isLive {
          change.deleted.append(each.object.identifier)
        } else if own?.showsValues(of: each.object) != true {
          change.updated.append(each.object.identifier)
        }
        each.addMembershipChanges(to: &membershipChanges, shownBy: own)
      }
      for object in takenBack where (registeredObject(object.reference) ?? object) === object {
        if !object.isLive {
          change.deleted.append(object.identifier)
        } else if child.registeredObject(object.reference)?.isFault == false {
          change.updated.append(object.identifier)
        }
      }
      change.membershipChanges = membershipChanges.all
      child.inbox.post(change)
    }
  }

  /// The owners that lose members by deletions in relationships without inverse, where no delete rule leads to them.
  private func ownersLosingMembers(by batch: [ObjectChange]) -> MembershipChanges {
    var membershipChanges = MembershipChanges()
    let gone = batch.filter { !$0.object.isLive }.map(\.object)
    if gone.isEmpty { return membershipChanges }
    for relationship in model.entities.flatMap(\.ownRelationships)
    where relationship.isToMany && relationship.inverse == nil && !relationship.isTransient {
      let members = gone.filter { $0.entity.isKind(of: relationship.destination) }
      if members.isEmpty { continue }
      // Where the store cannot be asked now, lists of the children stay as they are.
      let owners = try? owners(of: members, through: relationship, from: relationship.entity)
      for owner in owners ?? [] { membershipChanges.add(relationship, owner.id) }
    }
    return membershipChanges
  }

  /// Files what others have saved. What this context has deleted, its children know to be deleted.
  func forwardToChildren(of change: StoreChange) {
    let children = announcer.children
    if children.isEmpty { return }
    func isHere(_ row: RowIdentifier) -> Bool {
      guard let entity = model.entity(numbered: Int(row.entity)) else { return true }
      return registeredObject(ObjectReference(root: entity.rootNumber, id: row.id))?.state != .deleted
    }
    var change = change
    change.inserted.removeAll { !isHere($0) }
    change.updated.removeAll { !isHere($0) }
    change.returned.removeAll { !isHere($0) }
    for child in children { child.inbox.post(change) }
  }
}

extension ObjectChange {
  /// Adds the owners of to-many relationships that have other members since. From the to-many side that is the object
  /// itself. From the to-one side, read or not, they are the objects that it refers to and those that it referred to
  /// before.
  fileprivate func addMembershipChanges(
    to membershipChanges: inout Context.MembershipChanges, shownBy own: ManagedObject?
  ) {
    for relationship in object.entity.relationships where properties.contains(relationship) {
      if relationship.isToMany {
        if object.isLive, own?.showsMembers(of: object, in: relationship, isWhole: properties == .all) != true {
          membershipChanges.add(relationship, object.id)
        }
        continue
      }
      guard let inverse = relationship.inverse, inverse.isToMany, own?.showsValues(of: object) != true else { continue }
      var owners = formerTargets.filter { $0.slot == relationship.slot }.map(\.target)
      if !object.isFault, case .object(let box) = object.values[relationship.slot] { owners.append(box.reference) }
      for owner in owners { membershipChanges.add(inverse, owner.id) }
    }
  }
}

extension ManagedObject {
  var identifier: RowIdentifier { RowIdentifier(id: id, entity: Int32(entity.number)) }

  /// Whether it has the values of its counterpart in the parent, as saved ones.
  fileprivate func showsValues(of other: ManagedObject) -> Bool {
    if isFault || other.isFault || state != .saved || !committed.isEmpty { return false }
    return entity.properties.allSatisfy { property in
      property.isTransient || values[property.slot].isIdentical(to: other.values[property.slot])
    }
  }

  fileprivate func showsMembers(
    of other: ManagedObject, in relationship: Relationship, isWhole: Bool
  ) -> Bool {
    // Of one that has just come, what was not read of it is what others say.
    if other.state == .inserted, other.toMany[relationship.slot] == nil, isWhole { return true }
    guard let own = toMany[relationship.slot], let theirs = other.toMany[relationship.slot], !own.isChanged else {
      return false
    }
    return relationship.isOrdered ? own.members == theirs.members : Set(own.members) == Set(theirs.members)
  }
}
