/// One merge under way: a context takes over what others have saved, or what a batch request has written.
///
/// `prepare` reads all that is needed, while the change could still be taken back. Afterwards `run` changes objects,
/// and nothing is left that can fail. What was changed here stays, on top of the new values.
final class MergeSession {
  private let context: Context
  private var change: StoreChange
  /// Those that learn of it by changes of objects.
  private(set) var observers: [any ContextObserver] = []
  /// What was worked out for the others.
  private let prepared: PreparedMerge?
  /// Objects that are to be told of, though no caller holds them.
  private var held: [ManagedObject] = []
  /// Whether an observer has to be told of rows of an entity whose objects are not registered, by its number.
  private var followed: [Int32: Bool] = [:]

  /// Rows without values here that are gone, or of another entity.
  private var vanished: ContiguousArray<RowIdentifier> = []
  /// Rows that were deleted and are there again.
  private var returned: Set<ObjectReference> = []
  /// Updated rows, and the objects that have values of them here. The objects are held, because any thread may release
  /// a handle. The object registered under the id would then be another one without values.
  private var rows: [(object: ManagedObject, row: Row)] = []
  /// Rows to which these refer in a one-to-one relationship that was changed here, unless they have been read already.
  private var partners: [Row] = []
  /// Objects that are gone here while there are rows of them again.
  private var readmitted: [ObjectReference] = []
  /// The owners of `change.membershipChanges` that are registered or that an observer follows.
  private var membershipChanges: [(relationship: Relationship, owners: [ManagedObject])] = []
  /// Those of them that were read for that, and have the new values already.
  private var read: Set<ObjectIdentifier> = []
  /// What the store now says of to-many relationships with pending changes.
  private var members: [(object: ManagedObject, relationship: Relationship, present: [ObjectReference])] = []

  /// Objects that have read their rows anew.
  private var refreshed: [ManagedObject] = []

  /// Observers to which other programs may have done what nothing tells.
  private(set) var adrift: [any ContextObserver] = []

  /// Of what leaves objects with pending changes as they were read, so that a save finds what is in conflict with them:
  /// the objects that had values when that began. Settling a conflict reads others, at the new moment.
  private let valuedBefore: Set<ObjectReference>?
  /// What was left for a later merge.
  private(set) var left = StoreChange()

  init(of change: StoreChange, in context: Context, valuedBefore: Set<ObjectReference>? = nil) {
    self.change = change
    self.context = context
    self.valuedBefore = valuedBefore
    prepared = nil
  }

  init(of prepared: PreparedMerge, in context: Context) {
    change = prepared.change
    self.context = context
    valuedBefore = nil
    self.prepared = prepared
  }

  func prepare() throws(Failure) {
    findObservers()
    if let prepared { change = partOfObservers(prepared) }
    if change.isUnknown {
      try addAllThatIsKnown()
      adrift = observers
    } else {
      addPossibleOwners()
    }
    if valuedBefore != nil { left = try change.removePending(in: context) }
    try keepReturned()
    change.deleted += vanished
    try readRows()
    partners = try context.partners(of: rows)
    try findReadmitted()
    try readMembershipChanges()
  }

  /// Ends it in the place of `run`: what was read for it is forgotten.
  func abandon() {
    for (_, owners) in membershipChanges {
      for object in owners where read.contains(ObjectIdentifier(object)) && !object.isUpdated { object.forgetValues() }
    }
  }

  /// Observers are told when changes are next processed. Returns the objects that have read rows anew.
  @discardableResult
  func run() -> [ManagedObject] {
    context.noteNewValues()
    let isPaused = context.undoManager?.isPaused ?? false
    context.undoManager?.isPaused = true
    defer { context.undoManager?.isPaused = isPaused }
    context.forwardToChildren(of: prepared?.change ?? change)
    findObservers()
    removeDeleted()
    for reference in readmitted { context.table.readmit(reference) }
    announceInserted()
    let heldPartners = partners.map { context.object(for: $0) }
    for (object, row) in rows { take(row, for: object) }
    for (object, _) in rows { object.agreeWithPartners() }
    withExtendedLifetime(heldPartners) {}
    announceUnread()
    for (object, relationship, present) in members { object.rebaseMembers(of: relationship, onto: present) }
    for (relationship, owners) in membershipChanges { takeOtherMembers(of: relationship, owners) }
    return refreshed
  }
}

// MARK: What was worked out beside the context

extension MergeSession {
  private func findObservers() {
    let others = prepared?.observers.compactMap(\.observer) ?? []
    observers = context.announcer.observers.filter { observer in !others.contains { $0 === observer } }
  }

  /// The part of a large change that objects here, or observers, can have anything to do with.
  private func partOfObservers(_ prepared: PreparedMerge) -> StoreChange {
    // An object whose values were known may have been let go of meanwhile.
    for reference in prepared.left where context.registeredObject(reference) == nil {
      if let entity = prepared.rows.entity(of: reference, context.model) {
        held.append(context.object(reference, entity: entity))
      }
    }
    var part = prepared.rows.change(of: context.table.known)
    let change = prepared.change
    func isFollowed(_ entity: Entity) -> Bool { observers.contains { $0.follows(entity) } }
    func isFollowed(_ row: RowIdentifier) -> Bool {
      context.model.entity(numbered: Int(row.entity)).map { self.isFollowed(row, $0) } ?? false
    }
    func add(_ rows: ContiguousArray<RowIdentifier>, to known: inout ContiguousArray<RowIdentifier>) {
      if Set(rows.lazy.map(\.entity)).contains(where: { isFollowed(RowIdentifier(id: 0, entity: $0)) }) {
        let present = Set(known)
        known += rows.filter { isFollowed($0) && !present.contains($0) }
      }
    }
    if observers.isEmpty { return part }
    add(change.inserted, to: &part.inserted)
    add(change.updated, to: &part.updated)
    add(change.deleted, to: &part.deleted)
    add(change.returned, to: &part.returned)
    part.membershipChanges.removeAll { relationship, _ in isFollowed(relationship.entity) }
    part.membershipChanges += change.membershipChanges.filter { relationship, _ in isFollowed(relationship.entity) }
    return part
  }

  /// The observers of what was worked out tell it with the next notice.
  func handToObservers() {
    for each in prepared?.observers ?? [] { each.hand(reread: rows.map(\.object.reference)) }
  }
}

// MARK: Reading

extension MergeSession {
  /// Each object may have another row, and each relationship that was read other members.
  private func addAllThatIsKnown() throws(Failure) {
    let known = Set(change.updated + change.deleted)
    // A row without values here may be gone, or may have become one of another entity.
    let faults = context.registeredObjects.filter { $0.isFault && $0.state == .saved && $0.id > 0 }
    for (_, objects) in Dictionary(grouping: faults, by: { ObjectIdentifier($0.entity) }) {
      guard let entity = objects.first?.entity else { continue }
      let present = try context.source.usedIDs(objects.map(\.id), of: entity)
      for object in objects where !present.contains(object.id) { vanished.append(object.identifier) }
    }
    for object in context.registeredObjects where object.isSaved && object.id > 0 {
      if !known.contains(object.identifier) { change.updated.append(object.identifier) }
      for slot in object.toMany.keys {
        guard let relationship = object.entity.properties[slot] as? Relationship, !relationship.isTransient else {
          continue
        }
        change.membershipChanges.append((relationship, [object.identifier]))
      }
    }
  }

  /// The objects whose members were read, and the lists that follow members, of rows that other programs have changed.
  private func addPossibleOwners() {
    if change.rootsWithoutOwners.isEmpty { return }
    for object in context.registeredObjects where object.isSaved && object.id > 0 {
      for slot in object.toMany.keys {
        guard let relationship = object.entity.properties[slot] as? Relationship, change.mayBeOther(relationship) else {
          continue
        }
        change.membershipChanges.append((relationship, [object.identifier]))
      }
    }
    let owners = change.entitiesOfPossibleOwners(in: context.model)
    adrift = observers.filter { observer in owners.contains { observer.follows($0) } }
  }

  /// A row that was deleted may have been inserted again since, under its id, by another context that had changes of
  /// it. Lists show rows without an object.
  private func keepReturned() throws(Failure) {
    returned =
      prepared?.rows.returned ?? Set(change.returned.lazy.compactMap { [context] in context.reference(of: $0) })
    // One that is to be inserted here, because its deletion was undone, needs no row.
    change.deleted.removeAll { context.registeredObject($0)?.state == .inserted }
    let present = try storedRows(among: change.deleted)
    if present.isEmpty { return }
    for row in present {
      if let reference = context.reference(of: row) { returned.insert(reference) }
    }
    change.updated += change.deleted.filter(present.contains)
    change.deleted.removeAll(where: present.contains)
  }

  private func storedRows(among rows: ContiguousArray<RowIdentifier>) throws(Failure) -> Set<RowIdentifier> {
    var candidates: [Int: [RowIdentifier]] = [:]
    for row in rows {
      if let reference = context.reference(of: row) { candidates[reference.root, default: []].append(row) }
    }
    var present: Set<RowIdentifier> = []
    for (root, rows) in candidates {
      guard let entity = context.model.entity(numbered: root) else { continue }
      let stored = try context.source.usedIDs(rows.map(\.id), root: entity)
      for row in rows where stored.contains(row.id) { present.insert(row) }
    }
    return present
  }

  private func readRows() throws(Failure) {
    for (root, objects) in changedObjects() {
      guard let entity = context.model.entity(numbered: root) else { continue }
      let present = try context.source.rows(root: entity, ids: objects.keys.sorted())
        .filter { $0.entity === objects[$0.id]?.entity }
      for row in present {
        if let object = objects[row.id] { rows.append((object, row)) }
      }
      // A parent may have deleted objects since that it reports as changed by others.
      let lost = Set(objects.keys).subtracting(present.lazy.map(\.id))
      for id in lost.sorted() {
        if let object = objects[id], object.state != .inserted { change.deleted.append(object.identifier) }
      }
    }
    let gone = Set(change.deleted)
    change.updated.removeAll(where: gone.contains)
  }

  /// Objects that have values of rows which are other ones now, by root and id.
  private func changedObjects() -> [Int: [Int64: ManagedObject]] {
    var changed: [Int: [Int64: ManagedObject]] = [:]
    for row in change.updated {
      guard let object = context.registeredObject(row), !object.isFault else { continue }
      changed[object.entity.rootNumber, default: [:]][row.id] = object
    }
    // Two may insert a row again by undoing its deletion.
    for row in change.inserted {
      guard let object = context.registeredObject(row), object.state == .inserted else { continue }
      changed[object.entity.rootNumber, default: [:]][row.id] = object
    }
    return changed
  }

  private func findReadmitted() throws(Failure) {
    var ids: [Int: [Int64]] = [:]
    for row in change.inserted + change.updated {
      if let reference = context.reference(of: row), context.table.goneObject(reference) != nil {
        ids[reference.root, default: []].append(row.id)
      }
    }
    for (root, ids) in ids {
      guard let entity = context.model.entity(numbered: root) else { continue }
      readmitted += try context.source.usedIDs(ids, root: entity).map { ObjectReference(root: root, id: $0) }
    }
    if change.isUnknown { try findReadmittedAmongAll() }
  }

  /// Any row may be there again.
  private func findReadmittedAmongAll() throws(Failure) {
    let gone = context.table.allGone.filter { $0.id > 0 }
    for (_, objects) in Dictionary(grouping: gone, by: { ObjectIdentifier($0.entity) }) {
      guard let entity = objects.first?.entity else { continue }
      let present = try context.source.usedIDs(objects.map(\.id), of: entity)
      readmitted += objects.filter { $0.entity === entity && present.contains($0.id) }.map(\.reference)
    }
  }

  private func readMembershipChanges() throws(Failure) {
    // They return as the objects that they were: until that is done there must be no others.
    let returning = Set(readmitted)
    let reached = membersOfReturned() + membersReachedByParent()
    for (relationship, owners) in change.membershipChanges + reached {
      let isFollowed = observers.contains { $0.follows(relationship.entity) }
      var objects: [ManagedObject] = []
      for owner in owners {
        let reference = ObjectReference(root: relationship.entity.rootNumber, id: owner.id)
        var found = context.registeredObject(reference)
        if found == nil, isFollowed, !returning.contains(reference) {
          found = try context.object(reference, of: relationship.entity)
          if let found { read.insert(ObjectIdentifier(found)) }
        }
        guard let object = found else { continue }
        objects.append(object)
        if object.toMany[relationship.slot]?.isChanged == true, !relationship.followsFromInverse {
          members.append((object, relationship, try object.storedMembers(of: relationship)))
        }
      }
      membershipChanges.append((relationship, objects))
    }
  }

  /// The members that were read of rows, and with rows, that were deleted and inserted again, which need not be where
  /// the old ones were.
  private func membersOfReturned() -> [(Relationship, [RowIdentifier])] {
    if returned.isEmpty { return [] }
    var found: [(Relationship, [RowIdentifier])] = []
    for object in context.registeredObjects {
      for (slot, members) in object.toMany where returned.contains(object.reference) || members.mentions(returned) {
        guard let relationship = object.entity.properties[slot] as? Relationship else { continue }
        found.append((relationship, [object.identifier]))
      }
    }
    return found
  }

  /// The members that were read where a parent may have some again that it had deleted. For relationships without
  /// inverse no report says so.
  private func membersReachedByParent() -> [(Relationship, [RowIdentifier])] {
    if !context.source.holdsObjects { return [] }
    var roots: Set<Int> = []
    for row in change.updated where context.registeredObject(row)?.isLive != true {
      if let reference = context.reference(of: row) { roots.insert(reference.root) }
    }
    if roots.isEmpty { return [] }
    var found: [(Relationship, [RowIdentifier])] = []
    for object in context.registeredObjects {
      for slot in object.toMany.keys {
        guard let relationship = object.entity.properties[slot] as? Relationship, relationship.inverse == nil,
          roots.contains(relationship.destination.rootNumber)
        else { continue }
        found.append((relationship, [object.identifier]))
      }
    }
    return found
  }
}

// MARK: Changing objects

extension MergeSession {
  private func removeDeleted() {
    for row in change.deleted {
      if let object = object(row) { context.markGone(object) }
    }
    context.forgetMembers(Set(change.deleted.compactMap { context.reference(of: $0) }))
    // Members need not be known themselves.
    if let prepared { context.forgetMembers(prepared.rows.deleted) }
  }

  private func announceInserted() {
    for row in change.inserted {
      guard let object = object(row) else { continue }
      context.touchLife(of: object, isLive: false)
      // A list that has read it ahead must drop it should it not stay.
      context.touch(object)
    }
  }

  private func take(_ row: Row, for object: ManagedObject) {
    if object.state == .inserted {
      object.becomeStored(as: row)
      return
    }
    if object.isFault {
      object.fulfil(with: row)
      return
    }
    let version = object.version, time = context.clock.change
    object.rebase(onto: row)
    object.fetched = [:]
    if object.state == .saved { refreshed.append(object) }
    if object.state == .deleted { object.deleteAgain() }
    if object.state != .saved { return }
    // Of one that was read since it was changed observers do not know what became different.
    let isRead =
      context.earlyReading.mayContain(object)
      || context.parent != nil && version == row.version && time == context.clock.change
    if isRead { context.touch(object) }
  }

  /// Of rows whose values no object had, lists learn that they are other ones.
  private func announceUnread() {
    for row in change.updated {
      guard let object = object(row), object.state == .saved,
        object.isFault || read.contains(ObjectIdentifier(object)) || valuedBefore?.contains(object.reference) == false
      else { continue }
      object.unread?.forgetValues()
      context.touch(object)
    }
  }

  private func takeOtherMembers(of relationship: Relationship, _ owners: [ManagedObject]) {
    for object in owners where object.state == .deleted { object.deleteAgain() }
    for object in owners where object.state == .inserted && relationship.followsFromInverse {
      object.toMany[relationship.slot] = nil
    }
    for object in owners where object.state == .saved {
      let isKept = object.toMany[relationship.slot]?.isChanged == true && !relationship.followsFromInverse
      if !isKept { object.toMany[relationship.slot] = nil }
      context.touch(object, at: relationship.slot)
    }
  }

  /// The object of a row if it is registered, or if an observer has to be told of it.
  private func object(_ row: RowIdentifier) -> ManagedObject? {
    if let object = context.registeredObject(row) { return object }
    guard let entity = context.model.entity(numbered: Int(row.entity)), isFollowed(row, entity) else { return nil }
    return context.object(ObjectReference(root: entity.rootNumber, id: row.id), entity: entity)
  }

  private func isFollowed(_ row: RowIdentifier, _ entity: Entity) -> Bool {
    if let known = followed[row.entity] { return known }
    let answer = observers.contains { $0.follows(entity) }
    followed[row.entity] = answer
    return answer
  }
}
