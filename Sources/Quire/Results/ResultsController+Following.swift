/// Following the context.
extension ResultsController: ContextObserver {
  func contextDidChange(_ batch: [ObjectChange]) throws(Failure) {
    if !isFetched { return }
    let objectChanges = batch.filter { $0.time > fetchTime }
    var changes: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    var keys: [ObjectIdentifier: ChangedKeys] = [:]
    func evaluate(_ candidates: ObjectSet, hasChanged: Bool) throws(Failure) {
      try context.fulfil(candidates)
      for object in candidates {
        var key: RowKey?
        if object.isLive, try object.isStillStored(), try query.matches(object) { key = try listing.key(of: object) }
        let seen = keys[ObjectIdentifier(object)] ?? ChangedKeys()
        // A row that did not change itself is told of when the related object that did has given it another key, or is
        // shown in it.
        let isShown = hasChanged || seen.isDisplayed && key != nil
        if isShown ? key == nil && !contains(object.id) : key == self.key(of: object.id) { continue }
        changes.append(RowChange(id: object.id, newKey: key, keys: seen))
        involved[object.id] = object
      }
    }
    var changed = ObjectSet()
    for change in objectChanges where change.object.entity.rootNumber == query.entity.rootNumber {
      changed.insert(change.object)
      keys[ObjectIdentifier(change.object)] = ownKeys(change)
    }
    let related = try dependents(of: objectChanges, besides: changed, &keys)
    try evaluate(changed, hasChanged: true)
    try evaluate(related, hasChanged: false)
    if withheld != nil {
      withheld?.add(changes, involved)
    } else {
      try deliver(changes, involved)
    }
  }

  /// Whether a row is in the list, as far as was found out and not only told.
  private func contains(_ id: Int64) -> Bool {
    if let change = withheld?.changes[id] { return change.newKey != nil }
    return contents.contains(id)
  }

  private func key(of id: Int64) -> RowKey? {
    if let change = withheld?.changes[id] { return change.newKey }
    return contents.key(of: id)
  }

  func follows(_ entity: Entity) -> Bool {
    isFetched
      && (listing.isConcerned(with: entity) || watch.isConcerned(with: entity)
        || incoming?.listing.isConcerned(with: entity) == true)
  }

  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)]) {
    if !isFetched { return }
    var renamed: [Int64: Int64] = [:]
    for (object, temporary) in objects where object.entity.rootNumber == query.entity.rootNumber {
      renamed[temporary] = object.id
      assignedMeanwhile?[temporary] = object
      withheld?.rename(temporary, to: object) { try? listing.key(of: $0) }
      for contents in [contents, incoming] {
        if contents?.rename(temporary, to: object) == false { context.touch(object) }
      }
    }
    touchHolders(of: objects.map(\.object))
    if renamed.isEmpty { return }
    // Who takes a change set after the save must find its objects by the ids that they have now.
    queue.rename(renamed)
    note(renamed: renamed)
  }

  /// Rows that are ordered by a to-one relationship itself, hence by an id, have new keys when the id changes.
  private func touchHolders(of objects: [ManagedObject]) {
    for contents in [contents, incoming].compactMap(\.self) {
      let query = contents.listing.query
      var paths = query.sections?.objectPath.map { [$0] } ?? []
      for path in query.sortPaths {
        if let last = path.last as? Relationship { paths.append(path.relationships + [last]) }
      }
      for path in paths {
        let holders = try? context.objects(reaching: objects, along: path, from: query.entity)
        for object in holders ?? [] where contents.mayContain(object.id) || withheld?.changes[object.id] != nil {
          context.touch(object)
        }
      }
    }
  }

  /// What changed of a row itself, with the displayed key paths that begin there.
  private func ownKeys(_ change: ObjectChange) -> ChangedKeys {
    var keys = ChangedKeys(properties: change.properties)
    for (property, name) in watch.beginnings where change.properties.contains(property) { keys.names.insert(name) }
    return keys
  }

  /// The objects that reach a changed object through the keys of the query or displayed ones, without those of `known`;
  /// and what they show of it, in `keys`.
  private func dependents(
    of changes: [ObjectChange], besides known: ObjectSet, _ keys: inout [ObjectIdentifier: ChangedKeys]
  ) throws(Failure) -> ObjectSet {
    var found = ObjectSet()
    for target in watch.targets {
      let dependency = target.dependency
      let changed = changes.filter { $0.properties.contains(dependency.property) && dependency.concerns($0.object) }
      if changed.isEmpty { continue }
      var reaching = try context.objects(reaching: changed.map(\.object), along: dependency.path, from: query.entity)
      reaching += try losers(of: changed, dependency)
      for object in reaching {
        if !known.contains(object) { found.insert(object) }
        let shown = ChangedKeys(names: Set(target.names), isDisplayed: target.isDisplayed)
        keys[ObjectIdentifier(object), default: ChangedKeys()].formUnion(shown)
      }
    }
    return found
  }

  /// The objects that reach one to which a changed object belonged before: neither it nor the store may say so now.
  private func losers(of changes: [ObjectChange], _ dependency: Dependency) throws(Failure) -> [ManagedObject] {
    guard let last = dependency.path.last, last.isToMany, last.inverse === dependency.property else { return [] }
    var owners = ObjectSet()
    for change in changes {
      for (slot, target) in change.formerTargets where slot == dependency.property.slot {
        if let owner = try context.object(target, of: last.entity), owner.isLive { owners.insert(owner) }
      }
    }
    let path = Array(dependency.path.dropLast())
    if path.isEmpty { return owners.filter { $0.entity.isKind(of: query.entity) } }
    return try context.objects(reaching: Array(owners), along: path, from: query.entity)
  }
}
