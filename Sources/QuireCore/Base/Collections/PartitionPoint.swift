extension RandomAccessCollection where Index == Int {
  /// The first index whose element does not satisfy `belongsBefore`, which must hold for a prefix
  /// and no more.
  func partitionPoint(_ belongsBefore: (Element) -> Bool) -> Int {
    partitionPoint { belongsBefore($1) }
  }

  /// The same with the index at hand.
  func partitionPoint(_ belongsBefore: (Int, Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if belongsBefore(middle, self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
