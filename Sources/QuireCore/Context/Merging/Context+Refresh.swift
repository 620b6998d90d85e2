/// What of the store a changed object takes over when it is refreshed.
private struct NewerValues {
  let row: Row
  /// What the store says of to-many relationships with pending changes.
  let members: [(relationship: Relationship, present: [ObjectReference])]
}

extension Context {
  /// Makes an object show its stored values. With `merges` pending changes stay on top of them, and the next save
  /// writes these without a conflict. Otherwise they are taken back, on both sides of relationships, and the object is
  /// a fault.
  func refresh(_ object: ManagedObject, merges: Bool) throws(Failure) {
    try checkMayChange()
    try object.checkBelongs(to: self)
    try object.checkReadable()
    try moveToNewest()
    if object.state == .gone {
      throw Failure(.notFound, "The row of \(object.summary) is no longer in the store.", about: .object(object))
    }
    noteNewValues()
    if merges {
      if object.state == .saved { try refresh([object], readsClean: true) }
    } else if object.state == .saved {
      try discardChanges(of: object)
    } else {
      let why = object.state == .inserted ? "was never saved" : "was deleted"
      throw Failure(
        .invalidState, "\(object.summary) \(why), so there are no saved values to go back to. Roll the context back.",
        about: .object(object))
    }
    try throwHookFailure()
  }

  /// Refreshes all objects that the context has, keeping what was changed. Those without changes become faults.
  func refreshAll() throws(Failure) {
    try checkMayChange()
    try moveToNewest()
    noteNewValues()
    try refresh(registeredObjects.filter { $0.state == .saved }, readsClean: false)
    try throwHookFailure()
  }

  /// Drops everything pending, notifies observers of that, and forgets all objects, so that whatever is asked for is
  /// read anew. Changes that observers make during that notification stay.
  func reset() throws(Failure) {
    try checkMayReset()
    var failure: Failure?
    do throws(Failure) { try rollback() } catch {
      if error.kind != .function { throw error }
      failure = error
    }
    try moveToNewest()
    pageAhead = PageAhead()
    forgetRegistered()
    if let failure { throw failure }
    try throwHookFailure()
  }

  /// Has the whole context show what is newest: its objects and lists never show the states of several commits.
  func moveToNewest() throws(Failure) {
    if activity.isDisjoint(with: [.notifying, .askingHandler]) { try mergeInbox() }
  }

  private func refresh(_ objects: [ManagedObject], readsClean: Bool) throws(Failure) {
    var wanted: [ManagedObject] = []
    for object in objects {
      if object.isFault ? false : readsClean || object.mustBeRead { wanted.append(object) }
    }
    // Everything is read before the first object changes.
    let newer = try newerValues(of: wanted)
    let partners = try partners(
      of: wanted.compactMap { object in newer[ObjectIdentifier(object)].map { (object, $0.row) } })
    var refreshed: [ManagedObject] = [], clean: [ManagedObject] = []
    for object in objects {
      object.fetched = [:]
      if let newer = newer[ObjectIdentifier(object)] {
        undoManager?.forgetUnchanged(of: object)
        object.takeOver(newer)
        refreshed.append(object)
      } else {
        clean.append(object)
      }
    }
    turnIntoFaults(clean, if: { $0.state == .saved && ($0.isFault || !$0.isUpdated) }) { object in
      undoManager?.forgetUnchanged(of: object)
      noteTargets(of: object)
      object.forgetValues()
      touch(object)
    }
    // Those that are faults now no longer say that they are no members.
    for object in refreshed { object.rebaseMembers(onto: newer[ObjectIdentifier(object)]) }
    agreeWithPartners(refreshed, partners)
    // It may have been read since lists last looked, so that nothing of it differs now.
    if readsClean { for object in refreshed where object.state == .saved { touch(object) } }
    runHooks(.refresh, refreshed)
    guard readsClean, let object = wanted.first, newer.isEmpty else { return }
    if !object.isUpdated { markGone(object) }
    throw Failure(.notFound, "The row of \(object.summary) is no longer in the store.", about: .object(object))
  }

  /// What others have made of one-to-one relationships that were changed here is not to be undone.
  private func agreeWithPartners(_ refreshed: [ManagedObject], _ partners: [Row]) {
    let isPaused = undoManager?.isPaused ?? false
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = isPaused }
    let held = partners.map { object(for: $0) }
    for object in refreshed { object.agreeWithPartners() }
    withExtendedLifetime(held) {}
  }

  private func newerValues(of objects: [ManagedObject]) throws(Failure) -> [ObjectIdentifier: NewerValues] {
    var newer: [ObjectIdentifier: NewerValues] = [:]
    for group in Dictionary(grouping: objects, by: \.entity.rootNumber).values {
      guard let first = group.first else { continue }
      for row in try source.rows(root: first.entity.root, ids: group.map(\.id)) {
        guard let object = registeredObject(ObjectReference(root: row.entity.rootNumber, id: row.id)) else { continue }
        var members: [(relationship: Relationship, present: [ObjectReference])] = []
        for relationship in object.entity.relationships
        where object.toMany[relationship.slot]?.isChanged == true && !relationship.isTransient {
          let root = relationship.destination.rootNumber
          let present = try source.members(of: relationship, owner: object.id)
          members.append((relationship, present.map { ObjectReference(root: root, id: $0.id) }))
        }
        newer[ObjectIdentifier(object)] = NewerValues(row: row, members: members)
      }
    }
    return newer
  }

  private func discardChanges(of object: ManagedObject) throws(Failure) {
    if object.isUpdated {
      var image = ObjectImage(object: object)
      image.values = object.committed
      for (slot, members) in object.toMany where members.isChanged { image.members[slot] = members.saved }
      try RestoreSession([image], by: .undo, in: self).run()
    }
    if !object.isLive { return }
    // What could not be taken back, because it relates to objects that are deleted here, stays a change.
    let lost = object.committed.filter { slot, saved in
      guard let relationship = object.entity.properties[slot] as? Relationship, !relationship.keepsDeleted,
        case .object(let box) = saved
      else { return false }
      return registeredObject(box.reference)?.state == .deleted
    }
    let reduced = object.toMany.filter {
      (object.entity.properties[$0.key] as? Relationship).map(object.isStored) == true && $0.value.isChanged
    }
    undoManager?.forgetUnchanged(of: object)
    turnIntoFaults([object], if: \.isLive) { object in
      noteTargets(of: object)
      object.dropValues()
      touch(object, at: 0)
      touch(object)
    }
    if lost.isEmpty && reduced.isEmpty || !object.isLive { return }
    try object.fulfil()
    // Undo has noted this already, as far as it was a change.
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = false }
    for slot in lost.keys { object.write(.nil, at: slot) }
    for (slot, members) in reduced {
      guard let relationship = object.entity.properties[slot] as? Relationship else { continue }
      object.toMany[slot] = members
      object.rebaseMembers(of: relationship, onto: try object.storedMembers(of: relationship))
      touch(object, at: slot)
    }
  }
}

extension ManagedObject {
  /// Whether a refresh would lose something if it made a fault of it.
  fileprivate var mustBeRead: Bool { isUpdated || entity.properties.contains(where: hasTransientValue) }

  private func hasTransientValue(_ property: Property) -> Bool {
    if !property.isTransient { return false }
    if (property as? Relationship)?.isToMany == true { return toMany[property.slot]?.members.isEmpty == false }
    return !values[property.slot].isIdentical(to: (property as? Attribute)?.defaultValue ?? .nil)
  }

  fileprivate func takeOver(_ newer: NewerValues) {
    for (relationship, _) in newer.members {
      if relationship.followsFromInverse { toMany[relationship.slot] = nil }
      context.touch(self, at: relationship.slot)
    }
    rebaseMembers(onto: newer)
    refresh(with: newer.row, settles: true)
  }

  fileprivate func rebaseMembers(onto newer: NewerValues?) {
    for (relationship, present) in newer?.members ?? [] where !relationship.followsFromInverse {
      rebaseMembers(of: relationship, onto: present)
    }
  }

  /// Its context was reset.
  func forget() {
    state = .forgotten
    dropValues()
  }
}
