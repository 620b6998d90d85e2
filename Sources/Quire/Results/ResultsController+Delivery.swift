/// Telling the delegate.
extension ResultsController {
  /// The bracket of what became of rows, which `ListContents.prepare` has taken on; nil where none of them is shown.
  func makeBracket(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) -> ResultsBracket? {
    if contents.takeQuietly(changes) { return nil }
    return ResultsBracket(self, involved) { assigned in
      let settled = self.withPermanentIDs(changes, assigned)
      return self.contents.apply(settled).naming(self.names(settled, involved))
    }
  }

  /// Tells it, to the delegate of its composite, too.
  func tell(_ bracket: ResultsBracket?) {
    guard let bracket else { return }
    if let gatherer { gatherer.tell([bracket]) } else { bracket.run() }
  }

  /// Shows `fresh` from now on.
  func replaceContents(with fresh: ListContents) {
    func difference() -> ChangeSet {
      let report = ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(fresh.index))
      return report.calculating(fresh.aggregates?.changes(from: contents, in: fresh, report.sectionChanges) ?? [])
    }
    let first = difference()
    if first.isEmpty {
      contents = fresh
      return
    }
    incoming = fresh
    let bracket = ResultsBracket(self, [:]) { assigned in
      let report = assigned.isEmpty ? first : difference()
      self.contents = fresh
      self.incoming = nil
      return report
    }
    tell(bracket)
  }

  /// The objects of some changes. Those that nobody has are read together. One whose row is gone is told of all the
  /// same.
  func objects(of changes: some Sequence<Change>) -> [Int64: ManagedObject] {
    let entity = query.entity
    var found: [Int64: ManagedObject] = [:]
    var missing: [Int64] = []
    for change in changes {
      let reference = ObjectReference(root: entity.rootNumber, id: change.id)
      found[change.id] = bracket?[change.id] ?? context.registeredObject(reference)
      if found[change.id] == nil { missing.append(change.id) }
    }
    if missing.isEmpty { return found }
    for object in (try? storedObjects(missing)) ?? [] { found[object.id] = object }
    for id in missing where found[id] == nil {
      found[id] = ManagedObject(context: context, entity: entity, id: id, state: .gone)
    }
    return found
  }

  /// What to name of rows, by id. Most rows of a batch have changed alike.
  private func names(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) -> [Int64: [Text]] {
    struct Alike: Hashable {
      let entity: Int
      let keys: ChangedKeys
    }
    var known: [Alike: [Text]] = [:]
    var names: [Int64: [Text]] = [:]
    for change in changes where change.newKey != nil {
      guard let entity = (bracket?[change.id] ?? involved[change.id])?.entity else { continue }
      let alike = Alike(entity: entity.number, keys: change.keys)
      let texts = known[alike] ?? change.keys.texts(of: entity, watch)
      known[alike] = texts
      names[change.id] = texts
    }
    return names
  }

  /// The same changes by the ids that the objects have after `willChange`, which may have saved them.
  private func withPermanentIDs(_ changes: [RowChange], _ assigned: [Int64: ManagedObject]) -> [RowChange] {
    if assigned.isEmpty { return changes }
    return changes.map { change in
      guard let object = assigned[change.id] else { return change }
      return RowChange(
        id: object.id, newKey: change.newKey.map { (try? listing.key(of: object)) ?? $0 }, isUpdated: change.isUpdated,
        keys: change.keys, values: change.values)
    }
  }
}
