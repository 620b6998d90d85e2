/// Objects of a list, or of the rows of a page, that were read before they were asked for, because the list is being
/// scrolled towards them.
///
/// No thread reads them meanwhile. A request for an object next to the last one reads those behind it in the same
/// statement, and the next requests need none. An object at a random place costs nothing more.
struct ReadAhead {
  /// How many rows are read beyond the one that is asked for.
  static let reach = 64
  private static let heldBatches = 4

  private var last: Int?
  /// The context releases objects without another reference.
  private var held: [[ManagedObject]] = []

  /// The places to be read besides `place`, in the direction in which the list is scrolled; none when it is not.
  func places(besides place: Int, of count: Int) -> Range<Int> {
    switch last {
    case place - 1: place + 1..<min(place + 1 + ReadAhead.reach, count)
    case place + 1: max(place - ReadAhead.reach, 0)..<place
    default: place..<place
    }
  }

  mutating func note(_ place: Int) { last = place }

  mutating func forgetPlace() { last = nil }

  mutating func release() { held = [] }

  mutating func hold(_ objects: [ManagedObject]) {
    if held.count == ReadAhead.heldBatches { held.removeFirst() }
    held.append(objects)
  }
}

/// Reads objects ahead for a program that has read a page, and asks for the objects of its rows one after the other.
struct PageAhead {
  /// The ids of a longer page are not kept.
  private static let mostRows = 4096

  private var root = 0
  private var ids: [Int64] = []
  private var ahead = ReadAhead()

  /// A page of these rows was read, without making objects.
  mutating func note(_ ids: [Int64], root: Int) {
    if ids.count < 2 || ids.count > PageAhead.mostRows { return }
    self.root = root
    self.ids = ids
    ahead.forgetPlace()
  }

  /// The ids that are to be read with one that is asked for.
  mutating func ids(besides id: Int64, root: Int) -> [Int64] {
    guard root == self.root, let place = ids.firstIndex(of: id) else { return [] }
    let places = ahead.places(besides: place, of: ids.count)
    // The next one that is asked for and was not read is beyond these.
    ahead.note(places.lowerBound < place ? places.lowerBound : max(place, places.upperBound - 1))
    return Array(ids[places])
  }

  mutating func hold(_ objects: [ManagedObject]) { ahead.hold(objects) }

  /// To be called when rows have changed: an object that is deleted may hold a large value, and its file.
  mutating func release() { ahead.release() }
}
