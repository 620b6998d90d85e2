extension SectionedIndex {
  /// Every broken structural promise as a sentence; empty when the index is sound. O(N), for tests.
  func checkInvariants() -> [String] {
    var problems = sectionOrder.checkInvariants(root: sectionRoot).map { "Sections: \($0)" }
    if !isSectioned, sectionCount != 1 {
      problems.append("An unsectioned list has \(sectionCount) sections.")
    }
    var seen = 0
    var previousKey: SectionKey?
    var section = sectionOrder.first(of: sectionRoot)
    while section >= 0 {
      let key = sections[Int(section)].key
      if let previousKey, !(previousKey.order < key.order) {
        problems.append("Section \(key.name) does not come after section \(previousKey.name).")
      }
      previousKey = key
      let rows = checkSection(section, &problems)
      if isSectioned, rows == 0, !sections[Int(section)].isFixed { problems.append("Section \(key.name) is empty.") }
      if rows != sectionOrder.ownWeight(of: section) {
        problems.append(
          "Section \(key.name) counts \(sectionOrder.ownWeight(of: section)) rows and has \(rows).")
      }
      seen += rows
      section = sectionOrder.next(after: section)
    }
    if seen != count { problems.append("The list counts \(count) rows and has \(seen).") }
    if blockOfRow.count != seen {
      problems.append("The row map has \(blockOfRow.count) entries for \(seen) rows.")
    }
    return problems
  }

  private func checkSection(_ section: Handle, _ problems: inout [String]) -> Int {
    let root = sections[Int(section)].blocks
    problems += blockOrder.checkInvariants(root: root).map { "Blocks of section \(section): \($0)" }
    var rows = 0
    var previous: SortKey?
    var block = blockOrder.first(of: root)
    while block >= 0 {
      let ids = blocks[Int(block)].ids
      if ids.isEmpty || ids.count >= rowsPerBlock * 2 {
        problems.append("Block \(block) has \(ids.count) rows.")
      }
      if !blocks[Int(block)].keys.holds(ids.count) {
        problems.append("Block \(block) does not have \(ids.count) keys for as many rows.")
      }
      if ids.count != blockOrder.ownWeight(of: block) {
        problems.append("Block \(block) has a wrong weight.")
      }
      if blocks[Int(block)].section != section {
        problems.append("Block \(block) names another section.")
      }
      for (offset, id) in ids.enumerated() {
        if blockOfRow[id] != block {
          problems.append("The row map has block \(blockOfRow[id]) for row \(id).")
        }
        let key = blocks[Int(block)].key(at: offset)
        if let previous, !(previous < key) {
          problems.append("Row \(id) is not after the row before it.")
        }
        previous = key
      }
      rows += ids.count
      block = blockOrder.next(after: block)
    }
    return rows
  }
}

extension CountedForest {
  /// Every broken promise of one sequence as a sentence; empty when it is sound. O(n), for tests.
  func checkInvariants(root: Handle) -> [String] {
    guard root >= 0 else { return [] }
    var problems: [String] = []
    if nodes[Int(root)].parent >= 0 { problems.append("The root \(root) has a parent.") }
    var pending = [root]
    while let handle = pending.popLast() {
      let node = nodes[Int(handle)]
      for child in [node.left, node.right] where child >= 0 {
        if nodes[Int(child)].parent != handle {
          problems.append("Node \(child) has a wrong parent.")
        }
        if nodes[Int(child)].priority > node.priority {
          problems.append("Node \(child) outranks its parent.")
        }
        pending.append(child)
      }
      if node.totalWeight != node.weight + weight(of: node.left) + weight(of: node.right) {
        problems.append("Node \(handle) has a wrong total weight.")
      }
      if node.totalCount != 1 + count(of: node.left) + count(of: node.right) {
        problems.append("Node \(handle) has a wrong total count.")
      }
      if freed.contains(handle) { problems.append("Node \(handle) is in use and freed.") }
    }
    return problems
  }
}
