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
      if isSettled { letGo(of: [id]) }
      throw Failure(.notFound, "The row of \(query.entity.name) \(id) is no longer in the store.")
    }
    // Another writer changed the row: the list takes that on with the next changes, so as not to show it out of order.
    for object in objects where try !contents.isUpToDate(with: object) { context.touch(object) }
    let related = try context.prefetch(listing.prefetched, from: objects)
    if !ids.isEmpty || !related.isEmpty { ahead.hold(objects + related) }
    return object
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

  /// Another program has deleted these rows: the list loses them with the next changes.
  private func letGo(of ids: some Sequence<Int64>) {
    for id in ids {
      let object = context.object(
        ObjectReference(root: query.entity.rootNumber, id: id), entity: query.entity)
      if object.state == .saved, !object.isUpdated { context.markGone(object) }
    }
  }
}
