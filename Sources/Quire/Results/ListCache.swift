/// The cache of a list: what a first fetch found, in a file beside the store. It is a guess that is checked: what was
/// written for another query, or for another state of the store, is not taken.
struct ListCache {
  private let file: CacheFile
  private let key: ContiguousArray<UInt8>
  private let store: Store

  /// nil for a list that depends on more than the store, and where there is no file.
  init?(_ name: Text, of listing: Listing, in context: Context) {
    let query = listing.query
    guard context.parent == nil, context.store.path != ":memory:", listing.window == nil, query.sections == nil,
      query.predicate?.dependsOnStoreAlone ?? true
    else { return nil }
    store = context.store
    file = CacheFile(name, of: store.path)
    // The model is that of the store's file.
    var parts = [
      "1", TextOrder.libraryVersion, name.string, query.entity.name, "\(query.includesSubentities)",
      "\(listing.isSectioned)", query.predicate?.text ?? "",
    ]
    for sort in query.sort {
      parts.append(
        "\(sort.keyPath.joined(separator: ".")) \(sort.isAscending) \(sort.textOrder.kind.rawValue) "
          + sort.textOrder.locale)
    }
    var key = ContiguousArray<UInt8>()
    for part in parts {
      key.append(contentsOf: part.utf8)
      key.append(0)
    }
    self.key = key
  }

  func state() -> ContiguousArray<UInt8>? { store.state().map { ContiguousArray($0) } }

  /// Fills an index with the rows of that state; false when they are not in the file.
  func load(into index: SectionedIndex, _ state: ContiguousArray<UInt8>) -> Bool {
    guard let reader = file.read(), reader.counted() == key, reader.counted() == state else { return false }
    if index.read(from: reader) { return true }
    index.removeAll()
    return false
  }

  /// Writes the rows that were read while the store was in that state, if nobody has written since.
  func save(_ index: SectionedIndex, _ state: ContiguousArray<UInt8>) {
    guard let now = store.settledState(), ContiguousArray(now) == state else { return }
    var writer = CacheFile.Writer()
    writer.counted(key)
    writer.counted(state)
    if index.write(to: &writer) { file.write(writer) }
  }
}

extension Predicate {
  /// Whether it says the same of the same rows at any time and in any process.
  fileprivate var dependsOnStoreAlone: Bool {
    let isOfThisProcess =
      switch self {
      case .comparison(let comparison): comparison.options.contains(.localeSensitive)
      case .not(let part): !part.dependsOnStoreAlone
      case .and(let parts), .or(let parts): !parts.allSatisfy(\.dependsOnStoreAlone)
      case .constant: false
      }
    return !isOfThisProcess && sides.allSatisfy(\.dependsOnStoreAlone)
  }
}

extension Expression {
  fileprivate var dependsOnStoreAlone: Bool {
    switch self {
    case .constant(let constant): return constant.value.isPlain
    case .variable, .variableKey, .assignment, .argument, .fetch, .subquery: return false
    case .function(let name, _) where FunctionRegistry.function(named: name) != nil || !FunctionTable.isPure(name):
      return false
    default: return parts.allSatisfy(\.dependsOnStoreAlone)
    }
  }
}

extension Value {
  /// Whether it is written out as what it is; objects may get another id.
  fileprivate var isPlain: Bool {
    switch self {
    case .object: false
    case .list(let list): list.values.allSatisfy(\.isPlain)
    default: true
    }
  }
}

extension SectionedIndex {
  private enum ValueTag: UInt64 { case missing, text, uri, integer, boolean, double, float, date }

  /// False for a list with rows or sections that no first fetch gives.
  fileprivate func write(to writer: inout CacheFile.Writer) -> Bool {
    let handles = sectionHandles()
    guard fixed.isEmpty, let largest = blockOfRow.largestDense else { return false }
    var ids = ContiguousArray<Int64>()
    ids.reserveCapacity(count)
    var map = ContiguousArray<Handle>(repeating: 0, count: largest)
    var parts = CacheFile.Writer()
    var blockCount: Handle = 0
    for section in handles {
      let key = sections[Int(section)].key
      guard key.indexTitle == nil, SectionedIndex.write(key, to: &parts) else { return false }
      parts.number(blockOrder.count(of: sections[Int(section)].blocks))
      var block = blockOrder.first(of: sections[Int(section)].blocks)
      while block >= 0 {
        let rows = blocks[Int(block)]
        blockCount += 1
        for id in rows.ids { map[Int(id)] = blockCount }
        ids.append(contentsOf: rows.ids)
        let isShared = rows.keys.shared == key.order
        parts.number(rows.ids.count)
        parts.number(rows.keys.width)
        parts.word((rows.keys.hasIDs ? 1 : 0) | (isShared ? 2 : 0))
        if !isShared { parts.counted(rows.keys.shared.bytes) }
        parts.counted(rows.keys.bytes)
        parts.number(rows.keys.ends.count)
        parts.array(rows.keys.ends)
        block = blockOrder.next(after: block)
      }
    }
    for number in [count, handles.count, Int(blockCount), map.count, parts.bytes.count] { writer.number(number) }
    writer.array(map)
    writer.array(ids)
    writer.array(parts.bytes)
    return true
  }

  private static func write(_ key: SectionKey, to writer: inout CacheFile.Writer) -> Bool {
    writer.counted(key.order.bytes)
    writer.counted(ContiguousArray(key.name.bytes.buffer))
    var bits: UInt64 = 0
    let tag: ValueTag
    switch key.value {
    case .nil: tag = .missing
    case .text(let text) where text == key.name: tag = .text
    case .uri(let text) where text == key.name: tag = .uri
    case .integer(let integer): (tag, bits) = (.integer, UInt64(bitPattern: integer))
    case .boolean(let flag): (tag, bits) = (.boolean, flag ? 1 : 0)
    case .double(let double): (tag, bits) = (.double, double.bitPattern)
    case .float(let float): (tag, bits) = (.float, UInt64(float.bitPattern))
    case .date(let seconds): (tag, bits) = (.date, seconds.bitPattern)
    default: return false
    }
    writer.word(tag.rawValue)
    writer.word(bits)
    return true
  }

  private static func key(from reader: CacheFile.Reader) -> SectionKey {
    let order = SortKey(bytes: reader.counted())
    let bytes = Bytes(reader.counted())
    let name = Text.firstInvalidOffset(in: bytes.buffer) == nil ? Text(trusted: bytes) : ""
    let tag = reader.word(), bits = reader.word()
    let value: Value =
      switch ValueTag(rawValue: tag) ?? .missing {
      case .missing: .nil
      case .text: .text(name)
      case .uri: .uri(name)
      case .integer: .integer(Int64(bitPattern: bits))
      case .boolean: .boolean(bits != 0)
      case .double: .double(Double(bitPattern: bits))
      case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
      case .date: .date(Double(bitPattern: bits))
      }
    return SectionKey(order: order, name: name, value: value)
  }

  /// Replaces everything by what `write` wrote; false, and anything in it, when that is damaged.
  fileprivate func read(from reader: CacheFile.Reader) -> Bool {
    removeAll()
    let rowCount = reader.number(), sectionCount = reader.number(), blockCount = reader.number()
    let mapCount = reader.number(), partsSize = reader.number()
    guard !isSectioned || fixed.isEmpty, blockCount >= 0, blockCount <= rowCount, blockCount < Int(Handle.max),
      sectionCount >= 0,
      sectionCount <= max(rowCount, 1), isSectioned || sectionCount == 1
    else { return false }
    let map: ContiguousArray<Handle> = reader.array(mapCount)
    let ids: ContiguousArray<Int64> = reader.array(rowCount)
    guard !reader.isDamaged, partsSize >= 0,
      map.allSatisfy({ $0 >= 0 && $0 <= blockCount })
    else { return false }
    blocks.reserveCapacity(blockCount)
    sections.reserveCapacity(sectionCount)
    var place = 0
    var sectionSpine: [Handle] = []
    for number in 0..<sectionCount {
      if reader.isDamaged { return false }
      let key = SectionedIndex.key(from: reader)
      if isSectioned { sections.append(Section(key: key)) }
      let first = place
      var blockSpine: [Handle] = []
      for _ in 0..<max(0, reader.number()) {
        guard let block = SectionedIndex.block(from: reader, key, ids, &place, Handle(number)) else { return false }
        blockOrder.append(blockOrder.allocate(weight: block.ids.count), to: &blockSpine)
        blocks.append(block)
      }
      sections[number].blocks = blockOrder.close(&blockSpine)
      if isSectioned {
        if place == first { return false }
        sectionOrder.append(sectionOrder.allocate(weight: place - first), to: &sectionSpine)
      } else {
        sectionOrder.add(place - first, to: sectionRoot)
      }
    }
    if isSectioned { sectionRoot = sectionOrder.close(&sectionSpine) }
    blockOfRow = RowMap(dense: map)
    return !reader.isDamaged && place == rowCount && blocks.count == blockCount && blockOfRow.count == rowCount
  }

  private static func block(
    from reader: CacheFile.Reader, _ key: SectionKey, _ ids: ContiguousArray<Int64>, _ place: inout Int,
    _ section: Handle
  ) -> RowBlock? {
    let count = reader.number(), width = reader.number(), flags = reader.word()
    let shared = flags & 2 != 0 ? key.order : SortKey(bytes: reader.counted())
    let bytes = reader.counted()
    let ends: ContiguousArray<Int> = reader.array(reader.number())
    var isOrdered = width >= 0 && width <= 1 << 32
    var last = 0
    for end in ends {
      if end < last { isOrdered = false }
      last = end
    }
    guard isOrdered, !reader.isDamaged, count > 0, count <= ids.count - place else { return nil }
    let keys = PackedKeys(shared: shared, bytes: bytes, ends: ends, width: width, hasIDs: flags & 1 != 0)
    guard keys.holds(count) else { return nil }
    var block = RowBlock(section: section)
    block.ids.reserveCapacity(count)
    block.ids.append(contentsOf: ids[place..<(place + count)])
    block.keys = keys
    place += count
    return block
  }
}
