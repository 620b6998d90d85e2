/// Telling the delegate.
extension ResultsController {
  /// The bracket of what became of rows, which `ListContents.prepare` has taken on; nil where none of them is shown.
  func makeBracket(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) -> ResultsBracket? {
    if contents.takeQuietly(changes) { return nil }
    return ResultsBracket(self, involved) { assigned in
      self.contents.apply(self.withPermanentIDs(changes, assigned))
    }
  }

  /// Reports it, to the delegate of its composite, too.
  func deliver(_ bracket: ResultsBracket?) {
    guard let bracket else { return }
    if let gatherer { gatherer.deliver([bracket]) } else { bracket.run() }
  }

  /// Shows `fresh` from now on.
  func replaceContents(with fresh: ListContents) { deliver(replacement(with: fresh, [:])) }

  /// The bracket of that, in which rows of `involved` and those of `updated` are updated; nil where nothing differs.
  /// `report` is the difference, where it is known.
  func replacement(
    with fresh: ListContents, _ involved: [Int64: ManagedObject], updated: Set<Int64> = [], report: ChangeSet? = nil,
    contentsMayDiffer: Bool = false
  ) -> ResultsBracket? {
    let updated = updated.union(involved.keys.filter { index.contains($0) && fresh.index.contains($0) })
    func difference() -> ChangeSet {
      let report = ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(fresh.index), updated: updated)
      return report.calculating(fresh.aggregates?.changes(from: contents, in: fresh, report.sectionChanges) ?? [])
        .telling(contentsMayDiffer: contentsMayDiffer)
    }
    let first = report ?? difference()
    if first.isEmpty {
      contents = fresh
      return nil
    }
    incoming = fresh
    return ResultsBracket(self, involved) { assigned in
      let report = assigned.isEmpty ? first : difference()
      self.contents = fresh
      self.incoming = nil
      return report
    }
  }

  /// The objects of some changes, one by one. Those that are not in memory are read together. An object whose row is
  /// gone is reported all the same.
  func objects(of changes: some Collection<Change>) -> [ManagedObject] {
    let entity = query.entity
    let root = entity.rootNumber
    var missing: [Int64] = []
    let held = changes.map { change in
      let object = bracket?[change.id] ?? context.registeredObject(ObjectReference(root: root, id: change.id))
      if object == nil { missing.append(change.id) }
      return object
    }
    var found: [Int64: ManagedObject] = [:]
    if !missing.isEmpty { for object in (try? storedObjects(missing)) ?? [] { found[object.id] = object } }
    return zip(changes, held).map { change, object in
      object ?? found[change.id] ?? ManagedObject(context: context, entity: entity, id: change.id, state: .gone)
    }
  }

  /// The same changes by the ids that the objects have after `willChange`, which may have saved them.
  private func withPermanentIDs(_ changes: [RowChange], _ assigned: [Int64: ManagedObject]) -> [RowChange] {
    if assigned.isEmpty { return changes }
    return changes.map { change in
      guard let object = assigned[change.id] else { return change }
      return RowChange(
        id: object.id, newKey: change.newKey.map { (try? listing.key(of: object)) ?? $0 }, isUpdated: change.isUpdated,
        keepsPlace: change.keepsPlace, keys: change.keys, names: change.names, values: change.values)
    }
  }
}
