/// Following the context.
extension ResultsController: ContextObserver {
  func contextDidChange(_ batch: ChangeBatch) throws(Failure) {
    if gatherer == nil { deliver(try makeBracket(for: batch)) }
  }

  /// The effect of the batch on the list. Nothing is reported, and nothing is taken over when a read fails.
  func makeBracket(for batch: ChangeBatch) throws(Failure) -> ResultsBracket? {
    if !isFetched { return nil }
    if let preparedRequest, withheld == nil { return try bracket(of: preparedRequest, batch) }
    if isAdrift, withheld == nil {
      return try bracketOfAll(batch.changes(ofRoot: listing.query.entity.rootNumber).map(\.object))
    }
    if let prepared { return try bracket(of: prepared, batch) }
    guard let (changes, involved) = try changes(of: batch, in: contents) else { return nil }
    if withheld != nil {
      withheld?.add(changes, involved)
      return nil
    }
    try contents.prepare(changes, in: context)
    return makeBracket(changes, involved)
  }

  func loseTrack() { isAdrift = isFetched }

  /// A list that is suspended does so when it is resumed.
  func tellRest() throws(Failure) {
    // A composite has its lists tell together.
    if gatherer != nil { return }
    let bracket = try restBracket()
    if bracket != nil { try context.notifying { deliver(bracket) } }
  }

  /// Of what no notice has told; nil where that is nothing.
  func restBracket() throws(Failure) -> ResultsBracket? {
    if withheld != nil { return nil }
    if let preparedRequest { return try bracket(of: preparedRequest, ChangeBatch([])) }
    if let prepared, prepared.isFirst {
      try showFirst(prepared)
      return nil
    }
    if let prepared { return try bracket(of: prepared, ChangeBatch([])) }
    return isAdrift ? try bracketOfAll([]) : nil
  }

  /// The bracket of all that differs from what the store has now. These objects have changed in any case.
  private func bracketOfAll(_ changed: [ManagedObject]) throws(Failure) -> ResultsBracket? {
    let fresh = try listing.contents(in: context)
    isAdrift = false
    let involved = Dictionary(changed.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return replacement(with: fresh, involved, contentsMayDiffer: true)
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
}
