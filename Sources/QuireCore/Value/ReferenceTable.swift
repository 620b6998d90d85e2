import CRuntime
import Glibc
import Synchronization

/// Finds objects by their reference without holding them.
///
/// Swift's `weak` would give each object a side table, through which every later retain and release of it goes. Here an
/// object removes itself: its `deinit`, on any thread, calls `forget`. A lookup during that `deinit` finds no object.
/// The mutex makes sure that an entry is not looked at after that.
final class ReferenceTable: @unchecked Sendable {
  private struct Entry {
    /// nil where nothing is filed.
    var object: UnsafeRawPointer?
    var root: Int
    var id: Int64

    func has(_ reference: ObjectReference) -> Bool { id == reference.id && root == reference.root }
  }

  private static let smallest = 32

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Open addressing; a power of two.
  private var entries = ReferenceTable.makeEntries(ReferenceTable.smallest)
  private var mask = ReferenceTable.smallest - 1
  private var shift = ReferenceTable.shift(for: ReferenceTable.smallest)
  private let count = Atomic<Int>(0)

  init() { pthread_mutex_init(mutex, nil) }

  deinit {
    entries.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// The object with that reference, unless it is going.
  func object(_ reference: ObjectReference) -> AnyObject? {
    if isEmpty { return nil }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard let object = entries[place(of: reference)].object else { return nil }
    return ReferenceTable.retained(object)
  }

  /// Files an object, instead of another one with that reference.
  func file(_ object: AnyObject, as reference: ObjectReference) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var place = place(of: reference)
    if entries[place].object == nil {
      if count.add(1, ordering: .relaxed).newValue * 3 > (mask + 1) * 2 {
        resize(to: (mask + 1) * 2)
        place = self.place(of: reference)
      }
    }
    entries[place] = Entry(
      object: UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()), root: reference.root, id: reference.id)
  }

  /// Takes out the object filed under a reference, and returns it unless it is being freed.
  func remove(_ reference: ObjectReference) -> AnyObject? {
    if isEmpty { return nil }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let place = place(of: reference)
    guard let object = entries[place].object else { return nil }
    let retained = ReferenceTable.retained(object)
    empty(place)
    return retained
  }

  /// For the `deinit` of an object that may be filed under `reference`.
  func forget(_ object: ObjectIdentifier, _ reference: ObjectReference) {
    // It is empty only if the object is not filed: that happened before it went.
    if isEmpty { return }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let place = place(of: reference)
    if let filed = entries[place].object, filed == UnsafeRawPointer(bitPattern: UInt(bitPattern: object)) {
      empty(place)
    }
  }

  /// The objects that are not being freed, in no order.
  var all: [AnyObject] {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var all: [AnyObject] = []
    all.reserveCapacity(count.load(ordering: .relaxed))
    for place in 0...mask {
      if let entry = entries[place].object, let object = ReferenceTable.retained(entry) { all.append(object) }
    }
    return all
  }

  /// Any thread.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  @inline(__always)
  private static func retained(_ object: UnsafeRawPointer) -> AnyObject? {
    quire_retain_unless_going(object).map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
  }

  // MARK: Places, with the mutex held

  /// Where a reference is, or where it belongs.
  @inline(__always)
  private func place(of reference: ObjectReference) -> Int {
    var place = firstPlace(reference.root, reference.id)
    while entries[place].object != nil, !entries[place].has(reference) { place = (place + 1) & mask }
    return place
  }

  /// Ids come in rows, and objects are mostly looked for in the order of their ids: four of them lie side by side.
  @inline(__always)
  private func firstPlace(_ root: Int, _ id: Int64) -> Int {
    let mixed = (UInt64(bitPattern: id >> 2) &+ UInt64(truncatingIfNeeded: root) &* 0xD6E8_FEB8_6659_FD93)
    let group = Int(truncatingIfNeeded: (mixed &* 0x9E37_79B9_7F4A_7C15) >> shift)
    return (group << 2 | Int(truncatingIfNeeded: id & 3)) & mask
  }

  /// Closes the gap, so that what was filed further on because of this one is still found.
  private func empty(_ removed: Int) {
    var gap = removed
    var next = (gap + 1) & mask
    while entries[next].object != nil {
      let home = firstPlace(entries[next].root, entries[next].id)
      // Whether its own place is no later than the gap, counted from the entry backwards.
      if (next - home) & mask >= (next - gap) & mask {
        entries[gap] = entries[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    entries[gap].object = nil
    let left = count.subtract(1, ordering: .relaxed).newValue
    if mask >= ReferenceTable.smallest * 2, left * 8 < mask { resize(to: (mask + 1) / 4) }
  }

  private func resize(to size: Int) {
    let old = entries, oldMask = mask
    entries = ReferenceTable.makeEntries(size)
    mask = size - 1
    shift = ReferenceTable.shift(for: size)
    for place in 0...oldMask where old[place].object != nil {
      var new = firstPlace(old[place].root, old[place].id)
      while entries[new].object != nil { new = (new + 1) & mask }
      entries[new] = old[place]
    }
    old.deallocate()
  }

  private static func shift(for size: Int) -> UInt64 { UInt64(64 - (size / 4).trailingZeroBitCount) }

  private static func makeEntries(_ size: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: size)
    entries.initialize(repeating: Entry(object: nil, root: 0, id: 0), count: size)
    return entries
  }
}
