/// The order keys (Z_FOK_) of an ordered to-many relationship. The numbers rise along the list, and are spaced so that
/// most rearrangements rewrite only the rows that moved.
enum OrderKeys {
  static let spacing: Int64 = 1024

  /// The key that follows the highest one in use, or the first when there is none.
  static func next(after highest: Int64?) -> Int64 {
    guard let highest, highest > 0 else { return spacing }
    let (next, overflow) = (highest - highest % spacing).addingReportingOverflow(spacing)
    return overflow ? highest : next
  }

  /// What to write so that keys rise strictly: places in the list with their new keys.
  ///
  /// Keeps the longest run of rising keys, puts the others evenly between them, and renumbers the whole list when
  /// they find no room.
  static func assign(current: [Int64?]) -> [(place: Int, key: Int64)] {
    let kept = risingPlaces(current)
    if kept.count == current.count { return [] }
    var changes: [(place: Int, key: Int64)] = []
    var place = 0, low: Int64 = 0
    for fixed in kept + [current.count] {
      let missing = Int64(fixed - place)
      if missing > 0 {
        let step: Int64
        if fixed < current.count, let high = current[fixed] {
          step = (high - low) / (missing + 1)
          if step < 1 { return renumber(current) }
        } else {
          low -= low % spacing
          step = spacing
          if low > Int64.max - spacing * (missing + 1) { return renumber(current) }
        }
        for _ in 0..<missing {
          low += step
          changes.append((place, low))
          place += 1
        }
      }
      if fixed < current.count, let key = current[fixed] { low = key }
      place = fixed + 1
    }
    return changes
  }

  private static func renumber(_ current: [Int64?]) -> [(place: Int, key: Int64)] {
    current.indices.compactMap { place in
      let key = Int64(place + 1) * spacing
      return current[place] == key ? nil : (place, key)
    }
  }

  /// Places of a longest strictly rising run of positive keys.
  private static func risingPlaces(_ keys: [Int64?]) -> [Int] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: keys.count)
    for (place, key) in keys.enumerated() {
      guard let key, key > 0 else { continue }
      var low = 0, high = tails.count
      while low < high {
        let middle = (low + high) / 2
        if (keys[tails[middle]] ?? 0) < key { low = middle + 1 } else { high = middle }
      }
      previous[place] = low > 0 ? tails[low - 1] : -1
      if low == tails.count { tails.append(place) } else { tails[low] = place }
    }
    var run: [Int] = []
    var place = tails.last ?? -1
    while place >= 0 {
      run.append(place)
      place = previous[place]
    }
    return run.reversed()
  }
}
