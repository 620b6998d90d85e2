/// A fixed number of counters with prefix sums, both in O(log n).
struct FenwickTree {
  private var sums: ContiguousArray<Int>

  /// All counters start at one.
  init(ones count: Int) {
    sums = ContiguousArray((0...count).map { $0 & -$0 })
  }

  mutating func add(_ amount: Int, at index: Int) {
    assert(index >= 0 && index < sums.count - 1)
    var index = index + 1
    while index < sums.count {
      sums[index] += amount
      index += index & -index
    }
  }

  /// The sum of the counters before `index`.
  func sum(before index: Int) -> Int {
    assert(index >= 0 && index < sums.count)
    var index = index
    var total = 0
    while index > 0 {
      total += sums[index]
      index &= index - 1
    }
    return total
  }
}
