/// The ordered, sectioned list of row ids behind a results controller. One change costs O(log N).
///
/// Rows live in blocks of a few hundred; the blocks of a section are one counted sequence, the
/// sections another. The index is a class because a copy of it would cost the whole list at the
/// next change.
final class SectionedIndex {
  typealias Handle = CountedForest.Handle

  struct Section {
    /// nil while only the cache has it.
    var made: SectionKey?
    /// Root of the section's blocks; none while a batch has emptied it.
    var blocks = CountedForest.none
    /// Whether it stays when it has no rows.
    var isFixed = false
  }

  /// Without a section key there is exactly one section, also when it is empty; with one, only
  /// sections with rows, and those that are fixed.
  let isSectioned: Bool
  /// Sections that are there in any case, in order.
  let fixed: [SectionKey]
  /// A loaded block holds this many rows; it splits at twice as many and joins a neighbour at a
  /// quarter.
  let rowsPerBlock: Int

  var sectionOrder = CountedForest()
  var sectionRoot = CountedForest.none
  var sections = ContiguousArray<Section>()
  var blockOrder = CountedForest()
  /// nil while only the cache has it.
  var blocks = ContiguousArray<RowBlock?>()
  var blockOfRow = RowMap()
  var cached = UnloadedIndex()
  #if QUIRE_CHECKS
    /// A file is checked for what would end the process, and not for the order of its rows.
    var isFromFile = false
  #endif

  init(isSectioned: Bool, fixed: [SectionKey] = [], rowsPerBlock: Int = 256) {
    self.isSectioned = isSectioned
    self.fixed = fixed
    self.rowsPerBlock = max(rowsPerBlock, 2)
    removeAll()
  }

  /// A copy, for another thread as well. What it costs falls due when either of the two changes.
  init(copying other: SectionedIndex) {
    (isSectioned, fixed, rowsPerBlock) = (other.isSectioned, other.fixed, other.rowsPerBlock)
    (sectionOrder, sectionRoot, sections) = (other.sectionOrder, other.sectionRoot, other.sections)
    (blockOrder, blocks, blockOfRow, cached) = (other.blockOrder, other.blocks, other.blockOfRow, other.cached)
    #if QUIRE_CHECKS
      isFromFile = other.isFromFile
    #endif
  }

  // MARK: Counts and sections

  var count: Int { sectionOrder.weight(of: sectionRoot) }
  var sectionCount: Int { sectionOrder.count(of: sectionRoot) }

  /// nil beyond the last section.
  func section(at index: Int) -> (key: SectionKey, start: Int, count: Int)? {
    let section = sectionOrder.node(at: index, in: sectionRoot)
    guard section >= 0 else { return nil }
    return (
      key(of: section), sectionOrder.rank(of: section).weight,
      sectionOrder.ownWeight(of: section)
    )
  }

  /// nil beyond the last row.
  func sectionIndex(containingFlat flat: Int) -> Int? {
    let section = sectionOrder.node(containing: flat, in: sectionRoot).node
    return section < 0 ? nil : sectionOrder.rank(of: section).position
  }

  /// The sections in list order.
  func sectionHandles() -> [Handle] {
    Array(
      sequence(first: sectionOrder.first(of: sectionRoot)) { self.sectionOrder.next(after: $0) }
        .prefix { $0 >= 0 })
  }

  // MARK: Place to id

  func id(atFlat flat: Int) -> Int64? {
    let (section, row) = sectionOrder.node(containing: flat, in: sectionRoot)
    return section < 0 ? nil : id(at: row, of: section)
  }

  func id(at path: IndexPath) -> Int64? {
    let section = sectionOrder.node(at: path.section, in: sectionRoot)
    return section < 0 ? nil : id(at: path.row, of: section)
  }

  private func id(at row: Int, of section: Handle) -> Int64? {
    let (block, offset) = blockOrder.node(containing: row, in: sections[Int(section)].blocks)
    if block < 0 { return nil }
    let ids = ids(of: block)
    return ids[ids.startIndex + offset]
  }

  /// The ids of a window in list order; the part of the window beyond the list is left out.
  func ids(in window: Range<Int>) -> [Int64] {
    let window = window.clamped(to: 0..<count)
    guard !window.isEmpty else { return [] }
    var result: [Int64] = []
    result.reserveCapacity(window.count)
    var (section, row) = sectionOrder.node(containing: window.lowerBound, in: sectionRoot)
    var (block, offset) = blockOrder.node(containing: row, in: sections[Int(section)].blocks)
    while result.count < window.count, block >= 0 {
      let ids = ids(of: block), first = ids.startIndex + offset
      result.append(contentsOf: ids[first..<min(ids.endIndex, first + window.count - result.count)])
      offset = 0
      block = blockOrder.next(after: block)
      while block < 0 {
        section = sectionOrder.next(after: section)
        if section < 0 { break }
        block = blockOrder.first(of: sections[Int(section)].blocks)
      }
    }
    return result
  }

  // MARK: Id to place

  func contains(_ id: Int64) -> Bool { blockOfRow[id] >= 0 }

  /// nil when the row is not in the list.
  func path(of id: Int64) -> (path: IndexPath, flat: Int)? {
    guard let place = place(of: id) else { return nil }
    return (IndexPath(section: place.section, row: place.row), place.flat)
  }

  func key(of id: Int64) -> RowKey? {
    guard let (block, offset) = locate(id) else { return nil }
    return RowKey(
      section: key(of: self[block].section), order: self[block].key(at: offset))
  }

  func locate(_ id: Int64) -> (block: Handle, offset: Int)? {
    let block = blockOfRow[id]
    if block < 0 { return nil }
    let isMade = blocks[Int(block)] != nil
    let offset = isMade ? self[block].ids.firstIndex(of: id) : cached.row(of: id, in: Int(block))
    return offset.map { (block, $0) }
  }

  func place(of id: Int64) -> TouchedRow.Place? { locate(id).map(place) }

  func place(of spot: (block: Handle, offset: Int)) -> TouchedRow.Place {
    let (block, offset) = spot
    let section = section(of: block)
    let (position, start) = sectionOrder.rank(of: section)
    let row = blockOrder.rank(of: block).weight + offset
    return TouchedRow.Place(identity: section, section: position, row: row, flat: start + row)
  }

  /// Gives a row another id and key where it stands: a temporary id became permanent. Several are replaced oldest
  /// first.
  ///
  /// False, and nothing changed, when `old` is not in the list, when `new` already is, or when the key would not keep
  /// the place. The caller then applies a batch.
  func replaceID(_ old: Int64, with new: Int64, key: RowKey) -> Bool {
    guard let (block, offset) = locate(old), old == new || !contains(new) else { return false }
    let section = self[block].section
    guard !isSectioned || self.key(of: section) == key.section else { return false }
    let rows = self[block]
    if offset > 0 {
      guard rows.order(of: offset - 1, against: key.order) < 0 else { return false }
    } else {
      let previous = blockOrder.previous(before: block)
      if previous >= 0 {
        let rows = self[previous]
        guard rows.order(of: rows.ids.count - 1, against: key.order) < 0 else { return false }
      }
    }
    if offset + 1 < rows.ids.count {
      guard rows.order(of: offset + 1, against: key.order) > 0 else { return false }
    } else {
      let next = blockOrder.next(after: block)
      if next >= 0 {
        guard self[next].order(of: 0, against: key.order) > 0 else { return false }
      }
    }
    self[block].remove(at: offset)
    self[block].insert(new, key.order, at: offset)
    blockOfRow.remove(old)
    blockOfRow.set(block, for: new)
    return true
  }
}
