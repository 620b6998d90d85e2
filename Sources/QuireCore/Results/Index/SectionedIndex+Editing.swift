/// Single edits of the structure. A section they empty stays, so that a batch may fill it again.
extension SectionedIndex {
  static let largestKeyBytes = 1 << 16
  private static let fewestRowsToSplit = 8

  func removeAll() {
    sectionOrder = CountedForest()
    sectionRoot = CountedForest.none
    sections = []
    blockOrder = CountedForest()
    blocks = []
    blockOfRow = RowMap()
    cached = UnloadedIndex()
    #if QUIRE_CHECKS
      isFromFile = false
    #endif
    if !isSectioned { _ = insertSection(.unsectioned, after: CountedForest.none) }
    var previous = CountedForest.none
    for key in fixed {
      previous = insertSection(key, after: previous)
      sections[Int(previous)].isFixed = true
    }
  }

  // MARK: Sections

  /// The section with this key, made when there is none.
  func section(for key: SectionKey) -> (section: Handle, isNew: Bool) {
    guard isSectioned else { return (sectionRoot, false) }
    let previous = sectionOrder.last(in: sectionRoot) { !(key.order < self.key(of: $0).order) }
    if previous >= 0, self.key(of: previous) == key { return (previous, false) }
    return (insertSection(key, after: previous), true)
  }

  func insertSection(_ key: SectionKey, after previous: Handle) -> Handle {
    let section = sectionOrder.allocate(weight: 0)
    if Int(section) == sections.count {
      sections.append(Section(made: key))
    } else {
      sections[Int(section)] = Section(made: key)
    }
    sectionOrder.insert(section, after: previous, root: &sectionRoot)
    return section
  }

  /// Takes out a section without rows.
  func removeSection(_ section: Handle) {
    assert(sectionOrder.ownWeight(of: section) == 0)
    sectionOrder.remove(section, root: &sectionRoot)
    sections[Int(section)] = Section(made: .unsectioned)
  }

  // MARK: Rows

  func insertRow(_ id: Int64, _ key: SortKey, into section: Handle) {
    assert(!contains(id), "The row is in the list already.")
    let root = sections[Int(section)].blocks
    var block = blockOrder.last(in: root) { self[$0].order(of: 0, against: key) <= 0 }
    if block < 0 { block = blockOrder.first(of: root) }
    if block < 0 {
      block = insertBlock(RowBlock(section: section), after: CountedForest.none)
    }
    self[block].insert(id, key, at: self[block].lowerBound(of: key))
    blockOrder.add(1, to: block)
    sectionOrder.add(1, to: section)
    blockOfRow.set(block, for: id)
    splitIfFull(block)
  }

  func removeRow(at offset: Int, of block: Handle) {
    assert(blockOfRow[self[block].ids[offset]] == block, "The row map has another block.")
    blockOfRow.remove(self[block].ids[offset])
    self[block].remove(at: offset)
    blockOrder.add(-1, to: block)
    sectionOrder.add(-1, to: self[block].section)
    if self[block].ids.isEmpty {
      removeBlock(block)
    } else if self[block].ids.count <= rowsPerBlock / 4 {
      join(block)
    }
  }

  // MARK: Blocks

  /// Adds a block with its rows to its section; the row map and the section's weight are the
  /// caller's.
  func insertBlock(_ block: RowBlock, after previous: Handle) -> Handle {
    let handle = blockOrder.allocate(weight: block.ids.count)
    if Int(handle) == blocks.count { blocks.append(block) } else { blocks[Int(handle)] = block }
    blockOrder.insert(handle, after: previous, root: &sections[Int(block.section)].blocks)
    return handle
  }

  private func removeBlock(_ block: Handle) {
    let section = self[block].section
    blockOrder.remove(block, root: &sections[Int(section)].blocks)
    blocks[Int(block)] = RowBlock(section: CountedForest.none)
  }

  private func splitIfFull(_ block: Handle) {
    let count = self[block].ids.count
    let hasLongKeys =
      count >= SectionedIndex.fewestRowsToSplit
      && self[block].keys.byteCount > SectionedIndex.largestKeyBytes
    guard count >= rowsPerBlock * 2 || hasLongKeys else { return }
    let upper = self[block].split(at: count / 2)
    blockOrder.add(-upper.ids.count, to: block)
    let added = insertBlock(upper, after: block)
    for id in upper.ids { blockOfRow.set(added, for: id) }
  }

  /// Joins a small block with a neighbour when the two make no more than a loaded block.
  private func join(_ block: Handle) {
    for (left, right) in [
      (block, blockOrder.next(after: block)), (blockOrder.previous(before: block), block),
    ] {
      guard left >= 0, right >= 0,
        self[left].ids.count + self[right].ids.count <= rowsPerBlock,
        self[left].keys.byteCount + self[right].keys.byteCount <= SectionedIndex.largestKeyBytes
      else { continue }
      let rows = self[right]
      removeBlock(right)
      self[left].append(contentsOf: rows)
      blockOrder.add(rows.ids.count, to: left)
      for id in rows.ids { blockOfRow.set(left, for: id) }
      return
    }
  }
}
