/// The index in its cache, and out of it.
extension SectionedIndex {
  /// False for a list with rows or sections that no first fetch makes.
  func write(to file: inout CacheFile.Writer) -> Bool {
    guard fixed.isEmpty, let largest = blockOfRow.largestDense else { return false }
    var map = ContiguousArray<Handle>(repeating: 0, count: largest)
    var writer = UnloadedIndex.Writer()
    for (number, section) in sectionHandles().enumerated() {
      let key = key(of: section)
      if isSectioned, !writer.add(key) { return false }
      var block = blockOrder.first(of: sections[Int(section)].blocks)
      while block >= 0 {
        if !writer.add(self[block], in: number, key.order) { return false }
        for id in self[block].ids { map[Int(id)] = Handle(writer.blocks.count) }
        block = blockOrder.next(after: block)
      }
    }
    writer.write(map, to: &file)
    return true
  }

  /// Replaces everything by what `write` wrote; false, and anything in it, when that is damaged.
  func read(from file: CacheFile.Reader) -> Bool {
    removeAll()
    var rowCounts = ContiguousArray<Int>()
    var map = ContiguousArray<Handle>()
    guard fixed.isEmpty, let cached = UnloadedIndex(from: file, rowCounts: &rowCounts, map: &map),
      isSectioned || cached.sectionCount == 0, rowCounts.count < Int(Handle.max),
      let rows = RowMap(dense: map, of: rowCounts.count)
    else { return false }
    let sectionCount = isSectioned ? cached.sectionCount : 1
    sections.reserveCapacity(sectionCount)
    blocks.reserveCapacity(rowCounts.count)
    blockOrder.reserveCapacity(rowCounts.count)
    sectionOrder.reserveCapacity(sectionCount)
    var sectionCounts = ContiguousArray<Int>()
    sectionCounts.reserveCapacity(sectionCount)
    var first = 0
    for section in 0..<sectionCount {
      var end = first
      var count = 0
      while end < rowCounts.count, cached.section(of: end) == section {
        blocks.append(nil)
        count += rowCounts[end]
        end += 1
      }
      if isSectioned {
        if end == first { return false }
        sections.append(Section())
      }
      if end > first { sections[section].blocks = blockOrder.makeSequence(rowCounts[first..<end]) }
      sectionCounts.append(count)
      first = end
    }
    if isSectioned {
      sectionRoot = sectionOrder.makeSequence(sectionCounts)
    } else {
      sectionOrder.add(sectionCounts[0], to: sectionRoot)
    }
    blockOfRow = rows
    #if QUIRE_CHECKS
      isFromFile = true
    #endif
    self.cached = cached
    return first == rowCounts.count && rows.count == count
  }
}

/// Blocks and sections, made when they are first asked for if they come from a cache.
extension SectionedIndex {
  /// The block of a handle.
  subscript(block: Handle) -> RowBlock {
    _read {
      if blocks[Int(block)] == nil { make(block) }
      yield blocks[Int(block)]!
    }
    _modify {
      if blocks[Int(block)] == nil { make(block) }
      yield &blocks[Int(block)]!
    }
  }

  @inline(never)
  private func make(_ block: Handle) {
    makeAlone(Int(block))
    let others = cached.noteMade(Int(block))
    if others.isEmpty { return }
    for other in others where blocks[other] == nil { makeAlone(other) }
    cached.forgetGroup(of: Int(block))
  }

  private func makeAlone(_ block: Int) {
    blocks[block] = cached.block(block, in: key(of: Handle(cached.section(of: block))).order)
  }

  /// The ids of a block, which need not be made for that.
  func ids(of block: Handle) -> ArraySlice<Int64> { blocks[Int(block)]?.ids[...] ?? cached.ids(of: Int(block)) }

  func section(of block: Handle) -> Handle {
    blocks[Int(block)]?.section ?? Handle(cached.section(of: Int(block)))
  }

  func key(of section: Handle) -> SectionKey {
    if let key = sections[Int(section)].made { return key }
    let key = cached.section(Int(section))
    sections[Int(section)].made = key
    cached.noteMadeSection()
    return key
  }
}
