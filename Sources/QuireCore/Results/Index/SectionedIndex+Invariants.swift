extension SectionedIndex {
  /// Stops a build with QUIRE_CHECKS when a change has broken the index. Longer lists are left to tests.
  @inline(__always)
  func checkAfterChange() {
    #if QUIRE_CHECKS
      if count > 2_000 || isFromFile { return }
      let problems = checkInvariants()
      checkInvariant(problems.isEmpty, problems.joined(separator: " "))
    #endif
  }

  /// Every broken structural promise as a sentence; empty when the index is sound. O(N), for tests and checks.
  func checkInvariants() -> [String] {
    var problems = sectionOrder.checkInvariants(root: sectionRoot).map { "Sections: \($0)" }
    if !isSectioned, sectionCount != 1 {
      problems.append("An unsectioned list has \(sectionCount) sections.")
    }
    var seen = 0
    var previousKey: SectionKey?
    var section = sectionOrder.first(of: sectionRoot)
    while section >= 0 {
      let key = peek(section: section)
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
    return problems + checkCache()
  }

  private func checkSection(_ section: Handle, _ problems: inout [String]) -> Int {
    let root = sections[Int(section)].blocks
    problems += blockOrder.checkInvariants(root: root).map { "Blocks of section \(section): \($0)" }
    var count = 0
    var previous: SortKey?
    var block = blockOrder.first(of: root)
    while block >= 0 {
      let rows = peek(block: block), ids = rows.ids
      if ids.isEmpty || ids.count >= rowsPerBlock * 2 {
        problems.append("Block \(block) has \(ids.count) rows.")
      }
      if !rows.keys.holds(ids.count) {
        problems.append("Block \(block) does not have \(ids.count) keys for as many rows.")
      }
      if ids.count != blockOrder.ownWeight(of: block) {
        problems.append("Block \(block) has a wrong weight.")
      }
      if rows.section != section {
        problems.append("Block \(block) names another section.")
      }
      for (offset, id) in ids.enumerated() {
        if blockOfRow[id] != block {
          problems.append("The row map has block \(blockOfRow[id]) for row \(id).")
        }
        let key = rows.key(at: offset)
        if let previous, !(previous < key) {
          problems.append("Row \(id) is not after the row before it.")
        }
        previous = key
      }
      count += ids.count
      block = blockOrder.next(after: block)
    }
    return count
  }

  private func checkCache() -> [String] {
    cached.rests.compactMap { all, rest in
      let found = all.count { blocks[$0] == nil }
      return found == rest ? nil : "The cache has \(rest) of the blocks \(all), of which \(found) have not been made."
    }
  }

  /// As the subscript, but nothing is made for good.
  private func peek(block: Handle) -> RowBlock {
    blocks[Int(block)] ?? cached.block(Int(block), in: peek(section: section(of: block)).order)
  }

  private func peek(section: Handle) -> SectionKey { sections[Int(section)].made ?? cached.section(Int(section)) }
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
