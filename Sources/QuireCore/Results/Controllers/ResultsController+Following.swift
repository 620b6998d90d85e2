/// Following the context.
extension ResultsController: ContextObserver {
  func contextDidChange(_ batch: ChangeBatch) throws(Failure) {
    if gatherer == nil { deliver(try makeBracket(for: batch)) }
  }

  /// The effect of the batch on the list. Nothing is reported, and nothing is taken over when a read fails.
  func makeBracket(for batch: ChangeBatch) throws(Failure) -> ResultsBracket? {
    if !isFetched { return nil }
    if isAdrift, withheld == nil {
      return try bracketOfAll(batch.changes(ofRoot: listing.query.entity.rootNumber).map(\.object))
    }
    let contents = contents
    let listing = contents.listing, rows = contents.rows
    let own = batch.changes(ofRoot: listing.query.entity.rootNumber)
    // What a row is told to keep need not be found out, where nothing but the list itself wants to know.
    let isPlain = withheld == nil && contents.window == nil && contents.aggregates == nil
    var changes: [RowChange] = []
    var involved: [Int64: ManagedObject] = [:]
    var names = ChangeNames(watch)
    changes.reserveCapacity(own.count)
    involved.reserveCapacity(own.count)
    /// The key of a row that is in the list, as far as was found out and not only told.
    func present(_ id: Int64) -> RowKey? {
      if let change = withheld?.changes[id] { return change.newKey }
      return rows.key(of: id)
    }
    func evaluate(_ object: ManagedObject, _ seen: ChangedKeys, hasChanged: Bool) throws(Failure) {
      let id = object.id
      var key: RowKey?
      if !seen.isDecisive, object.isLive, !object.isFault {
        if isPlain, hasChanged, rows.contains(id) {
          let names = names.texts(seen, of: object.entity)
          changes.append(RowChange(id: id, newKey: nil, keepsPlace: true, keys: seen, names: names))
          involved[id] = object
          return
        }
        key = present(id)
      }
      if key == nil, object.isLive, try object.isStillStored(), try listing.query.matches(object) {
        key = try listing.key(of: object)
      }
      let values = key == nil ? [] : try listing.values(of: object)
      // A row that did not change itself is reported in two cases: the related object that changed has given the row
      // another key, or is shown in the row. Keys that only aggregates use are reported by the aggregates.
      var isShown = hasChanged || seen.isDisplayed && key != nil
      if !isShown {
        isShown = key != present(id)
        if !isShown, key == nil || isKnown(values, of: id) { return }
      } else if key == nil, withheld?.changes[id].map({ $0.newKey == nil }) ?? !rows.contains(id) {
        return
      }
      let names = key == nil ? [] : names.texts(seen, of: object.entity)
      changes.append(
        RowChange(id: id, newKey: key, isUpdated: isShown, keys: seen, names: names, values: values))
      involved[id] = object
    }
    let told = own.contains { $0.time <= fetchTime } ? own.filter { $0.time > fetchTime } : own
    var related = ObjectSet()
    var shown: [ObjectIdentifier: ChangedKeys] = [:]
    if !watch.targets.isEmpty {
      var changed = ObjectSet()
      for change in told { changed.insert(change.object) }
      related = try dependents(of: batch, besides: changed, &shown)
    }
    if told.isEmpty, related.isEmpty { return nil }
    try context.fulfil(told.lazy.map(\.object))
    for change in told {
      var keys = ownKeys(change)
      if let more = shown[ObjectIdentifier(change.object)] { keys.formUnion(more) }
      try evaluate(change.object, keys, hasChanged: true)
    }
    if !related.isEmpty {
      try context.fulfil(related)
      for object in related {
        try evaluate(object, shown[ObjectIdentifier(object)] ?? ChangedKeys(), hasChanged: false)
      }
    }
    if withheld != nil {
      withheld?.add(changes, involved)
      return nil
    }
    try contents.prepare(changes, in: context)
    return makeBracket(changes, involved)
  }

  func loseTrack() { isAdrift = isFetched }

  /// A list that is suspended does so when it is resumed.
  func fetchAnew() throws(Failure) {
    if !isAdrift || withheld != nil { return }
    let bracket = try bracketOfAll([])
    try context.notifying { deliver(bracket) }
  }

  /// The bracket of all that differs from what the store has now. These objects have changed in any case.
  private func bracketOfAll(_ changed: [ManagedObject]) throws(Failure) -> ResultsBracket? {
    let fresh = try listing.contents(in: context)
    isAdrift = false
    let involved = Dictionary(changed.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return replacement(with: fresh, involved)
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
    // A change set that is taken after the save must lead to its objects by their ids of now.
    queue.rename(renamed)
    note(renamed: renamed)
  }

  /// Rows that are ordered by a to-one relationship itself, hence by an id, have new keys when the id changes.
  private func touchHolders(of objects: [ManagedObject]) {
    for contents in [contents, incoming].compactMap(\.self) {
      let query = contents.listing.query
      var paths = query.sections?.objectPath.map { [$0] } ?? []
      for path in query.sort.map(\.path) {
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

  /// The objects that reach a changed object through the keys of the query or displayed ones, without those of `known`.
  /// `keys` has what they show of it.
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
      // A list that was fetched in between asks for less.
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
