/// The parts of a list that are still as in its cache. A block or section is made of them when it is first looked at.
/// Ids are read without that.
struct UnloadedIndex {
  private var sections = ContiguousArray<SectionRecord>()
  private var sectionBytes = ContiguousArray<UInt8>()
  private var madeSections = 0
  private var blocks = ContiguousArray<BlockRecord>()
  private var keys = ContiguousArray<KeyRecord>()
  private var groups = ContiguousArray<Group>()

  /// Blocks that follow each other, in memory that goes when half of them have been made. That bounds the memory, which
  /// is there twice for what was made, and the time that it takes to make the other half.
  private struct Group {
    var ids = ContiguousArray<Int64>()
    var bytes = ContiguousArray<UInt8>()
    var ends = ContiguousArray<Int32>()
    /// How many blocks have not been made.
    var rest = 0
  }

  static let blocksPerGroup = 512

  // MARK: As it is written

  /// `bytes` has the order and then the name, behind those of the section before.
  struct SectionRecord {
    let orderEnd: Int
    let nameEnd: Int
    let tag: UInt64
    let bits: UInt64
  }

  struct BlockRecord {
    /// In the ids of the group.
    let end: Int32
    let section: Int32
    /// The place of its keys, or -1 where they are that of the section and the tie-breaks.
    let keys: Int
  }

  /// The keys of a block, with places in the arrays of its group.
  struct KeyRecord {
    /// Where what they share begins; the pieces follow.
    let start: Int
    let sharedCount: Int
    let piecesCount: Int
    /// Where the ends of the pieces begin, or -1 where all have the same width.
    let ends: Int
    let width: Int
    /// One, or zero.
    let hasIDs: Int
  }

  private enum ValueTag: UInt64 { case missing, text, uri, integer, boolean, double, float, date }

  // MARK: Making

  /// The ids of a block that has not been made.
  func ids(of block: Int) -> ArraySlice<Int64> { groups[block / UnloadedIndex.blocksPerGroup].ids[rows(of: block)] }

  /// Where a row is in a block that has not been made.
  func row(of id: Int64, in block: Int) -> Int? {
    let ids = ids(of: block)
    for place in ids.indices where ids[place] == id { return place - ids.startIndex }
    return nil
  }

  private func rows(of block: Int) -> Range<Int> {
    let isFirst = block.isMultiple(of: UnloadedIndex.blocksPerGroup)
    return (isFirst ? 0 : Int(blocks[block - 1].end))..<Int(blocks[block].end)
  }

  /// None of a list without sections.
  var sectionCount: Int { sections.count }

  func section(of block: Int) -> Int { Int(blocks[block].section) }

  /// A block that has not been made, with the order of its section.
  func block(_ block: Int, in order: SortKey) -> RowBlock {
    var made = RowBlock(section: blocks[block].section, ids: ContiguousArray(ids(of: block)))
    if blocks[block].keys < 0 {
      made.keys = PackedKeys(shared: order, bytes: [], ends: [], width: 0, hasIDs: true)
    } else {
      let record = keys[blocks[block].keys], group = groups[block / UnloadedIndex.blocksPerGroup]
      let pieces = record.start + record.sharedCount
      let shared = group.bytes[record.start..<pieces]
      made.keys = PackedKeys(
        shared: shared.elementsEqual(order.bytes) ? order : SortKey(bytes: ContiguousArray(shared)),
        bytes: ContiguousArray(group.bytes[pieces..<(pieces + record.piecesCount)]),
        ends: record.ends < 0
          ? [] : ContiguousArray(group.ends[record.ends..<(record.ends + made.ids.count)].lazy.map { Int($0) }),
        width: record.width, hasIDs: record.hasIDs != 0)
    }
    return made
  }

  /// Notes that a block was made, and returns those that have to be made now.
  mutating func noteMade(_ block: Int) -> Range<Int> {
    let number = block / UnloadedIndex.blocksPerGroup
    let all = self.blocks(of: number)
    groups[number].rest -= 1
    return groups[number].rest * 2 < all.count ? all : 0..<0
  }

  private func blocks(of group: Int) -> Range<Int> {
    let first = group * UnloadedIndex.blocksPerGroup
    return first..<min(first + UnloadedIndex.blocksPerGroup, blocks.count)
  }

  /// All blocks of the group of one have been made.
  mutating func forgetGroup(of block: Int) { groups[block / UnloadedIndex.blocksPerGroup] = Group() }

  /// A section that has not been made.
  func section(_ number: Int) -> SectionKey {
    let record = sections[number], start = number == 0 ? 0 : sections[number - 1].nameEnd
    let order = SortKey(bytes: ContiguousArray(sectionBytes[start..<record.orderEnd]))
    let name = Text(validating: sectionBytes, in: record.orderEnd..<record.nameEnd) ?? ""
    let value: Value =
      switch ValueTag(rawValue: record.tag) ?? .missing {
      case .missing: .nil
      case .text: .text(name)
      case .uri: .uri(name)
      case .integer: .integer(Int64(bitPattern: record.bits))
      case .boolean: .boolean(record.bits != 0)
      case .double: .double(Double(bitPattern: record.bits))
      case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: record.bits)))
      case .date: .date(Double(bitPattern: record.bits))
      }
    return SectionKey(order: order, name: name, value: value)
  }

  mutating func noteMadeSection() {
    madeSections += 1
    if madeSections == sections.count { (sections, sectionBytes) = ([], []) }
  }

  /// How many blocks of each group have not been made. For tests.
  var rests: [(blocks: Range<Int>, rest: Int)] { groups.indices.map { (blocks(of: $0), groups[$0].rest) } }
}

// MARK: - Writing

extension UnloadedIndex {
  /// Gathers a list in order.
  struct Writer {
    private(set) var sections = ContiguousArray<SectionRecord>()
    private(set) var sectionBytes = ContiguousArray<UInt8>()
    private(set) var blocks = ContiguousArray<BlockRecord>()
    private(set) var keys = ContiguousArray<KeyRecord>()
    private var groups = ContiguousArray<Group>()

    /// False for one that no first fetch makes.
    mutating func add(_ section: SectionKey) -> Bool {
      var bits: UInt64 = 0
      let tag: ValueTag
      switch section.value {
      case .nil: tag = .missing
      case .text(let text) where text == section.name: tag = .text
      case .uri(let text) where text == section.name: tag = .uri
      case .integer(let integer): (tag, bits) = (.integer, UInt64(bitPattern: integer))
      case .boolean(let flag): (tag, bits) = (.boolean, flag ? 1 : 0)
      case .double(let double): (tag, bits) = (.double, double.bitPattern)
      case .float(let float): (tag, bits) = (.float, UInt64(float.bitPattern))
      case .date(let seconds): (tag, bits) = (.date, seconds.bitPattern)
      default: return false
      }
      if section.indexTitle != nil { return false }
      sectionBytes.append(contentsOf: section.order.bytes)
      let orderEnd = sectionBytes.count
      sectionBytes.append(contentsOf: section.name.bytes.buffer)
      sections.append(SectionRecord(orderEnd: orderEnd, nameEnd: sectionBytes.count, tag: tag.rawValue, bits: bits))
      return true
    }

    /// False for one that is too large.
    mutating func add(_ block: RowBlock, in section: Int, _ order: SortKey) -> Bool {
      if blocks.count % UnloadedIndex.blocksPerGroup == 0 { groups.append(Group()) }
      let group = groups.count - 1
      groups[group].ids.append(contentsOf: block.ids)
      guard let end = Int32(exactly: groups[group].ids.count), let section = Int32(exactly: section) else {
        return false
      }
      let isPlain =
        block.keys.hasIDs && block.keys.byteCount == 0 && block.keys.ends.isEmpty && block.keys.shared == order
      blocks.append(BlockRecord(end: end, section: section, keys: isPlain ? -1 : keys.count))
      return isPlain || add(block.keys, to: group)
    }

    private mutating func add(_ packed: PackedKeys, to group: Int) -> Bool {
      keys.append(
        KeyRecord(
          start: groups[group].bytes.count, sharedCount: packed.shared.bytes.count, piecesCount: packed.byteCount,
          ends: packed.ends.isEmpty ? -1 : groups[group].ends.count, width: packed.width, hasIDs: packed.hasIDs ? 1 : 0)
      )
      groups[group].bytes.append(contentsOf: packed.shared.bytes)
      groups[group].bytes.append(contentsOf: packed.bytes)
      for end in packed.ends {
        guard let end = Int32(exactly: end) else { return false }
        groups[group].ends.append(end)
      }
      return true
    }

    func write(_ map: ContiguousArray<CountedForest.Handle>, to file: inout CacheFile.Writer) {
      file.part([sections.count, sectionBytes.count, blocks.count, keys.count, map.count] as ContiguousArray)
      file.part(sections)
      file.part(sectionBytes)
      file.part(blocks)
      file.part(keys)
      file.part(ContiguousArray(groups.flatMap { [$0.bytes.count, $0.ends.count] }))
      file.part(map)
      for group in groups {
        file.part(group.ids)
        file.part(group.bytes)
        file.part(group.ends)
      }
    }
  }
}

// MARK: - Reading

extension UnloadedIndex {
  /// What was written; nil where it is damaged. `rowCounts` has those of the blocks.
  init?(
    from file: CacheFile.Reader, rowCounts: inout ContiguousArray<Int>,
    map: inout ContiguousArray<CountedForest.Handle>
  ) {
    let counts: ContiguousArray<Int> = file.part(5)
    if counts.isEmpty { return nil }
    sections = file.part(counts[0])
    sectionBytes = file.part(counts[1])
    blocks = file.part(counts[2])
    keys = file.part(counts[3])
    guard blocks.count == counts[2], takeRowCounts(&rowCounts), hasSections else { return nil }
    let groupCount = (blocks.count + UnloadedIndex.blocksPerGroup - 1) / UnloadedIndex.blocksPerGroup
    let sizes: ContiguousArray<Int> = file.part(groupCount * 2)
    if sizes.count != groupCount * 2 { return nil }
    map = file.part(counts[4])
    groups.reserveCapacity(groupCount)
    for number in 0..<groupCount {
      let all = blocks(of: number)
      groups.append(
        Group(
          ids: file.part(Int(blocks[all.upperBound - 1].end)), bytes: file.part(sizes[number * 2]),
          ends: file.part(sizes[number * 2 + 1]), rest: all.count))
    }
    if !file.isWhole || !blocks.indices.allSatisfy(hasKeys) { return nil }
  }

  private mutating func takeRowCounts(_ counts: inout ContiguousArray<Int>) -> Bool {
    counts.reserveCapacity(blocks.count)
    var end: Int32 = 0
    for (number, block) in blocks.enumerated() {
      if number % UnloadedIndex.blocksPerGroup == 0 { end = 0 }
      if block.end <= end { return false }
      counts.append(Int(block.end - end))
      end = block.end
    }
    return true
  }

  /// Whether sections have their places in order.
  private var hasSections: Bool {
    var end = 0
    for section in sections {
      if section.orderEnd < end || section.nameEnd < section.orderEnd { return false }
      end = section.nameEnd
    }
    return end == sectionBytes.count
  }

  /// Whether the keys of a block are where it says.
  private func hasKeys(_ block: Int) -> Bool {
    let number = blocks[block].keys
    if number < 0 { return true }
    guard number < keys.count else { return false }
    let record = keys[number], group = groups[block / UnloadedIndex.blocksPerGroup]
    let rows = rows(of: block)
    func isPart(_ start: Int, _ count: Int, of whole: Int) -> Bool {
      start >= 0 && start <= whole && count >= 0 && count <= whole - start
    }
    guard isPart(record.start, record.sharedCount, of: group.bytes.count),
      isPart(record.start + record.sharedCount, record.piecesCount, of: group.bytes.count), record.width >= 0
    else { return false }
    if record.ends < 0 {
      let (size, overflow) = record.width.multipliedReportingOverflow(by: rows.count)
      return !overflow && size == record.piecesCount
    }
    guard isPart(record.ends, rows.count, of: group.ends.count) else { return false }
    var last: Int32 = 0
    for end in group.ends[record.ends..<(record.ends + rows.count)] {
      if end < last { return false }
      last = end
    }
    return Int(last) == record.piecesCount
  }
}
