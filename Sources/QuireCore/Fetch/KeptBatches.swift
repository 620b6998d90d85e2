/// Which batches of a list are kept. They are the last ones read: few enough that a loop over any number of objects
/// holds little, and many enough that jumping about in a list of usual length reads nothing twice.
struct KeptBatches {
  private static let mostObjects = 20_000

  private let most: Int
  /// Places of batches, the one read first first, from `first` on.
  private var order: [Int] = []
  private var first = 0
  private var present: Set<Int> = []

  /// 0: everything is one batch, which is kept.
  init(batchSize: Int) { most = batchSize == 0 ? .max : max(2, KeptBatches.mostObjects / batchSize) }

  /// Notes that the batch at `place` was read; returns those to release.
  mutating func note(_ place: Int) -> [Int] {
    if most == .max || !present.insert(place).inserted { return [] }
    order.append(place)
    if order.count - first <= most { return [] }
    let oldest = order[first]
    present.remove(oldest)
    first += 1
    if first > most {
      order.removeFirst(first)
      first = 0
    }
    return [oldest]
  }
}
