/// Objects of a list that were read before they were asked for, because the list is being scrolled towards them.
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

  mutating func hold(_ objects: [ManagedObject]) {
    if held.count == ReadAhead.heldBatches { held.removeFirst() }
    held.append(objects)
  }
}
