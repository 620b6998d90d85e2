/// What a context needs to take over a change of the store, read while the change could still be taken back.
struct PreparedMerge {
  fileprivate let change: StoreChange
  /// Updated rows, and the objects that have values of them here: held, because any thread may release a handle, and
  /// what is registered under the id then is another object without values.
  fileprivate let rows: [(object: ManagedObject, row: Row)]
  /// Objects that are gone here while there are rows of them again.
  fileprivate let readmitted: [ObjectReference]
  /// Rows to which these refer in a one-to-one relationship that was changed here, unless they have been read already.
  fileprivate let partners: [Row]
  /// The owners of `change.membershipChanges` that are registered or that somebody follows.
  fileprivate let membershipChanges: [(relationship: Relationship, owners: [ManagedObject])]
  /// Those of them that were read for that, and have the new values already.
  fileprivate let read: Set<ObjectIdentifier>
  /// What the store now says of to-many relationships with pending changes.
  fileprivate let members: [(object: ManagedObject, relationship: Relationship, present: [ObjectReference])]
}

extension Context {
  /// Takes over what other contexts of the store have saved since the last time, and tells observers. Pending changes
  /// stay, on top of the new values. What fails is tried again the next time.
  func merge() throws(Failure) {
    try checkMayChange()
    try process()
    try mergeInbox()
  }

  /// The same without telling what has happened here.
  func mergeInbox() throws(Failure) {
    guard let change = inbox.take() else { return }
    let refreshed: [ManagedObject]
    do throws(Failure) {
      refreshed = merge(
        try store.withConnection { connection throws(Failure) in
          try connection.snapshot { () throws(Failure) in try prepareMerge(of: change) }
        })
    } catch {
      inbox.post(change)
      throw error
    }
    clock.noteMerge()
    runHooks(.refresh, refreshed)
    // What others have made refer to objects that are deleted here is for the delete rules, and not to be undone.
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = false }
    try propagateDeletes()
    undoManager?.isPaused = false
    try process()
    try throwHookFailure()
  }

  /// For what shows the state of the store. Within an observer the running bracket goes on first.
  func mergeIfAutomatic() throws(Failure) {
    try source.mergeIfAutomatic()
    if mergesAutomatically, activity.isDisjoint(with: [.notifying, .askingHandler]), !inbox.isEmpty { try merge() }
  }

  /// Reads what `merge` needs, so that nothing is left that can fail once the change is in the file.
  func prepareMerge(of change: StoreChange) throws(Failure) -> PreparedMerge {
    let (known, returned) = try withoutRowsThatReturned(change)
    var change = known
    var wanted: [Int: [Int64: ManagedObject]] = [:]
    for row in change.updated {
      guard let object = registeredObject(row), !object.isFault else { continue }
      wanted[object.entity.rootNumber, default: [:]][row.id] = object
    }
    // Two may insert a row again by undoing its deletion.
    for row in change.inserted {
      guard let object = registeredObject(row), object.state == .inserted else { continue }
      wanted[object.entity.rootNumber, default: [:]][row.id] = object
    }
    var rows: [(object: ManagedObject, row: Row)] = []
    for (root, objects) in wanted {
      guard let entity = model.entity(numbered: root) else { continue }
      let present = try source.rows(root: entity, ids: objects.keys.sorted())
      for row in present {
        if let object = objects[row.id] { rows.append((object, row)) }
      }
      // A parent may have deleted since what it tells that others have changed.
      let lost = Set(objects.keys).subtracting(present.lazy.map(\.id))
      for id in lost.sorted() {
        if let object = objects[id], object.state != .inserted { change.deleted.append(object.identifier) }
      }
    }
    let gone = Set(change.deleted)
    change.updated.removeAll(where: gone.contains)
    let partners = try partners(of: rows)
    var membershipChanges: [(relationship: Relationship, owners: [ManagedObject])] = []
    var members: [(object: ManagedObject, relationship: Relationship, present: [ObjectReference])] = []
    var read: Set<ObjectIdentifier> = []
    // They return as the objects that they were: until that is done there must be no others.
    let readmitted = try readmitted(by: change), returning = Set(readmitted)
    let observers = announcer.observers
    let reached = relationships(with: returned) + relationships(reaching: change)
    for (relationship, owners) in change.membershipChanges + reached {
      let isFollowed = observers.contains { $0.follows(relationship.entity) }
      var objects: [ManagedObject] = []
      for owner in owners {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner.id)
        var found = registeredObject(reference)
        if found == nil, isFollowed, !returning.contains(reference) {
          found = try self.object(reference, of: relationship.entity)
          if let found { read.insert(ObjectIdentifier(found)) }
        }
        guard let object = found else { continue }
        objects.append(object)
        guard object.toMany[relationship.slot]?.isChanged == true, !relationship.followsFromInverse else { continue }
        let root = relationship.destination.rootNumber
        let present = try source.members(of: relationship, owner: owner.id).map {
          ObjectReference(root: root, id: $0.id)
        }
        members.append((object, relationship, present))
      }
      membershipChanges.append((relationship, objects))
    }
    return PreparedMerge(
      change: change, rows: rows, readmitted: readmitted, partners: partners, membershipChanges: membershipChanges,
      read: read, members: members)
  }

  /// The members that were read of rows, and with rows, that were deleted and inserted again, which need not be where
  /// the old ones were.
  private func relationships(with returned: Set<ObjectReference>) -> [(Relationship, [RowIdentifier])] {
    if returned.isEmpty { return [] }
    var found: [(Relationship, [RowIdentifier])] = []
    for object in registeredObjects {
      let row = RowIdentifier(id: object.id, entity: Int32(object.entity.number))
      for (slot, members) in object.toMany where returned.contains(object.reference) || members.mentions(returned) {
        if let relationship = object.entity.properties[slot] as? Relationship { found.append((relationship, [row])) }
      }
    }
    return found
  }

  /// The members that were read where a parent may have some again that it had deleted: of relationships without
  /// inverse nobody is told that.
  private func relationships(reaching change: StoreChange) -> [(Relationship, [RowIdentifier])] {
    if !source.holdsObjects { return [] }
    var roots: Set<Int> = []
    for row in change.updated where registeredObject(row)?.isLive != true {
      if let reference = reference(row) { roots.insert(reference.root) }
    }
    if roots.isEmpty { return [] }
    var found: [(Relationship, [RowIdentifier])] = []
    for object in registeredObjects {
      for slot in object.toMany.keys {
        guard let relationship = object.entity.properties[slot] as? Relationship, relationship.inverse == nil,
          roots.contains(relationship.destination.rootNumber)
        else { continue }
        found.append((relationship, [object.identifier]))
      }
    }
    return found
  }

  private func readmitted(by change: StoreChange) throws(Failure) -> [ObjectReference] {
    var ids: [Int: [Int64]] = [:]
    for row in change.inserted + change.updated {
      if let reference = reference(row), table.goneObject(reference) != nil {
        ids[reference.root, default: []].append(row.id)
      }
    }
    var found: [ObjectReference] = []
    for (root, ids) in ids {
      guard let entity = model.entity(numbered: root) else { continue }
      found += try source.usedIDs(ids, root: entity).map { ObjectReference(root: root, id: $0) }
    }
    return found
  }

  /// The rows that have to let go of objects which are changed here to be related one to one to others.
  func partners(of rows: [(object: ManagedObject, row: Row)]) throws(Failure) -> [Row] {
    var wanted: Set<ObjectReference> = []
    for (object, row) in rows {
      for relationship in object.entity.relationships where relationship.isOneToOne {
        guard object.committed[relationship.slot] != nil, case .object(let box) = row.values[relationship.slot] else {
          continue
        }
        wanted.insert(box.reference)
      }
    }
    return wanted.isEmpty ? [] : Array(try storedRows(wanted).values)
  }

  /// A row that was deleted may have been inserted again since, under its id, by whoever had changes of it. Lists show
  /// rows of which nobody holds the object.
  private func withoutRowsThatReturned(
    _ change: StoreChange
  ) throws(Failure) -> (StoreChange, returned: Set<ObjectReference>) {
    var returned: Set<ObjectReference> = []
    for row in change.returned {
      if let reference = reference(row) { returned.insert(reference) }
    }
    var change = change
    // One that is to be inserted here, because its deletion was undone, needs no row.
    change.deleted.removeAll { registeredObject($0)?.state == .inserted }
    var candidates: [Int: [RowIdentifier]] = [:]
    for row in change.deleted {
      if let reference = reference(row) { candidates[reference.root, default: []].append(row) }
    }
    var present: Set<RowIdentifier> = []
    for (root, rows) in candidates {
      guard let entity = model.entity(numbered: root) else { continue }
      let stored = try source.usedIDs(rows.map(\.id), root: entity)
      for row in rows where stored.contains(row.id) {
        present.insert(row)
        returned.insert(ObjectReference(root: root, id: row.id))
      }
    }
    if present.isEmpty { return (change, returned) }
    change.updated += change.deleted.filter(present.contains)
    change.deleted.removeAll(where: present.contains)
    return (change, returned)
  }

  /// Takes over a change of the store: objects show the new values, but keep what was changed here, and observers are
  /// told when changes are next processed. Gives the objects that have read rows anew.
  @discardableResult
  func merge(_ prepared: PreparedMerge) -> [ManagedObject] {
    clock.noteNewValues()
    undoManager?.isPaused = true
    defer { undoManager?.isPaused = false }
    let change = prepared.change
    forwardToChildren(of: change)
    let observers = announcer.observers
    var followed: [Int32: Bool] = [:]
    func isFollowed(_ row: RowIdentifier, _ entity: Entity) -> Bool {
      if let known = followed[row.entity] { return known }
      let answer = observers.contains { $0.follows(entity) }
      followed[row.entity] = answer
      return answer
    }
    /// The object of a row if it is registered, or if somebody has to be told of it.
    func object(_ row: RowIdentifier) -> ManagedObject? {
      if let object = registeredObject(row) { return object }
      guard let entity = model.entity(numbered: Int(row.entity)), isFollowed(row, entity) else { return nil }
      return self.object(ObjectReference(root: entity.rootNumber, id: row.id), entity: entity)
    }

    for row in change.deleted {
      if let object = object(row) { markGone(object) }
    }
    forgetMembers(change.deleted)
    for reference in prepared.readmitted { table.readmit(reference) }
    for row in change.inserted {
      guard let object = object(row) else { continue }
      touchLife(of: object, isLive: false)
      // A list that has read it ahead has to let go of it should it not stay.
      touch(object)
    }
    var refreshed: [ManagedObject] = []
    let partners = prepared.partners.map { self.object(for: $0) }
    for (object, row) in prepared.rows {
      if object.state == .inserted {
        object.becomeStored(as: row)
        continue
      }
      if object.isFault {
        object.fulfil(with: row)
        continue
      }
      let version = object.version, time = clock.change
      let isAhead = clock.isAhead(since: object.aheadSince)
      object.rebase(onto: row)
      object.fetched = [:]
      if object.state == .saved { refreshed.append(object) }
      if object.state == .deleted { object.deleteAgain() }
      // Read since it was changed: what became different then observers do not know, nor what of it they knew before.
      if object.state == .saved, isAhead || version == row.version && time == clock.change { touch(object) }
    }
    for (object, _) in prepared.rows { object.agreeWithPartners() }
    withExtendedLifetime(partners) {}
    for row in change.updated {
      guard let object = object(row), object.state == .saved,
        object.isFault || prepared.read.contains(ObjectIdentifier(object))
      else { continue }
      object.unread?.forgetValues()
      touch(object)
    }
    for (object, relationship, present) in prepared.members { object.rebaseMembers(of: relationship, onto: present) }
    for (relationship, owners) in prepared.membershipChanges {
      for object in owners where object.state == .deleted { object.deleteAgain() }
      for object in owners where object.state == .inserted && relationship.followsFromInverse {
        object.toMany[relationship.slot] = nil
      }
      for object in owners where object.state == .saved {
        let isKept = object.toMany[relationship.slot]?.isChanged == true && !relationship.followsFromInverse
        if !isKept { object.toMany[relationship.slot] = nil }
        touch(object, at: relationship.slot)
      }
    }
    return refreshed
  }

  private func registeredObject(_ row: RowIdentifier) -> ManagedObject? { reference(row).flatMap(registeredObject) }

  private func reference(_ row: RowIdentifier) -> ObjectReference? {
    model.entity(numbered: Int(row.entity)).map { ObjectReference(root: $0.rootNumber, id: row.id) }
  }

  /// Has objects let go of rows that are gone: to-many members that were read, and what was changed here to refer to
  /// them, which could not be saved.
  private func forgetMembers(_ rows: ContiguousArray<RowIdentifier>) {
    var gone: Set<ObjectReference> = []
    for row in rows {
      if let entity = model.entity(numbered: Int(row.entity)) {
        gone.insert(ObjectReference(root: entity.rootNumber, id: row.id))
      }
    }
    forgetMembers(gone)
  }

  func forgetMembers(_ gone: Set<ObjectReference>) {
    if gone.isEmpty { return }
    for object in registeredObjects {
      for (slot, members) in object.toMany where members.mentions(gone) {
        object.toMany[slot]?.forget(gone)
        touch(object, at: slot)
      }
    }
    for object in pending.insertedAndUpdated {
      for relationship in object.entity.relationships where !relationship.isToMany && !object.isFault {
        let slot = relationship.slot
        guard case .object(let box) = object.values[slot], gone.contains(box.reference),
          object.state == .inserted || object.committed[slot] != nil
        else { continue }
        object.write(.nil, at: slot)
      }
    }
  }
}

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
      for member in context.pending.holders(of: reference)
      where member.entity.isKind(of: relationship.destination) && member.isLive {
        switch member.toMany[inverse.slot]?.pendingClaim(on: reference) {
        case true?: toMany[relationship.slot]?.add(member.reference)
        case false?: toMany[relationship.slot]?.remove(member.reference)
        case nil: break
        }
      }
      return
    }
    func holdsSelf(_ member: ManagedObject) -> Bool {
      if case .object(let box) = member.values[inverse.slot] { return box.reference == reference }
      return false
    }
    for other in toMany[relationship.slot]?.members ?? [] {
      guard let member = context.registeredObject(other), !member.isFault, member.isLive, !holdsSelf(member) else {
        continue
      }
      if member.committed[inverse.slot] == nil {
        // It was read before others had it refer to this one: until that is merged, both sides say no.
        toMany[relationship.slot]?.forget([other])
      } else {
        toMany[relationship.slot]?.remove(other)
      }
    }
    for other in toMany[relationship.slot]?.saved ?? [] {
      let member = context.registeredObject(other)
      if member.map({ $0.isLive && ($0.isFault || holdsSelf($0)) }) ?? true {
        toMany[relationship.slot]?.takeBack(other)
      }
    }
    for member in context.pending.holders(of: reference)
    where member.entity.isKind(of: relationship.destination) && !member.isFault && member.isLive && holdsSelf(member) {
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

  /// Takes over the values of a row that was changed in the store. What was changed here stays, on top of them; of an
  /// object that is deleted here nothing does, as its delete rules are to find who refers to it by now.
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
