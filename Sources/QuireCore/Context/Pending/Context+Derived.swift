/// Attributes that the store calculates while it saves.
extension Context {
  /// Makes objects show the values that a save of this context has calculated. Rows without an object here are reported
  /// to the observers that follow them.
  func takeOver(_ derived: [DerivedValue]) {
    if derived.isEmpty { return }
    noteNewValues()
    // A child may have objects of rows that have none here.
    let change = StoreChange(updated: ContiguousArray(Set(derived.map(\.row))))
    for child in announcer.children { child.inbox.post(change) }
    let observers = announcer.observers
    var followed: [Int32: Bool] = [:]
    for change in derived {
      guard let entity = model.entity(numbered: Int(change.row.entity)) else { continue }
      let reference = ObjectReference(root: entity.rootNumber, id: change.row.id)
      if let object = registeredObject(reference) {
        if object.isFault {
          object.unread?.forgetValues()
          touch(object, at: change.slot)
        } else {
          let old = object.values[change.slot]
          object.show(change.value, at: change.slot)
          if object.state == .saved { touch(object, at: change.slot, from: old) }
        }
        continue
      }
      let isFollowed = followed[change.row.entity] ?? observers.contains { $0.follows(entity) }
      followed[change.row.entity] = isFollowed
      if isFollowed { touch(object(reference, entity: entity), at: change.slot) }
    }
  }
}

extension Property {
  /// For all that would set it.
  func checkNotDerived() throws(Failure) {
    if isDerived {
      throw Failure(
        .invalidArgument,
        "'\(qualifiedName)' is derived: the store calculates it with each save, and nobody sets it. "
          + "Change what it is derived from.", about: .property(self))
    }
  }
}
