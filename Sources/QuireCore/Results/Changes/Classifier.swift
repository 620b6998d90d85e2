/// Decides what each touched row of a batch is: insert, delete, move or update. O(k log k).
///
/// Untouched rows keep their order, so they divide every section into gaps. A touched row that is in the same gap of
/// the same section as before has at most changed places with other touched rows of that gap. The longest run of those
/// that kept its order are updates, and no report with fewer moves exists.
enum Classifier {
  /// Sets every row's kind, and returns the changes in their documented order. `names` says what to name of a row, by
  /// its place among them, if it stays in the list.
  static func classify(_ rows: inout [TouchedRow], names: (Int) -> [Text] = { _ in [] }) -> [Change] {
    let oldOrder = order(of: rows) { $0.old }
    let newOrder = order(of: rows) { $0.new }
    let oldGaps = gaps(of: oldOrder, total: rows.count) { rows[$0].old }
    let newGaps = gaps(of: newOrder, total: rows.count) { rows[$0].new }

    for index in rows.indices {
      switch (rows[index].old, rows[index].new) {
      case (nil, nil): rows[index].kind = nil
      case (nil, _): rows[index].kind = .insert
      case (_, nil): rows[index].kind = .delete
      case (let old?, let new?):
        let staysInGap = old.identity == new.identity && oldGaps[index] == newGaps[index]
        rows[index].kind = staysInGap ? .update : .move
      }
    }
    settleGaps(&rows, newOrder: newOrder, newGaps: newGaps)
    return report(rows, oldOrder: oldOrder, newOrder: newOrder, names)
  }

  /// The rows that have such a place, by it.
  private static func order(of rows: [TouchedRow], _ place: (TouchedRow) -> TouchedRow.Place?) -> [Int] {
    var order: [(flat: Int, index: Int)] = []
    order.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      if let place = place(row) { order.append((place.flat, index)) }
    }
    order.sort { $0.flat < $1.flat }
    return order.map(\.index)
  }

  /// For each row, how many untouched rows stand before it in its section.
  private static func gaps(
    of order: [Int], total: Int, place: (Int) -> TouchedRow.Place?
  ) -> [Int] {
    var result = [Int](repeating: -1, count: total)
    var section = CountedForest.none
    var touchedBefore = 0
    for index in order {
      guard let place = place(index) else { continue }
      if place.identity != section {
        section = place.identity
        touchedBefore = 0
      }
      result[index] = place.row - touchedBefore
      touchedBefore += 1
    }
    return result
  }

  /// Turns the rows of each gap that lost their order among themselves into moves.
  private static func settleGaps(_ rows: inout [TouchedRow], newOrder: [Int], newGaps: [Int]) {
    var group: [Int] = []
    var section = CountedForest.none
    var gap = -1
    func settle(_ rows: inout [TouchedRow]) {
      defer { group.removeAll(keepingCapacity: true) }
      guard group.count > 1 else { return }
      let keeps = longestIncreasingRun(of: group.map { rows[$0].old?.flat ?? 0 })
      for (position, index) in group.enumerated() where !keeps[position] {
        rows[index].kind = .move
      }
    }
    for index in newOrder where rows[index].kind == .update {
      guard let place = rows[index].new else { continue }
      if place.identity != section || newGaps[index] != gap {
        settle(&rows)
        section = place.identity
        gap = newGaps[index]
      }
      group.append(index)
    }
    settle(&rows)
  }

  /// Which elements belong to one longest increasing subsequence of `values`, all different. O(n
  /// log n).
  static func longestIncreasingRun(of values: [Int]) -> [Bool] {
    // tails[length] is where the run of that length + 1 with the smallest end ends.
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: values.count)
    for (index, value) in values.enumerated() {
      let length = tails.partitionPoint { values[$0] < value }
      if length > 0 { previous[index] = tails[length - 1] }
      if length == tails.count { tails.append(index) } else { tails[length] = index }
    }
    var belongs = [Bool](repeating: false, count: values.count)
    var index = tails.last ?? -1
    while index >= 0 {
      belongs[index] = true
      index = previous[index]
    }
    return belongs
  }

  private static func report(
    _ rows: [TouchedRow], oldOrder: [Int], newOrder: [Int], _ names: (Int) -> [Text]
  ) -> [Change] {
    var changes: [Change] = []
    changes.reserveCapacity(rows.count)
    for index in oldOrder.reversed() where rows[index].kind == .delete {
      if let change = rows[index].change { changes.append(change) }
    }
    for kind in [Change.Kind.insert, .move, .update] {
      for index in newOrder
      where rows[index].kind == kind && (kind != .update || rows[index].isUpdated) {
        if var change = rows[index].change {
          if kind != .insert { change.keys = names(index) }
          changes.append(change)
        }
      }
    }
    return changes
  }
}
