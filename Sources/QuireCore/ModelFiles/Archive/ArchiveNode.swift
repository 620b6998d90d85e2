/// An object of an archive, or a value within one.
struct ArchiveNode {
  let archive: KeyedArchive
  let value: PropertyListValue
  /// Among the objects of the archive; nil for a value that is written where it is used.
  let place: Int?

  /// nil for texts, numbers, booleans and data, which have none.
  var className: String? {
    guard let reference = value["$class"], let found = archive.node(reference) else { return nil }
    return found.value["$classname"]?.text
  }

  /// What the object keeps under a key. nil where it keeps nothing, or nil.
  subscript(key: String) -> ArchiveNode? { value[key].flatMap(archive.node) }

  /// The keys of what the object keeps.
  var keys: [String] { value.dictionary?.keys.filter { $0 != "$class" } ?? [] }
}

// MARK: - Values: nil when the object is something else

extension ArchiveNode {
  var text: String? {
    if let text = value.text { return archive.counted(text) }
    switch className {
    case "NSString", "NSMutableString":
      if let text = self["NS.string"]?.value.text { return archive.counted(text) }
      return self["NS.bytes"]?.value.data.flatMap { String(validating: $0.buffer, as: UTF8.self) }
        .flatMap(archive.counted)
    default: return nil
    }
  }

  var integer: Int64? {
    switch value {
    case .integer(let integer): return integer
    case .boolean(let flag): return flag ? 1 : 0
    case .real(let real): return Int64(exactly: real)
    case .dictionary where className == "NSNumber": return simple("NS.intval")?.integer
    default: return nil
    }
  }

  var real: Double? {
    switch value {
    case .real(let real): real
    case .integer(let integer): Double(integer)
    case .dictionary where className == "NSNumber": simple("NS.dblval")?.real
    default: nil
    }
  }

  var boolean: Bool? {
    switch value {
    case .boolean(let flag): flag
    case .integer(let integer): integer != 0
    case .dictionary where className == "NSNumber": simple("NS.boolval")?.boolean
    default: nil
    }
  }

  /// What an object keeps under a key, when that is no object in its turn: a number in a number may be itself.
  private func simple(_ key: String) -> ArchiveNode? {
    guard let node = self[key], node.value.dictionary == nil else { return nil }
    return node
  }

  /// An object that is one value; nil for containers, objects of other classes, and what is damaged.
  var single: Value? {
    switch value {
    case .text(let text): return archive.counted(text).map { .text($0) }
    case .integer(let integer): return .integer(integer)
    case .largeInteger(let integer):
      return Decimal(isNegative: false, mantissa: UInt128(integer), exponent: 0).map { .decimal($0) }
    case .boolean(let flag): return .boolean(flag)
    case .real(let real): return .double(real)
    case .date(let seconds): return .date(seconds)
    case .data(let data): return .data(data)
    case .dictionary, .array, .uid: break
    }
    switch className {
    case "NSString", "NSMutableString": return text.map { .text($0) }
    case "NSNumber":
      if let integer = simple("NS.intval")?.integer { return .integer(integer) }
      if let flag = simple("NS.boolval")?.boolean { return .boolean(flag) }
      return real.map { .double($0) }
    case "NSDate": return self["NS.time"]?.real.map { .date($0) }
    case "NSData", "NSMutableData": return (self["NS.data"] ?? self["NS.bytes"])?.value.data.map { .data($0) }
    case "NSUUID":
      guard let bytes = self["NS.uuidbytes"]?.value.data, bytes.count == 16 else { return nil }
      return .uuid(bytes)
    case "NSURL": return uri.map { .uri(Text($0)) }
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal.map { .decimal($0) }
    case "NSNull": return .nil
    default: return nil
    }
  }

  private var uri: String? {
    guard let relative = self["NS.relative"]?.text else { return nil }
    guard let base = self["NS.base"] else { return relative }
    // What a relative one becomes is for the program: those that are absolute stand for themselves.
    return relative.utf8.contains(UInt8(ascii: ":")) ? relative : base["NS.relative"]?.text.map { $0 + relative }
  }

  /// Up to eight units of 16 bits, the least significant first. The archive names the order of the bytes in each.
  private var decimal: Decimal? {
    guard let bytes = self["NS.mantissa"]?.value.data, bytes.count <= 16, bytes.count % 2 == 0,
      let exponent = self["NS.exponent"]?.integer, (-128...127).contains(exponent)
    else { return nil }
    // 1 is little-endian and 2 big-endian.
    let isBigEndian = self["NS.mantissa.bo"]?.integer == 2
    let length = self["NS.length"]?.integer.map { Int(clamping: $0) } ?? bytes.count / 2
    var mantissa = UInt128(0)
    for unit in (0..<max(0, min(length, bytes.count / 2))).reversed() {
      let (first, second) = (UInt128(bytes.buffer[2 * unit]), UInt128(bytes.buffer[2 * unit + 1]))
      mantissa = mantissa << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
    }
    let isNegative = self["NS.negative"]?.boolean == true
    return Decimal(isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent))
  }
}

// MARK: - Containers: nil when the object is something else

extension ArchiveNode {
  /// The values of an array or a set, as the archive has them.
  var references: [PropertyListValue]? {
    if archive.isExhausted { return nil }
    switch className {
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet": return value["NS.objects"]?.array
    case "NSOrderedSet", "NSMutableOrderedSet":
      if let all = value["NS.objects"]?.array { return all }
      return (0...).lazy.map { value["NS.object.\($0)"] }.prefix { $0 != nil }.compactMap { $0 }
    default: return nil
    }
  }

  /// The elements of an array or a set that are not nil.
  var elements: [ArchiveNode]? { references?.compactMap(archive.node) }

  /// Keys and values of a dictionary, as the archive has them; of one with known keys, those that have a value.
  var entries: [(key: PropertyListValue, value: PropertyListValue)]? {
    if archive.isExhausted { return nil }
    switch className {
    case "NSDictionary", "NSMutableDictionary":
      guard let keys = value["NS.keys"]?.array, let values = value["NS.objects"]?.array, keys.count == values.count
      else { return nil }
      return zip(keys, values).map { ($0, $1) }
    case "NSKnownKeysDictionary1":
      guard let keys = self["searchMapping"]?["keys"]?.references, let values = self["values"]?.references,
        keys.count == values.count
      else { return nil }
      // Keys without a value have this token for one.
      let empty = value["emptyToken"]
      return zip(keys, values).filter { $0.1 != empty }.map { ($0, $1) }
    default: return nil
    }
  }

  /// The values of a dictionary whose keys are texts, in its order.
  var named: [(name: String, node: ArchiveNode)]? {
    guard let entries else { return nil }
    var found: [(name: String, node: ArchiveNode)] = []
    for (key, value) in entries {
      guard let name = archive.node(key)?.text else { return nil }
      if let node = archive.node(value) { found.append((name, node)) }
    }
    return found
  }
}
