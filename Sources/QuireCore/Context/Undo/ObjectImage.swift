/// What one object was before a group of changes, as far as the group changed it.
struct ObjectImage {
  let object: ManagedObject
  /// Whether it was there; nil when the group did not have it come or go. One that the group deleted is kept whole.
  var wasLive: Bool?
  /// Attributes and to-one relationships, by slot.
  var values: [Int: Value] = [:]
  /// To-many relationships that do not follow from their inverse, by slot.
  var members: [Int: [ObjectReference]] = [:]
  /// What the group had made of them at its end: what others have added or removed since is not to be undone.
  var latest: [Int: [ObjectReference]] = [:]

  /// Forgets what is as it was, besides what refers to objects that are not there and may come back.
  mutating func dropUnchanged() {
    let object = object
    let mayBeLive = object.context.mayBeLive
    values = values.filter { slot, value in
      if case .object(let box) = value, !mayBeLive(box.reference),
        (object.entity.properties[slot] as? Relationship)?.keepsDeleted != true
      {
        return true
      }
      return !object.values.indices.contains(slot) || !object.values[slot].isIdentical(to: value)
    }
    members = members.filter { slot, members in
      object.toMany[slot]?.members != members || !members.allSatisfy(mayBeLive)
    }
  }
}
