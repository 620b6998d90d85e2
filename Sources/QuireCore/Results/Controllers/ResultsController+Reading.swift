extension ResultsController {
  func object(section: Int, row: Int) throws(Failure) -> ManagedObject {
    try checkFetched()
    guard let id = index.id(at: IndexPath(section: section, row: row)), let start = index.section(at: section)?.start
    else { throw Failure(.notFound, "The results have no row \(row) in section \(section).") }
    let place = start + row
    defer { ahead.note(place) }
    if let object = bracket?[id] ?? withheld?.objects[id] { return object }
    if let object = readObject(id) { return object }
    let beyond = isSettled ? index.ids(in: ahead.places(besides: place, of: index.count)) : []
    let ids = beyond.filter { readObject($0) == nil }
    let objects = try storedObjects([id] + ids)
    guard let object = objects.first(where: { $0.id == id }) else {
      let failure = context.missingRow("The row of \(query.entity.name) \(id) is no longer in the store.")
      if isSettled { letGo(of: [id]) }
      throw failure
    }
    // Another writer changed the row: the list takes that on with the next changes, so as not to show it out of order.
    // Where the context reads ahead, the next changes are those of a merge.
    if !context.readsAhead {
      for object in objects where try !contents.isUpToDate(with: object) { context.touch(object) }
    }
    let related = try context.prefetch(listing.prefetched, from: objects)
    if !ids.isEmpty || !related.isEmpty { ahead.hold(objects + related) }
    return object
  }

  /// The objects of a window, read together with what is prefetched, which the result holds.
  func objects(in range: Range<Int>) throws(Failure) -> ObjectList {
    let ids = index.ids(in: range)
    func known(_ id: Int64) -> ManagedObject? { bracket?[id] ?? withheld?.objects[id] ?? readObject(id) }
    let held = ids.map(known)
    let missing = zip(ids, held).compactMap { $1 == nil ? $0 : nil }
    let read = try storedObjects(missing)
    // Another writer changed the row: the list takes that on with the next changes.
    if !context.readsAhead {
      for object in read where try !contents.isUpToDate(with: object) { context.touch(object) }
    }
    let stored = Dictionary(read.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    var objects: [ManagedObject] = []
    objects.reserveCapacity(ids.count)
    for (id, object) in zip(ids, held) {
      guard let object = object ?? stored[id] else {
        let failure = context.missingRow("The row of \(query.entity.name) \(id) is no longer in the store.")
        if isSettled { letGo(of: missing.filter { stored[$0] == nil }) }
        throw failure
      }
      objects.append(object)
    }
    let list = ObjectList(context: context, objects: objects, entity: query.entity)
    try list.prefetch(listing.prefetched, from: objects)
    return list
  }

  /// While it reports changes, or is suspended, not every row of it has an object.
  private var isSettled: Bool { bracket == nil && withheld == nil }

  /// The object if there is one with values.
  private func readObject(_ id: Int64) -> ManagedObject? {
    let object = context.registeredObject(ObjectReference(root: query.entity.rootNumber, id: id))
    return object?.isFault == false ? object : nil
  }

  /// The objects of saved rows, as far as these are there.
  func storedObjects(_ ids: [Int64]) throws(Failure) -> [ManagedObject] {
    try context.source.rows(root: query.entity.root, ids: ids).map { context.object(for: $0) }
  }

  func page(_ range: Range<Int>, keys: [String], nulSeparated: Bool) throws(Failure) -> Page {
    let ids = index.ids(in: range)
    let rows = ids.map { RowIdentifier(id: $0, entity: Int32(query.entity.number)) }
    let list = ObjectList(context: context, entity: query.entity, rows: ContiguousArray(rows), reading: ObjectReading())
    do throws(Failure) {
      return try list.page(0..<rows.count, keys: keys, nulSeparated: nulSeparated)
    } catch {
      if error.kind == .notFound, isSettled {
        let saved = ids.filter { $0 > 0 }
        letGo(of: Set(saved).subtracting(try context.source.usedIDs(saved, root: query.entity.root)))
      }
      throw error
    }
  }

  /// Another program has deleted these rows: the list loses them with the next changes. Where the context reads ahead a
  /// merge does that.
  private func letGo(of ids: some Sequence<Int64>) {
    if context.readsAhead { return }
    for id in ids {
      let object = context.object(
        ObjectReference(root: query.entity.rootNumber, id: id), entity: query.entity)
      if object.state == .saved, !object.isUpdated { context.markGone(object) }
    }
  }
}
