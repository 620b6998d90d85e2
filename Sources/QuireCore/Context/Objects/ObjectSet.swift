/// A set of objects in the order in which they were added. Adding and removing take constant time.
///
/// Objects are found by their addresses, in a table of its own. Swift's set would hash each address for ten times as
/// long, and every change of an object passes through several of these sets. Few objects need no table.
struct ObjectSet {
  private static let mostWithoutTable = 8
  private static let free: UInt = 0
  private static let removed: UInt = 1

  /// In order, with gaps where objects were removed.
  private var slots: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0
  // Open addressing; a power of two, or empty.
  private var addresses: ContiguousArray<UInt> = []
  private var places: ContiguousArray<Int32> = []
  /// Buckets that are not free.
  private var usedBuckets = 0

  var isEmpty: Bool { count == 0 }

  func contains(_ object: ManagedObject) -> Bool {
    addresses.isEmpty ? slots.contains { $0 === object } : bucket(of: ObjectSet.address(object)) != nil
  }

  mutating func insert(_ object: ManagedObject) {
    if contains(object) { return }
    slots.append(object)
    count += 1
    if addresses.isEmpty {
      if slots.count > ObjectSet.mostWithoutTable { makeTable() }
    } else if (usedBuckets + 1) * 4 > addresses.count * 3 {
      makeTable()
    } else {
      file(ObjectSet.address(object), at: slots.count - 1)
    }
  }

  mutating func remove(_ object: ManagedObject) {
    if addresses.isEmpty {
      guard let place = slots.firstIndex(where: { $0 === object }) else { return }
      slots.remove(at: place)
      count -= 1
      return
    }
    guard let bucket = bucket(of: ObjectSet.address(object)) else { return }
    slots[Int(places[bucket])] = nil
    addresses[bucket] = ObjectSet.removed
    count -= 1
    if slots.count > 64, count * 2 < slots.count { makeTable() }
  }

  /// Empties the set and returns what it held.
  mutating func take() -> [ManagedObject] {
    let objects = Array(self)
    self = ObjectSet()
    return objects
  }

  private static func address(_ object: ManagedObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }

  private func firstBucket(_ address: UInt) -> Int {
    Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 32) & (addresses.count - 1)
  }

  private func bucket(of address: UInt) -> Int? {
    var bucket = firstBucket(address)
    while addresses[bucket] != ObjectSet.free {
      if addresses[bucket] == address { return bucket }
      bucket = (bucket + 1) & (addresses.count - 1)
    }
    return nil
  }

  private mutating func file(_ address: UInt, at place: Int) {
    var bucket = firstBucket(address)
    while addresses[bucket] != ObjectSet.free { bucket = (bucket + 1) & (addresses.count - 1) }
    addresses[bucket] = address
    places[bucket] = Int32(truncatingIfNeeded: place)
    usedBuckets += 1
  }

  /// Closes the gaps and files everything anew, with room for as much again.
  private mutating func makeTable() {
    if count < slots.count { slots = ContiguousArray(slots.lazy.filter { $0 != nil }) }
    var size = 32
    while size < count * 3 { size *= 2 }
    addresses = ContiguousArray(repeating: ObjectSet.free, count: size)
    places = ContiguousArray(repeating: 0, count: size)
    usedBuckets = 0
    for (place, object) in slots.enumerated() {
      if let object { file(ObjectSet.address(object), at: place) }
    }
  }
}

extension ObjectSet: Sequence {
  var underestimatedCount: Int { count }

  func makeIterator() -> some IteratorProtocol<ManagedObject> { slots.lazy.compactMap { $0 }.makeIterator() }
}
