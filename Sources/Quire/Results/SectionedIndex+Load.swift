extension SectionedIndex {
  /// Replaces everything, in O(N) for rows in order. A row out of order is put where it belongs; of
  /// rows with the same id one stays.
  func load(_ rows: some Sequence<(id: Int64, key: RowKey)>) {
    var loader = Loader(self)
    for row in rows { loader.add(row.id, row.key) }
    loader.finish()
  }

  /// Replaces everything, row by row.
  struct Loader {
    private let index: SectionedIndex
    private var strays: [(id: Int64, key: RowKey)] = []
    private var section: Handle
    private var lastBlock = CountedForest.none
    private var lastOrder = SortKey()
    private var largest: Int64 = 0
    private var pending: RowBlock
    private var isFirstOfSection = true

    init(_ index: SectionedIndex) {
      index.removeAll()
      self.index = index
      section = index.isSectioned ? CountedForest.none : index.sectionRoot
      pending = RowBlock(section: section)
    }

    mutating func add(_ id: Int64, _ key: RowKey) {
      if index.isSectioned, section < 0 || index.sections[Int(section)].key != key.section {
        if section >= 0, key.section.order < index.sections[Int(section)].key.order {
          strays.append((id, key))
          return
        }
        flush()
        section =
          index.fixed.isEmpty
          ? index.insertSection(key.section, after: section) : index.section(for: key.section).section
        lastBlock = CountedForest.none
        isFirstOfSection = true
      } else if !isFirstOfSection, !(lastOrder < key.order) {
        strays.append((id, key))
        return
      }
      pending.ids.append(id)
      pending.keys.append(key.order)
      lastOrder.take(key.order)
      largest = max(largest, id)
      isFirstOfSection = false
      if pending.ids.count >= index.rowsPerBlock { flush() }
    }

    mutating func finish() {
      flush()
      guard index.mapRows(largest: largest) else {
        var seen: Set<Int64> = []
        return index.load((index.allRows() + strays).filter { seen.insert($0.id).inserted })
      }
      for row in strays where !index.contains(row.id) {
        index.insertRow(row.id, row.key.order, into: index.section(for: row.key.section).section)
      }
    }

    private mutating func flush() {
      guard !pending.ids.isEmpty else { return }
      pending.section = section
      lastBlock = index.insertBlock(pending.compacted(), after: lastBlock)
      index.sectionOrder.add(pending.ids.count, to: section)
      pending.removeAll()
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
