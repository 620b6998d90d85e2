/// The primary keys that a save gave to temporary ids: by root entity, in the order of insertion, without gaps.
struct PermanentIDs {
  private struct Run {
    /// Oldest first, which is descending.
    let temporary: ContiguousArray<Int64>
    let first: Int64
  }

  private var runs: [Int: Run] = [:]

  /// `temporary` must be sorted descending, without duplicates; it receives `first`, `first + 1` and so on.
  mutating func add(root: Int, temporary: ContiguousArray<Int64>, first: Int64) {
    assert(zip(temporary, temporary.dropFirst()).allSatisfy { $0 > $1 })
    runs[root] = Run(temporary: temporary, first: first)
  }

  /// The key assigned to a temporary reference; nil when the save did not insert it.
  subscript(reference: ObjectReference) -> Int64? {
    guard let run = runs[reference.root] else { return nil }
    guard let place = PermanentIDs.place(of: reference.id, in: run.temporary) else { return nil }
    return run.first &+ Int64(place)
  }

  /// Every pair, by root entity and in the order of insertion.
  func forEach(_ body: (_ temporary: ObjectReference, _ permanent: Int64) -> Void) {
    for (root, run) in runs.sorted(by: { $0.key < $1.key }) {
      for (place, id) in run.temporary.enumerated() {
        body(ObjectReference(root: root, id: id), run.first &+ Int64(place))
      }
    }
  }

  private static func place(of id: Int64, in temporary: ContiguousArray<Int64>) -> Int? {
    guard let oldest = temporary.first, id <= oldest else { return nil }
    // Ids are usually handed out without gaps: then the distance is the place.
    let guess = oldest.subtractingReportingOverflow(id)
    if !guess.overflow, guess.partialValue < temporary.count, temporary[Int(guess.partialValue)] == id {
      return Int(guess.partialValue)
    }
    var low = 0, high = temporary.count
    while low < high {
      let middle = (low + high) / 2
      if temporary[middle] > id { low = middle + 1 } else { high = middle }
    }
    return low < temporary.count && temporary[low] == id ? low : nil
  }
}
