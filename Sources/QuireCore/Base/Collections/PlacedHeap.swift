/// A heap of numbered members that know their places in it, so that any of them is taken out in O(log n).
struct PlacedHeap {
  private var members: ContiguousArray<Int32> = []

  /// The one that precedes all others.
  var first: Int32? { members.first }

  mutating func insert(
    _ member: Int32, _ places: inout ContiguousArray<Int32>, _ precedes: (Int32, Int32) -> Bool
  ) {
    members.append(member)
    rise(from: members.count - 1, &places, precedes)
  }

  /// `precedes` is not asked about `member`, which may have lost its value.
  mutating func remove(
    _ member: Int32, _ places: inout ContiguousArray<Int32>, _ precedes: (Int32, Int32) -> Bool
  ) {
    let place = Int(places[Int(member)])
    assert(members.indices.contains(place) && members[place] == member, "The member does not know its place.")
    guard let last = members.popLast(), last != member else { return }
    members[place] = last
    settle(place, &places, precedes)
  }

  /// Finds the place of a member that may precede others than before.
  mutating func settle(
    _ place: Int, _ places: inout ContiguousArray<Int32>, _ precedes: (Int32, Int32) -> Bool
  ) {
    assert(members.indices.contains(place))
    var place = place
    let member = members[place]
    while true {
      var child = 2 * place + 1
      if child >= members.count { break }
      if child + 1 < members.count, precedes(members[child + 1], members[child]) { child += 1 }
      if !precedes(members[child], member) { break }
      put(members[child], at: place, &places)
      place = child
    }
    members[place] = member
    rise(from: place, &places, precedes)
  }

  private mutating func rise(
    from start: Int, _ places: inout ContiguousArray<Int32>, _ precedes: (Int32, Int32) -> Bool
  ) {
    var place = start
    let member = members[place]
    while place > 0, precedes(member, members[(place - 1) / 2]) {
      put(members[(place - 1) / 2], at: place, &places)
      place = (place - 1) / 2
    }
    put(member, at: place, &places)
  }

  private mutating func put(_ member: Int32, at place: Int, _ places: inout ContiguousArray<Int32>) {
    members[place] = member
    places[Int(member)] = Int32(place)
  }
}
