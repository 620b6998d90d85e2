/// The changes of rows while the list is suspended, each with its object.
struct WithheldChanges {
  /// By id, the last of each.
  private(set) var changes: [Int64: RowChange] = [:]
  private(set) var objects: [Int64: ManagedObject] = [:]

  var isEmpty: Bool { changes.isEmpty }
  /// In the order of their ids, so that what is reported depends on nothing else.
  var all: [RowChange] { changes.values.sorted { $0.id < $1.id } }

  mutating func add(_ changes: [RowChange], _ objects: [Int64: ManagedObject]) {
    for var change in changes {
      if let earlier = self.changes[change.id] {
        change.keys.formUnion(earlier.keys)
        change.isUpdated = change.isUpdated || earlier.isUpdated
      }
      self.changes[change.id] = change
    }
    self.objects.merge(objects) { $1 }
  }

  /// Files a row under its permanent id, with the key that it has by that.
  mutating func rename(_ temporary: Int64, to object: ManagedObject, key: (ManagedObject) -> RowKey?) {
    guard var change = changes.removeValue(forKey: temporary) else { return }
    objects[temporary] = nil
    change.id = object.id
    if let present = change.newKey { change.newKey = key(object) ?? present }
    changes[object.id] = change
    objects[object.id] = object
  }
}
