import Testing

@testable import QuireCore

@Suite("Sectioned index: random histories")
struct SectionedIndexHistoryTests {
  private struct Shape: CustomTestStringConvertible, Sendable {
    var seed: UInt64
    var isSectioned: Bool
    var ids: Int
    var sectionNames: Int
    var rowNames: Int
    var largestBatch: Int
    var batches: Int
    var testDescription: String { "seed \(seed), \(ids) ids, \(sectionNames) section names" }
  }

  private static let shapes: [Shape] =
    [
      Shape(
        seed: 1, isSectioned: true, ids: 12, sectionNames: 4, rowNames: 6, largestBatch: 6,
        batches: 8000),
      Shape(
        seed: 2, isSectioned: false, ids: 12, sectionNames: 1, rowNames: 8, largestBatch: 8,
        batches: 5000),
      Shape(
        seed: 3, isSectioned: true, ids: 60, sectionNames: 12, rowNames: 5, largestBatch: 20,
        batches: 4000),
      Shape(
        seed: 4, isSectioned: false, ids: 90, sectionNames: 1, rowNames: 40, largestBatch: 4,
        batches: 3000),
      Shape(
        seed: 5, isSectioned: true, ids: 150, sectionNames: 60, rowNames: 9, largestBatch: 60,
        batches: 1500),
      Shape(
        seed: 6, isSectioned: true, ids: 200, sectionNames: 2, rowNames: 99, largestBatch: 9,
        batches: 1500),
    ]
    + Dice.seeds(1).map {
      Shape(
        seed: $0, isSectioned: true, ids: 30, sectionNames: 8, rowNames: 6, largestBatch: 12, batches: 3000)
    }

  @Test(
    "Every batch replays, moves as little as possible, and leaves a sound index", arguments: shapes)
  private func history(_ shape: Shape) throws {
    print("sectioned index history: \(shape.testDescription)")
    var dice = Dice(seed: shape.seed)
    var model = ListModel(isSectioned: shape.isSectioned)
    let index = SectionedIndex(
      isSectioned: shape.isSectioned, rowsPerBlock: 2 + Int(shape.seed % 4))
    for batch in 0..<shape.batches {
      if dice.roll(200) == 0 { index.load(model.rows.map { (id: $0.id, key: $0.key) }) }
      let old = model
      let changes = randomBatch(shape, model, &dice)
      model.apply(changes)
      let set = index.apply(changes)
      let context = "batch \(batch) of \(shape.testDescription)"
      try check(index, equals: model, context)
      try check(set, from: old, to: model, touched: Set(changes.map(\.id)), context)
    }
  }

  @Test(
    "The difference of two lists replays with the fewest moves, with and without sections",
    arguments: shapes)
  private func difference(_ shape: Shape) throws {
    print("list difference: \(shape.testDescription)")
    var dice = Dice(seed: shape.seed)
    var model = ListModel(isSectioned: shape.isSectioned)
    var index = SectionedIndex(isSectioned: shape.isSectioned, rowsPerBlock: 3)
    for batch in 0..<shape.batches / 5 {
      let old = model
      let changes = randomBatch(shape, model, &dice)
      model.apply(changes)
      if dice.roll(10) == 0 { model.isSectioned.toggle() }
      let next = SectionedIndex(isSectioned: model.isSectioned, rowsPerBlock: 3)
      next.load(model.rows.map { (id: $0.id, key: $0.key) })
      let updated = Set(changes.map(\.id))
      let set = ChangeSet.difference(from: ListSnapshot(index), to: ListSnapshot(next), updated: updated)
      let context = "batch \(batch) of \(shape.testDescription)"
      try checkReplay(set, from: old, to: model, context)

      // Here any row may move, so that all of them count as touched.
      let stayed = Set(old.keys.keys.filter { model.keys[$0] != nil })
      var kept = 0
      for section in old.sections {
        guard let after = model.sections.first(where: { $0.order == section.order }) else {
          continue
        }
        kept += mostKept(section.ids, after.ids, touched: stayed)
      }
      let moved = Set(set.changes.filter { $0.kind == .move }.map(\.id))
      try #require(moved.count == stayed.count - kept, "moves, \(context)")
      let updates = Set(set.changes.filter { $0.kind == .update }.map(\.id))
      try #require(
        updates == updated.intersection(stayed).subtracting(moved), "updates, \(context)")
      index = next
    }
  }

  /// Some batches favour deletes and some inserts, so that lists and sections fill up and drain.
  private func randomBatch(_ shape: Shape, _ model: ListModel, _ dice: inout Dice) -> [RowChange] {
    let bias = dice.roll(10)
    return (0..<(1 + dice.roll(shape.largestBatch))).map { _ in
      let id = Int64(dice.roll(shape.ids)) - Int64(shape.ids / 4)
      let known = model.keys[id]
      switch dice.roll(10) {
      case 0..<2 where known != nil: return RowChange(id: id, newKey: known)
      case ...bias:
        let section = "s\(dice.roll(shape.sectionNames))"
        return RowChange(
          id: id, newKey: ListModel.key(section, "r\(dice.roll(shape.rowNames))", id: id))
      case 8 where known != nil:
        let section = known?.section.name.string ?? ""
        return RowChange(
          id: id, newKey: ListModel.key(section, "r\(dice.roll(shape.rowNames))", id: id))
      default: return RowChange(id: id, newKey: nil)
      }
    }
  }

  private func check(_ index: SectionedIndex, equals model: ListModel, _ context: String) throws {
    let problems = index.checkInvariants()
    try #require(problems.isEmpty, "\(context): \(problems)")
    let sections = model.sections
    let ids = sections.flatMap(\.ids)
    try #require(index.ids(in: 0..<ids.count + 1) == ids, "\(context)")
    try #require(index.count == ids.count && index.sectionCount == sections.count, "\(context)")
    // One expectation for all rows: an expectation takes as long as hundreds of lookups.
    var differences: [String] = []
    var flat = 0
    for (position, section) in sections.enumerated() {
      let found = index.section(at: position)
      if found?.start != flat || found?.count != section.ids.count { differences.append("section \(position)") }
      for (row, id) in section.ids.enumerated() {
        let path = IndexPath(section: position, row: row)
        let place = index.path(of: id)
        let agrees =
          place?.path == path && place?.flat == flat && index.id(at: path) == id && index.id(atFlat: flat) == id
          && index.sectionIndex(containingFlat: flat) == position && index.key(of: id)?.order == model.keys[id]?.order
        if !agrees { differences.append("row \(flat)") }
        flat += 1
      }
      if index.id(at: IndexPath(section: position, row: section.ids.count)) != nil {
        differences.append("behind the rows of section \(position)")
      }
    }
    try #require(differences.isEmpty, "\(context): \(differences)")
    if ids.count > 2 {
      try #require(index.ids(in: 1..<ids.count - 1) == Array(ids[1..<ids.count - 1]))
    }
  }

  private func check(
    _ set: ChangeSet, from old: ListModel, to new: ListModel, touched: Set<Int64>,
    _ context: String
  ) throws {
    try checkReplay(set, from: old, to: new, context)
    let oldSections = old.sections
    let newSections = new.sections

    // Each touched row that is in either list is reported once, and no other row.
    let reported = set.changes.map(\.id)
    let expected = touched.filter { old.keys[$0] != nil || new.keys[$0] != nil }
    try #require(reported.count == expected.count && Set(reported) == expected, "\(context)")

    let stayed = touched.filter { old.keys[$0] != nil && new.keys[$0] != nil }
    var kept = 0
    for section in oldSections {
      guard let after = newSections.first(where: { $0.order == section.order }) else { continue }
      kept += mostKept(section.ids, after.ids, touched: touched)
    }
    let moves = set.changes.count { $0.kind == .move }
    try #require(moves == stayed.count - kept, "moves, \(context)")
  }

  private func checkReplay(
    _ set: ChangeSet, from old: ListModel, to new: ListModel, _ context: String
  ) throws {
    let oldSections = old.sections
    let newSections = new.sections
    let oldLists = oldSections.map(\.ids)
    let newLists = newSections.map(\.ids)
    try #require(Replay.classic(set, on: oldLists) == newLists, "classic replay, \(context)")
    try #require(Replay.linear(set.steps, on: oldLists) == newLists, "linear replay, \(context)")
    let updateSteps = set.steps.filter { $0.kind == .updateRow }.map(\.id)
    let updated = set.changes.filter { $0.kind == .update || $0.kind == .move }
    let expected = updated.sorted { $0.newFlat < $1.newFlat }.map(\.id)
    try #require(updateSteps == expected, "update steps, \(context)")
    try checkPositions(set, oldLists.flatMap { $0 }, newLists.flatMap { $0 }, context)
    try checkOrder(set, context)

    let oldOrders = oldSections.map(\.order)
    let newOrders = newSections.map(\.order)
    let deletes = set.sectionChanges.filter { $0.kind == .delete }
    let inserts = set.sectionChanges.filter { $0.kind == .insert }
    try #require(
      deletes.map(\.index).reversed()
        == oldOrders.indices.filter { !newOrders.contains(oldOrders[$0]) },
      "section deletes, \(context)")
    try #require(
      inserts.map(\.index) == newOrders.indices.filter { !oldOrders.contains(newOrders[$0]) },
      "section inserts, \(context)")
    for change in deletes {
      let name = old.isSectioned ? old.keys[oldLists[change.index][0]]?.section.name : ""
      try #require(change.name == name, "section name, \(context)")
    }
    for change in inserts {
      let name = new.isSectioned ? new.keys[newLists[change.index][0]]?.section.name : ""
      try #require(change.name == name, "section name, \(context)")
    }
  }

  private func checkPositions(_ set: ChangeSet, _ old: [Int64], _ new: [Int64], _ context: String)
    throws
  {
    let newFlats = Dictionary(uniqueKeysWithValues: zip(new, new.indices))
    let oldFlats = Dictionary(uniqueKeysWithValues: zip(old, old.indices))
    for (flat, id) in old.enumerated() {
      try #require(set.mapPosition(oldFlat: flat) == newFlats[id], "position \(flat), \(context)")
    }
    for (flat, id) in new.enumerated() {
      try #require(
        set.mapPosition(newFlat: flat) == oldFlats[id], "new position \(flat), \(context)")
    }
    for beyond in [-1, Int.min, Int.max] {
      try #require(
        set.mapPosition(oldFlat: beyond) == nil && set.mapPosition(newFlat: beyond) == nil)
    }
    try #require(
      set.mapPosition(oldFlat: old.count) == nil && set.mapPosition(newFlat: new.count) == nil)
    for change in set.changes {
      try #require(change.oldFlat == oldFlats[change.id] ?? -1, "\(context)")
      try #require(change.newFlat == newFlats[change.id] ?? -1, "\(context)")
    }
  }

  private func checkOrder(_ set: ChangeSet, _ context: String) throws {
    func key(_ change: Change) -> [Int] {
      switch change.kind {
      case .delete: [0, -change.oldSection, -change.oldRow]
      case .insert: [1, change.newSection, change.newRow]
      case .move: [2, change.newSection, change.newRow]
      case .update: [3, change.newSection, change.newRow]
      }
    }
    let keys = set.changes.map(key)
    let sectionKeys = set.sectionChanges.map {
      $0.kind == .delete ? [0, -$0.index] : [1, $0.index]
    }
    try #require(
      zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }, "\(context)")
    try #require(
      zip(sectionKeys, sectionKeys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) },
      "\(context)")
  }

  /// How many touched rows a common subsequence can hold that holds every untouched row: the
  /// textbook table, in which an untouched row outweighs all touched ones.
  private func mostKept(_ old: [Int64], _ new: [Int64], touched: Set<Int64>) -> Int {
    let heavy = old.count + 1
    var table = [[Int]](repeating: [Int](repeating: 0, count: new.count + 1), count: old.count + 1)
    for row in old.indices {
      for column in new.indices {
        var best = max(table[row][column + 1], table[row + 1][column])
        if old[row] == new[column] {
          best = max(best, table[row][column] + (touched.contains(old[row]) ? 1 : heavy))
        }
        table[row + 1][column + 1] = best
      }
    }
    return table[old.count][new.count] % heavy
  }
}
