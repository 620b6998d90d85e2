/// What changes of objects make of rows.
extension ResultsController {
  /// What becomes of rows of `contents` by a batch, and the objects of these rows. nil where nothing of the batch can
  /// matter to the list. `reached` has what is known to have changed in objects that rows reach.
  func changes(
    of batch: ChangeBatch, reached: [Int64: ChangedKeys] = [:], in contents: ListContents
  ) throws(Failure) -> (changes: [RowChange], involved: [Int64: ManagedObject])? {
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
      for (id, keys) in reached {
        guard let object = context.registeredObject(ObjectReference(root: query.entity.rootNumber, id: id)) else {
          continue
        }
        if !changed.contains(object) { related.insert(object) }
        shown[ObjectIdentifier(object), default: ChangedKeys()].formUnion(keys)
      }
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
    return (changes, involved)
  }

  private func isKnown(_ values: [Value], of id: Int64) -> Bool {
    let known = withheld?.changes[id]?.values ?? contents.aggregates?.values(of: id) ?? []
    return known.elementsEqual(values) { $0.isIdentical(to: $1) }
  }

  /// What changed of a row itself, with the displayed key paths that begin there.
  func ownKeys(_ change: ObjectChange) -> ChangedKeys {
    var keys = ChangedKeys(properties: change.properties)
    keys.isDecisive =
      change.isUncertain || change.properties == .all || !change.properties.isDisjoint(with: watch.decisive)
    return watch.keys(keys)
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
        keys[ObjectIdentifier(object), default: ChangedKeys()].formUnion(target.keys)
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
