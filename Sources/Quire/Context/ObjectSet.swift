/// A set of objects in the order in which they were added. Adding and removing take constant time.
struct ObjectSet {
  private var slots: [ManagedObject?] = []
  private var places: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { places.isEmpty }
  var count: Int { places.count }

  func contains(_ object: ManagedObject) -> Bool { places[ObjectIdentifier(object)] != nil }

  mutating func insert(_ object: ManagedObject) {
    let identifier = ObjectIdentifier(object)
    if places[identifier] != nil { return }
    places[identifier] = slots.count
    slots.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard let place = places.removeValue(forKey: ObjectIdentifier(object)) else { return }
    slots[place] = nil
    if slots.count > 64, places.count * 2 < slots.count { compact() }
  }

  /// Empties the set and returns what it held.
  mutating func take() -> [ManagedObject] {
    let objects = Array(self)
    self = ObjectSet()
    return objects
  }

  private mutating func compact() {
    slots = slots.compactMap { $0 }
    for (place, object) in slots.enumerated() {
      if let object { places[ObjectIdentifier(object)] = place }
    }
  }
}

extension ObjectSet: Sequence {
  func makeIterator() -> some IteratorProtocol<ManagedObject> { slots.lazy.compactMap { $0 }.makeIterator() }
}
