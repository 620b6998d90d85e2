/// The rows and sections of a list at one moment. It never changes; any thread may read it.
///
/// It shares its rows with the list, block by block, until the list changes them. What it costs is a word or two for
/// each block and section.
final class ListSnapshot: SectionedRows, Sendable {
  struct Section: Equatable, Sendable {
    let key: SectionKey
    let start: Int
    let count: Int
    fileprivate let blocks: Range<Int>

    static func == (left: Section, right: Section) -> Bool {
      left.key == right.key && left.key.name == right.key.name && left.count == right.count
    }
  }

  fileprivate struct Block: Sendable {
    let start: Int
    let ids: ArraySlice<Int64>
  }

  let count: Int
  let sections: ContiguousArray<Section>
  var sectionCount: Int { sections.count }
  private let blocks: ContiguousArray<Block>
  /// Later changes are recorded from here on.
  let moment: ListMoment
  let generation: UInt64
  /// Places by id, made when one is first asked for.
  private let places = Guarded<[Int64: Int]?>(nil)

  init(_ index: SectionedIndex, at moment: ListMoment = ListMoment(), generation: UInt64 = 0) {
    var sections = ContiguousArray<Section>()
    var blocks = ContiguousArray<Block>()
    var start = 0
    index.forEachBlock { section, isNewSection, ids in
      if isNewSection {
        if let last = sections.popLast() { sections.append(last.closed(at: start, blocks.count)) }
        sections.append(
          Section(key: index.key(of: section), start: start, count: 0, blocks: blocks.count..<blocks.count))
      }
      if ids.isEmpty { return }
      blocks.append(Block(start: start, ids: ids))
      start += ids.count
    }
    if let last = sections.popLast() { sections.append(last.closed(at: start, blocks.count)) }
    count = start
    self.sections = sections
    self.blocks = blocks
    self.moment = moment
    self.generation = generation
  }

  func ids(in window: Range<Int>) -> [Int64] {
    let window = window.clamped(to: 0..<count)
    var result: [Int64] = []
    result.reserveCapacity(window.count)
    var block = blocks.partitionPoint { $0.start + $0.ids.count <= window.lowerBound }
    while result.count < window.count {
      let ids = blocks[block].ids
      let first = ids.startIndex + window.lowerBound + result.count - blocks[block].start
      result.append(contentsOf: ids[first..<min(ids.endIndex, first + window.count - result.count)])
      block += 1
    }
    return result
  }

  /// The place of a row counted over all sections; nil when it is not in the list.
  func place(of id: Int64) -> Int? {
    places.withLock { places in
      if places == nil {
        var made: [Int64: Int] = [:]
        made.reserveCapacity(count)
        for block in blocks { for (row, id) in block.ids.enumerated() { made[id] = block.start + row } }
        places = made
      }
      return places?[id]
    }
  }

  func sectionIndex(containingFlat flat: Int) -> Int? {
    guard (0..<count).contains(flat) else { return nil }
    return sections.partitionPoint { $0.start + $0.count <= flat }
  }

  func sectionsPage(nulSeparated: Bool) throws(Failure) -> Page {
    var names = ColumnBuilder(name: "name", kind: .text, capacity: sections.count)
    let values = ColumnBuilder(sectionValues: sections.map(\.key))
    var starts = ColumnBuilder(name: "start", kind: .integer, capacity: sections.count)
    var counts = ColumnBuilder(name: "count", kind: .integer, capacity: sections.count)
    for section in sections {
      names.append(.text(section.key.name))
      starts.append(.integer(Int64(section.start)))
      counts.append(.integer(Int64(section.count)))
    }
    let columns = try [names, starts, counts, values].map { (column) throws(Failure) in
      try column.column(nulSeparated: nulSeparated)
    }
    return Page(rowCount: sections.count, columns: columns)
  }

  /// Whether both have the same sections, by key and name, and the same rows in the same order.
  func isEqual(to other: ListSnapshot) -> Bool {
    if self === other { return true }
    guard count == other.count, sections == other.sections else { return false }
    if blocks.elementsEqual(other.blocks, by: { $0.start == $1.start && $0.ids == $1.ids }) { return true }
    return ids(in: 0..<count) == other.ids(in: 0..<count)
  }

  // MARK: Comparing

  /// The rows of a section, but for blocks at its beginning and its end that the other has there, too.
  func rows(of section: Int, besides other: ListSnapshot, _ otherSection: Int) -> Range<Int> {
    let mine = sections[section].blocks, others = other.sections[otherSection].blocks
    let most = min(mine.count, others.count)
    var before = 0
    while before < most, blocks[mine.lowerBound + before].ids == other.blocks[others.lowerBound + before].ids {
      before += 1
    }
    var behind = 0
    while before + behind < most,
      blocks[mine.upperBound - 1 - behind].ids == other.blocks[others.upperBound - 1 - behind].ids
    {
      behind += 1
    }
    let all = rows(of: section)
    let first = before < mine.count ? blocks[mine.lowerBound + before].start : all.upperBound
    return first..<(behind > 0 ? max(first, blocks[mine.upperBound - behind].start) : all.upperBound)
  }

  func rows(of section: Int) -> Range<Int> {
    sections[section].start..<sections[section].start + sections[section].count
  }
}

extension ListSnapshot.Section {
  fileprivate func closed(at end: Int, _ lastBlock: Int) -> Self {
    Self(key: key, start: start, count: end - start, blocks: blocks.lowerBound..<lastBlock)
  }
}

extension SectionedIndex {
  /// All blocks in order with their sections; a section without rows has an empty one.
  func forEachBlock(_ body: (_ section: Handle, _ isNewSection: Bool, ArraySlice<Int64>) -> Void) {
    for section in sectionHandles() {
      var block = blockOrder.first(of: sections[Int(section)].blocks)
      if block < 0 { body(section, true, []) }
      var isNew = true
      while block >= 0 {
        body(section, isNew, ids(of: block))
        isNew = false
        block = blockOrder.next(after: block)
      }
    }
  }
}
