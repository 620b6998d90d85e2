/// Telling the delegate.
extension ResultsController {
  /// Takes on what became of rows, and tells of those that are shown. Nothing is told when reading fails.
  func deliver(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) throws(Failure) {
    try contents.prepare(changes, in: context)
    tell(changes, involved)
  }

  /// The same when `ListContents.prepare` has taken on the changes.
  func tell(_ changes: [RowChange], _ involved: [Int64: ManagedObject]) {
    let shown = contents.shownChanges(changes)
    if shown.isEmpty { return }
    tell(involved) { assigned in
      let settled = withPermanentIDs(changes, assigned)
      return index.apply(assigned.isEmpty ? shown : contents.shownChanges(settled)).naming(names(settled, involved))
    }
  }

  /// Shows `fresh` from now on.
  func replaceContents(with fresh: ListContents) {
    let difference = ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(fresh.index))
    if difference.isEmpty {
      contents = fresh
      return
    }
    incoming = fresh
    tell([:]) { assigned in
      let report =
        assigned.isEmpty ? difference : ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(fresh.index))
      contents = fresh
      incoming = nil
      return report
    }
  }

  /// One bracket. `change` brings the contents up to date; it is given the objects that got permanent ids since the
  /// bracket began, by temporary id. The delegate may be replaced, and the controller let go of, by any of the calls.
  private func tell(_ involved: [Int64: ManagedObject], _ change: ([Int64: ManagedObject]) -> ChangeSet) {
    bracket = involved
    defer { bracket = nil }
    assignedMeanwhile = [:]
    var told = delegate
    told?.willChange(self)
    if delegate !== told {
      told = delegate
      told?.willChange(self)
    }
    let assigned = assignedMeanwhile ?? [:]
    assignedMeanwhile = nil
    for (temporary, object) in assigned where involved[temporary] != nil { bracket?[object.id] = object }
    let report = change(assigned)
    note(report)
    if queuesChanges, !report.isEmpty { queue.append(report) }
    // A delegate that comes now sees the new state and is told of what follows it.
    func isStillThere() -> Bool { told != nil && delegate === told }
    for change in report.sectionChanges where isStillThere() { told?.didChangeSection(change, in: self) }
    let step = 256
    for start in stride(from: 0, to: report.changes.count, by: step) where isStillThere() {
      let some = report.changes[start..<min(start + step, report.changes.count)]
      let objects = objects(of: some)
      for change in some where isStillThere() {
        if let object = objects[change.id] { told?.didChangeObject(object, change, in: self) }
      }
    }
    if isStillThere() { told?.didChange(self) }
    if isStillThere() { told?.didReport(report, in: self) }
  }

  /// The objects of some changes. Those that nobody has are read together. One whose row is gone is told of all the
  /// same.
  private func objects(of changes: ArraySlice<Change>) -> [Int64: ManagedObject] {
    let entity = query.entity
    var found: [Int64: ManagedObject] = [:]
    var missing: [Int64] = []
    for change in changes {
      let reference = ObjectReference(root: entity.rootNumber, id: change.id)
      found[change.id] = bracket?[change.id] ?? context.registeredObject(reference)
      if found[change.id] == nil { missing.append(change.id) }
    }
    if missing.isEmpty { return found }
    for object in (try? read(missing)) ?? [] { found[object.id] = object }
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
        keys: change.keys)
    }
  }
}
