/// Makes an archive plain: dictionaries, lists and single values.
///
/// A set becomes a list. An object of a class that is not Foundation's becomes a dictionary of what it keeps, with the
/// name of its class under `$class`: NSKeyedArchiver writes no key of an object with a dollar sign before it.
struct ArchiveDecoder {
  static let classKey = "$class"

  private static let deepest = 64
  private static let mostItems = 1_000_000
  /// A few bytes can stand for many lists, each with references to one and the same list.
  private static let mostItemsPerByte = 2

  private let archive: KeyedArchive
  /// The objects above the one that is read.
  private var open: Set<Int> = []
  private var singles: [Int: Value] = [:]
  private var remaining: Int

  private init(_ archive: KeyedArchive) {
    self.archive = archive
    remaining = min(ArchiveDecoder.mostItems, ArchiveDecoder.mostItemsPerByte * archive.size)
  }

  /// The root of an archive. One without it becomes a dictionary of what was archived under other names.
  static func item(of bytes: Bytes) throws(Failure) -> Item {
    let archive = try KeyedArchive(bytes, "The data")
    var decoder = ArchiveDecoder(archive)
    let item: Item
    if let root = archive.top["root"], archive.top.count == 1 {
      item = try decoder.item(root)
    } else {
      item = .dictionary(ItemDictionary(try decoder.fields(archive.top)))
    }
    try decoder.checkIsWhole()
    return item
  }

  private func checkIsWhole() throws(Failure) {
    if archive.isExhausted {
      throw failure(.unsupported, "has more objects than it has bytes, some of them over and over. It is not read")
    }
  }

  private func failure(_ kind: Failure.Kind, _ problem: String) -> Failure {
    Failure(kind, "The archive \(problem).")
  }

  private mutating func item(_ value: PropertyListValue) throws(Failure) -> Item {
    if archive.isDangling(value) {
      throw failure(.invalidArgument, "is damaged: it refers to an object that is not there")
    }
    try checkIsWhole()
    guard let node = archive.node(value) else { return .nil }
    remaining -= 1
    if remaining < 0 {
      throw failure(.unsupported, "has more objects than it has bytes, some of them over and over. It is not read")
    }
    // Once for all references to it, so that many of them share one text.
    if let place = node.place, let single = singles[place] { return .value(single) }
    if let single = node.single {
      if let place = node.place { singles[place] = single }
      return .value(single)
    }
    if open.count >= ArchiveDecoder.deepest {
      throw failure(.unsupported, "has objects nested more than \(ArchiveDecoder.deepest) deep")
    }
    if let place = node.place {
      if !open.insert(place).inserted {
        let name = node.className.map { "an object of the class '\($0)'" } ?? "an object"
        throw failure(.unsupported, "has \(name) that contains itself, which no plain value can")
      }
    }
    defer { if let place = node.place { open.remove(place) } }
    return try container(node)
  }

  private mutating func container(_ node: ArchiveNode) throws(Failure) -> Item {
    if let references = node.references { return .list(try items(references)) }
    if let entries = node.entries {
      var found: [String: Item] = [:]
      for (key, value) in entries {
        guard let name = archive.node(key)?.text, found[name] == nil else { return try listed(entries, node) }
        found[name] = try item(value)
      }
      return .dictionary(ItemDictionary(found))
    }
    switch node.value {
    case .dictionary(let fields):
      guard let name = node.className.flatMap(archive.counted) else {
        try checkIsWhole()
        throw failure(.invalidArgument, "is damaged: it has an object without a class")
      }
      var found = try self.fields(fields.filter { $0.key != "$class" })
      found[ArchiveDecoder.classKey] = .value(.text(name))
      return .dictionary(ItemDictionary(found))
    case .array(let values): return .list(try items(values))
    default: throw failure(.invalidArgument, "is damaged: a reference stands where an object should be")
    }
  }

  /// A dictionary whose keys are not texts, or are there twice, as an object of its class.
  private mutating func listed(
    _ entries: [(key: PropertyListValue, value: PropertyListValue)], _ node: ArchiveNode
  ) throws(Failure) -> Item {
    .dictionary(
      ItemDictionary([
        ArchiveDecoder.classKey: .value(.text(node.className ?? "")), "NS.keys": .list(try items(entries.map(\.key))),
        "NS.objects": .list(try items(entries.map(\.value))),
      ]))
  }

  private mutating func items(_ values: [PropertyListValue]) throws(Failure) -> [Item] {
    var found: [Item] = []
    found.reserveCapacity(values.count)
    for value in values { found.append(try item(value)) }
    return found
  }

  private mutating func fields(_ fields: [String: PropertyListValue]) throws(Failure) -> [String: Item] {
    var found: [String: Item] = [:]
    for (key, value) in fields { found[key] = try item(value) }
    return found
  }
}
