/// Following the context.
extension ResultsController: ContextObserver {
  func contextDidChange(_ batch: ChangeBatch) throws(Failure) {
    if gatherer == nil { tell(try makeBracket(for: batch)) }
  }

  /// What the batch does to the list; nothing is told, and nothing taken on when reading fails.
  func makeBracket(for batch: ChangeBatch) throws(Failure) -> ResultsBracket? {
    if !isFetched { return nil }
    let listing = listing
    var changes: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    var keys: [ObjectIdentifier: ChangedKeys] = [:]
    func evaluate(_ candidates: ObjectSet, hasChanged: Bool) throws(Failure) {
      try context.fulfil(candidates)
      for object in candidates {
        let seen = keys[ObjectIdentifier(object)] ?? ChangedKeys()
        var key: RowKey?
        if !seen.isDecisive, object.isLive, !object.isFault, let known = self.key(of: object.id) {
          key = known
        } else if object.isLive, try object.isStillStored(), try listing.query.matches(object) {
          key = try listing.key(of: object)
        }
        let values = key == nil ? [] : try listing.values(of: object)
        // A row that did not change itself is told of when the related object that did has given it another key, or is
        // shown in it. What only aggregates are made of is theirs to tell.
        var isShown = hasChanged || seen.isDisplayed && key != nil
        if !isShown {
          isShown = key != self.key(of: object.id)
          if !isShown, key == nil || isKnown(values, of: object.id) { continue }
        } else if key == nil, !contains(object.id) {
          continue
        }
        changes.append(RowChange(id: object.id, newKey: key, isUpdated: isShown, keys: seen, values: values))
        involved[object.id] = object
      }
    }
    var changed = ObjectSet()
    for change in batch.changes(ofRoot: listing.query.entity.rootNumber) where change.time > fetchTime {
      changed.insert(change.object)
      keys[ObjectIdentifier(change.object)] = ownKeys(change)
    }
    let related = try dependents(of: batch, besides: changed, &keys)
    if changed.isEmpty, related.isEmpty { return nil }
    try evaluate(changed, hasChanged: true)
    try evaluate(related, hasChanged: false)
    if withheld != nil {
      withheld?.add(changes, involved)
      return nil
    }
    try contents.prepare(changes, in: context)
    return makeBracket(changes, involved)
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

  private func isKnown(_ values: [Value], of id: Int64) -> Bool {
    let known = withheld?.changes[id]?.values ?? contents.aggregates?.values(of: id) ?? []
    return known.elementsEqual(values) { $0.isIdentical(to: $1) }
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
    keys.isDecisive =
      change.isUncertain || change.properties == .all || !change.properties.isDisjoint(with: watch.decisive)
    for (property, name) in watch.beginnings where change.properties.contains(property) { keys.names.insert(name) }
    return keys
  }

  /// The objects that reach a changed object through the keys of the query or displayed ones, without those of `known`;
  /// and what they show of it, in `keys`.
  private func dependents(
    of batch: ChangeBatch, besides known: ObjectSet, _ keys: inout [ObjectIdentifier: ChangedKeys]
  ) throws(Failure) -> ObjectSet {
    var found = ObjectSet()
    let entity = query.entity
    for target in watch.targets {
      let dependency = target.dependency
      guard let last = dependency.path.last else { continue }
      let changed = batch.changes(ofRoot: last.destination.rootNumber).filter {
        $0.time > fetchTime && $0.properties.contains(dependency.property) && dependency.concerns($0.object)
      }
      if changed.isEmpty { continue }
      func find() throws(Failure) -> [ManagedObject] {
        try context.objects(reaching: changed.map(\.object), along: dependency.path, from: entity)
          + losers(of: changed, dependency, from: entity)
      }
      // Whoever was fetched in between asks for less.
      let reaching =
        batch.earliest > fetchTime
        ? try batch.objects(along: dependency.path, dependency.property, from: entity, in: context, find) : try find()
      for object in reaching {
        if !known.contains(object) { found.insert(object) }
        let shown = ChangedKeys(names: Set(target.names), isDisplayed: target.isDisplayed, isDecisive: true)
        keys[ObjectIdentifier(object), default: ChangedKeys()].formUnion(shown)
      }
    }
    return found
  }

  /// The objects that reach one to which a changed object belonged before: neither it nor the store may say so now.
  private func losers(
    of changes: [ObjectChange], _ dependency: Dependency, from entity: Entity
  ) throws(Failure) -> [ManagedObject] {
    guard let last = dependency.path.last, last.isToMany, last.inverse === dependency.property else { return [] }
    var owners = ObjectSet()
    for change in changes {
      for (slot, target, object) in change.formerTargets where slot == dependency.property.slot {
        var owner = object
        if owner == nil { owner = try context.object(target, of: last.entity) }
        if let owner, owner.isLive { owners.insert(owner) }
      }
    }
    let path = Array(dependency.path.dropLast())
    if path.isEmpty { return owners.filter { $0.entity.isKind(of: entity) } }
    return try context.objects(reaching: Array(owners), along: path, from: entity)
  }
}
