/// What keeps its changes until the program takes them: a live list.
protocol ChangeSource: AnyObject {
  /// Its number among those of its context; see `QueuedLists`.
  var number: Int64 { get }
  var hasQueuedChanges: Bool { get }
}

/// The lists of a context whose changes wait to be taken. Lists without any cost nothing here.
///
/// A list is noted when it queues its first change. It is dropped by a later look, when its queue is empty or the list
/// is gone: any thread may release the last reference to a list. The reference of a look may then become the last one,
/// and the end of a list calls the program, which may ask for the lists. No list is therefore released while the
/// entries are being read or changed.
final class QueuedLists {
  private struct Entry {
    let number: Int64
    weak var list: (any ChangeSource)?
  }

  private static let smallest = 16

  /// By ascending numbers.
  private var entries: [Entry] = []
  /// How many there may be before those that are over are dropped. A program may never look.
  private var limit = smallest
  private var lastNumber: Int64 = 0

  /// The number of a new list: 1 for the first, and never the same again.
  func takeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  /// Notes a list that is about to queue its first change.
  func note(_ list: any ChangeSource) {
    if entries.count >= limit {
      dropThoseThatAreOver()
      limit = max(QueuedLists.smallest, entries.count * 2)
    }
    // Lists change in the order in which they were made, so that most come last.
    let place = firstPlace(behind: list.number - 1)
    if place < entries.count, entries[place].number == list.number { return }
    entries.insert(Entry(number: list.number, list: list), at: place)
  }

  /// The least number above `number` of a list with changes, or nil.
  func next(after number: Int64) -> Int64? {
    if number <= 0 { dropThoseThatAreOver() }
    var number = number
    // Each turn searches anew: the end of the list before may have changed the entries.
    while true {
      let place = firstPlace(behind: number)
      if place >= entries.count { return nil }
      number = entries[place].number
      let list = entries[place].list
      if list?.hasQueuedChanges == true { return number }
    }
  }

  private func dropThoseThatAreOver() {
    if entries.isEmpty { return }
    let held = entries.map { $0.list }
    // Those that are still there stay until the end, so that this is not the last to release one.
    withExtendedLifetime(held) {
      var place = 0
      entries.removeAll { _ in
        defer { place += 1 }
        return held[place]?.hasQueuedChanges != true
      }
    }
  }

  private func firstPlace(behind number: Int64) -> Int {
    if let last = entries.last, last.number <= number { return entries.count }
    return entries.partitionPoint { $0.number <= number }
  }
}
