extension SectionedIndex {
  /// Replaces everything, in O(N) for rows in order. A row out of order is put where it belongs; of
  /// rows with the same id one stays.
  func load(_ rows: some Sequence<(id: Int64, key: RowKey)>) {
    removeAll()
    var strays: [(id: Int64, key: RowKey)] = []
    var section = isSectioned ? CountedForest.none : sectionRoot
    var lastBlock = CountedForest.none
    var lastOrder = SortKey()
    var largest: Int64 = 0
    var pending = RowBlock(section: section)
    var isFirstOfSection = true

    func flush() {
      guard !pending.ids.isEmpty else { return }
      pending.section = section
      lastBlock = insertBlock(pending.compacted(), after: lastBlock)
      sectionOrder.add(pending.ids.count, to: section)
      pending.removeAll()
    }

    for row in rows {
      if isSectioned, section < 0 || sections[Int(section)].key != row.key.section {
        if section >= 0, row.key.section.order < sections[Int(section)].key.order {
          strays.append(row)
          continue
        }
        flush()
        section = insertSection(row.key.section, after: section)
        lastBlock = CountedForest.none
        isFirstOfSection = true
      } else if !isFirstOfSection, !(lastOrder < row.key.order) {
        strays.append(row)
        continue
      }
      pending.ids.append(row.id)
      pending.keys.append(row.key.order)
      lastOrder = row.key.order
      largest = max(largest, row.id)
      isFirstOfSection = false
      if pending.ids.count >= rowsPerBlock { flush() }
    }
    flush()
    guard mapRows(largest: largest) else {
      var seen: Set<Int64> = []
      return load((allRows() + strays).filter { seen.insert($0.id).inserted })
    }
    for row in strays where !contains(row.id) {
      insertRow(row.id, row.key.order, into: self.section(for: row.key.section).section)
    }
  }

  /// Fills the row map from the blocks; false when two rows have one id.
  private func mapRows(largest: Int64) -> Bool {
    blockOfRow.reserve(count: count, largest: largest)
    for block in blocks.indices {
      for id in blocks[block].ids { blockOfRow.set(Handle(block), for: id) }
    }
    return blockOfRow.count == count
  }

  private func allRows() -> [(id: Int64, key: RowKey)] {
    blocks.flatMap { block in
      block.ids.enumerated().map { offset, id in
        (id, RowKey(section: sections[Int(block.section)].key, order: block.keys[offset]))
      }
    }
  }
}
