extension SectionedIndex {
  /// Replaces everything, in O(N) for rows in order. A row out of order is put where it belongs; of
  /// rows with the same id one stays.
  func load(_ rows: some Sequence<(id: Int64, key: RowKey)>) {
    let loader = Loader(self)
    for (id, key) in rows { loader.add(id, key) }
    loader.finish()
  }

  /// Replaces everything, row by row.
  final class Loader {
    private let index: SectionedIndex
    private var strays: [(id: Int64, key: RowKey)] = []
    private var largest: Int64 = 0

    // The section of the rows that come.
    private var key = SectionKey.unsectioned
    private var section = CountedForest.none
    private var rowsOfSection = 0
    /// Whether others of later sections came before.
    private var isBehind = false
    /// Whether the row before was out of order.
    private var isStray = false
    /// How many rows each block of the section has.
    private var blockCounts = ContiguousArray<Int>()
    /// How many rows each section has, where all begin without any.
    private var sectionCounts = ContiguousArray<Int>()

    /// Of the last row in order; with the tie-break of a row before it where those between differ in that alone.
    private var lastOrder = SortKey()
    private var lastID: Int64 = -1

    // The block of the rows that come.
    private var ids = ContiguousArray<Int64>()
    private var bytes = ContiguousArray<UInt8>()
    /// Rows with the same key but for the tie-break: the first of them, and where their key begins in `bytes`.
    private var runs: [(row: Int, start: Int)] = []
    private var hasIDs = true

    init(_ index: SectionedIndex) {
      self.index = index
      start()
    }

    /// Forgets what has come.
    func start() {
      index.removeAll()
      strays = []
      section = index.isSectioned ? CountedForest.none : index.sectionRoot
      (rowsOfSection, isBehind, isStray, hasIDs) = (0, false, false, true)
      (blockCounts, sectionCounts) = ([], [])
      (ids, bytes, runs) = ([], [], [])
    }

    func add(_ id: Int64, _ key: RowKey) {
      if index.isSectioned, section < 0 || self.key != key.section { begin(key.section) }
      add(id, key.order)
    }

    /// The rows that come are of that section.
    func begin(_ key: SectionKey) {
      let previous = section < 0 ? nil : index.key(of: section)
      isBehind = previous.map { key.order < $0.order } ?? false
      if !isBehind, previous != key { endSection() }
      self.key = key
      if isBehind || previous == key { return }
      if index.fixed.isEmpty {
        section = Handle(index.sections.count)
        index.sections.append(Section(made: key))
      } else {
        section = index.section(for: key).section
      }
    }

    /// Adds a row of the section; false where it comes out of order.
    @_optimize(speed)
    @discardableResult
    func add(_ id: Int64, _ order: SortKey) -> Bool {
      if rowsOfSection > 0, hasIDs { lastOrder.replace(tieBreak: lastID) }
      if isBehind || rowsOfSection > 0 && !(lastOrder < order) {
        strays.append((id, RowKey(section: key, order: order)))
        isStray = true
        return false
      }
      let endsWithID = order.ends(withTieBreak: id)
      if endsWithID != hasIDs || bytes.count > SectionedIndex.largestKeyBytes {
        flush()
        hasIDs = endsWithID
      }
      isStray = false
      lastOrder.take(order)
      addRun()
      put(id)
      return true
    }

    /// Adds a row whose key is that of the row before, but for the tie-break; false where it does not come next.
    @_optimize(speed)
    func addRepeated(_ id: Int64) -> Bool {
      if isStray || rowsOfSection == 0 || !hasIDs || lastID < 0 || id <= lastID { return false }
      if runs.isEmpty { addRun() }
      put(id)
      return true
    }

    private func addRun() {
      runs.append((ids.count, bytes.count))
      bytes.append(contentsOf: lastOrder.bytes)
      if hasIDs { bytes.removeLast(SortKey.tieBreakSize) }
    }

    @inline(__always)
    private func put(_ id: Int64) {
      ids.append(id)
      lastID = id
      if id > largest { largest = id }
      rowsOfSection += 1
      if ids.count >= index.rowsPerBlock { flush() }
    }

    func finish() {
      endSection()
      if index.isSectioned, index.fixed.isEmpty { index.sectionRoot = index.sectionOrder.makeSequence(sectionCounts) }
      guard index.mapRows(largest: largest) else {
        var seen: Set<Int64> = []
        return index.load((index.allRows() + strays).filter { seen.insert($0.id).inserted })
      }
      for row in strays where !index.contains(row.id) {
        index.insertRow(row.id, row.key.order, into: index.section(for: row.key.section).section)
      }
    }

    private func endSection() {
      flush()
      if section < 0 { return }
      // The handles of trees and the places in the arrays are assigned together.
      if rowsOfSection > 0 { index.sections[Int(section)].blocks = index.blockOrder.makeSequence(blockCounts) }
      blockCounts.removeAll(keepingCapacity: true)
      if index.isSectioned, index.fixed.isEmpty {
        sectionCounts.append(rowsOfSection)
      } else {
        index.sectionOrder.add(rowsOfSection, to: section)
      }
      rowsOfSection = 0
    }

    private func flush() {
      if ids.isEmpty { return }
      index.blocks.append(RowBlock(section: section, ids: exactly(ids), keys: packedKeys()))
      blockCounts.append(ids.count)
      ids.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
      runs.removeAll(keepingCapacity: true)
    }

    /// The keys of the block in memory of exactly their size.
    private func packedKeys() -> PackedKeys {
      func end(_ run: Int) -> Int { run + 1 < runs.count ? runs[run + 1].start : bytes.count }
      // In order, so that all have in common what the first and the last have.
      let last = runs.count - 1
      var common = 0
      while common < end(0), runs[last].start + common < end(last), bytes[common] == bytes[runs[last].start + common] {
        common += 1
      }
      var shared = key.order
      if shared.bytes.count != common || !shared.bytes.elementsEqual(bytes[..<common]) {
        shared = SortKey(bytes: ContiguousArray(bytes[..<common]))
      }
      let width = end(0) - common
      let isUniform = runs.indices.allSatisfy { end($0) - runs[$0].start == width + common }
      var pieces = ContiguousArray<UInt8>()
      var ends = ContiguousArray<Int>()
      if !isUniform || width > 0 {
        for run in runs.indices {
          for _ in runs[run].row..<(run < last ? runs[run + 1].row : ids.count) {
            pieces.append(contentsOf: bytes[(runs[run].start + common)..<end(run)])
            if !isUniform { ends.append(pieces.count) }
          }
        }
      }
      return PackedKeys(
        shared: shared, bytes: exactly(pieces), ends: exactly(ends), width: width, hasIDs: hasIDs)
    }

    /// The same in memory of exactly its size.
    private func exactly<Element>(_ elements: ContiguousArray<Element>) -> ContiguousArray<Element> {
      var copy = ContiguousArray<Element>()
      if !elements.isEmpty { copy.reserveCapacity(elements.count) }
      copy.append(contentsOf: elements)
      return copy
    }
  }

  /// Fills the row map from the blocks; false when two rows have one id.
  private func mapRows(largest: Int64) -> Bool {
    blockOfRow.reserve(count: count, largest: largest)
    for block in blocks.indices { blockOfRow.set(Handle(block), for: self[Handle(block)].ids) }
    return blockOfRow.count == count
  }

  private func allRows() -> [(id: Int64, key: RowKey)] {
    blocks.indices.map { self[Handle($0)] }.flatMap { block in
      block.ids.indices.map { row in
        (block.ids[row], RowKey(section: key(of: block.section), order: block.key(at: row)))
      }
    }
  }
}
