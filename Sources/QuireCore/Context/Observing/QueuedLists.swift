/// What keeps its changes until the program takes them: a live list.
protocol ChangeSource: AnyObject {
  /// Its number among those of its context; see `QueuedLists`.
  var number: Int64 { get }
  var hasQueuedChanges: Bool { get }
}

/// The lists of a context whose changes wait to be taken. Lists without any cost nothing here.
///
/// A list is noted when it queues its first change. It is dropped by a later look, when its queue is empty or the list
/// is gone: any thread may release the last reference to a list.
struct QueuedLists {
  private struct Entry {
    let number: Int64
    weak var list: (any ChangeSource)?

    var isOver: Bool { list?.hasQueuedChanges != true }
  }

  private static let smallest = 16

  /// By ascending numbers.
  private var entries: [Entry] = []
  /// How many there may be before those that are over are dropped. A program may never look.
  private var limit = smallest
  private var lastNumber: Int64 = 0

  /// The number of a new list: 1 for the first, and never the same again.
  mutating func takeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  /// Notes a list that is about to queue its first change.
  mutating func note(_ list: any ChangeSource) {
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
  mutating func next(after number: Int64) -> Int64? {
    if number <= 0 { dropThoseThatAreOver() }
    return entries[firstPlace(behind: number)...].first { !$0.isOver }?.number
  }

  private mutating func dropThoseThatAreOver() { entries.removeAll(where: \.isOver) }

  private func firstPlace(behind number: Int64) -> Int {
    if let last = entries.last, last.number <= number { return entries.count }
    return entries.partitionPoint { $0.number <= number }
  }
}
