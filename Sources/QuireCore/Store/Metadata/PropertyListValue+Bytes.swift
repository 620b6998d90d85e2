import CPropertyList
import Glibc

extension PropertyListValue {
  /// A list in XML with more containers than this is refused: libplist follows nested ones by calling itself.
  private static let mostContainersOfXML = 2_000

  /// Reads a property list of either form; nil when it is damaged, or built to exhaust the reader.
  init?(_ bytes: Bytes) {
    let isBinary = bytes.buffer.starts(with: "bplist".utf8)
    self.init(of: isBinary ? PropertyListNode(binary: bytes) : PropertyListNode(xml: bytes))
  }

  init?(binary: Bytes) { self.init(of: PropertyListNode(binary: binary)) }

  private init?(of node: PropertyListNode?) {
    guard let node, let value = PropertyListValue(reading: node.root) else { return nil }
    self = value
  }

  /// The binary form; nil when a text has U+0000 in it, or there is no memory for it.
  var binary: Bytes? {
    guard let node else { return nil }
    return PropertyListNode(owning: node).binary
  }

  /// The form in XML, a document of its own; nil when a text has U+0000 in it, or there is no memory for it.
  var xmlDocument: Bytes? {
    guard let node else { return nil }
    return PropertyListNode(owning: node).xml
  }

  /// Whether a list in XML has few containers. Comments may hide some of them, and then too many are counted.
  fileprivate static func isModest(xml: Bytes) -> Bool {
    var containers = 0, place = 0
    let buffer = xml.buffer
    let openings = [Array("<array".utf8), Array("<dict".utf8)]
    while place < buffer.count {
      if buffer[place] == UInt8(ascii: "<"), openings.contains(where: { buffer[place...].starts(with: $0) }) {
        containers += 1
      }
      place += 1
    }
    return containers <= mostContainersOfXML
  }
}

/// A tree of libplist and its memory.
private final class PropertyListNode {
  let root: plist_t

  init(owning root: plist_t) { self.root = root }

  deinit { plist_free(root) }

  convenience init?(binary: Bytes) {
    guard BinaryPropertyListGuard.accepts(binary), let size = UInt32(exactly: binary.count) else { return nil }
    var parsed: plist_t?
    withExtendedLifetime(binary) {
      binary.buffer.withMemoryRebound(to: CChar.self) { plist_from_bin($0.baseAddress, size, &parsed) }
    }
    guard let parsed else { return nil }
    self.init(owning: parsed)
  }

  convenience init?(xml: Bytes) {
    guard PropertyListValue.isModest(xml: xml), let size = UInt32(exactly: xml.count) else { return nil }
    var parsed: plist_t?
    withExtendedLifetime(xml) {
      xml.buffer.withMemoryRebound(to: CChar.self) { plist_from_xml($0.baseAddress, size, &parsed) }
    }
    guard let parsed else { return nil }
    self.init(owning: parsed)
  }

  var binary: Bytes? { written(plist_to_bin) }

  var xml: Bytes? { written(plist_to_xml) }

  private func written(
    _ write: (plist_t?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafeMutablePointer<UInt32>?) -> Void
  ) -> Bytes? {
    var start: UnsafeMutablePointer<CChar>?
    var size: UInt32 = 0
    write(root, &start, &size)
    guard let start else { return nil }
    defer { free(start) }
    return start.withMemoryRebound(to: UInt8.self, capacity: Int(size)) {
      Bytes(UnsafeBufferPointer(start: $0, count: Int(size)))
    }
  }
}

// MARK: - From libplist

extension PropertyListValue {
  /// What a date begins with in the binary form, and an integer of 16 bytes.
  private static let dateMarker: UInt8 = 0x33, longMarker: UInt8 = 0x14

  /// nil when it has a part that no property list has, or is too deep. Any thread may read one, with little stack.
  fileprivate init?(reading node: plist_t, depth: Int = 0) {
    if depth >= BinaryPropertyListGuard.deepest { return nil }
    switch plist_get_node_type(node) {
    case PLIST_DICT:
      var iterator: plist_dict_iter?
      plist_dict_new_iter(node, &iterator)
      guard let iterator else { return nil }
      defer { free(iterator) }
      var found: [String: PropertyListValue] = [:]
      while true {
        var name: UnsafeMutablePointer<CChar>?
        var item: plist_t?
        plist_dict_next_item(node, iterator, &name, &item)
        defer { free(name) }
        guard let name, let item else { break }
        guard let value = PropertyListValue(reading: item, depth: depth + 1) else { return nil }
        found[String(cString: name)] = value
      }
      self = .dictionary(found)
    case PLIST_ARRAY:
      var iterator: plist_array_iter?
      plist_array_new_iter(node, &iterator)
      guard let iterator else { return nil }
      defer { free(iterator) }
      var found: [PropertyListValue] = []
      while true {
        var item: plist_t?
        plist_array_next_item(node, iterator, &item)
        guard let item else { break }
        guard let value = PropertyListValue(reading: item, depth: depth + 1) else { return nil }
        found.append(value)
      }
      self = .array(found)
    case PLIST_STRING:
      var size: UInt64 = 0
      guard let start = plist_get_string_ptr(node, &size) else { return nil }
      let bytes = UnsafeRawBufferPointer(start: start, count: Int(size))
      self = .text(String(decoding: bytes, as: UTF8.self))
    case PLIST_DATA:
      var size: UInt64 = 0
      let start = plist_get_data_ptr(node, &size)
      let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(size))
      self = .data(Bytes(bytes.bindMemory(to: UInt8.self)))
    case PLIST_UINT:
      var integer: UInt64 = 0
      plist_get_uint_val(node, &integer)
      let isNegative = integer > Int64.max && Self.object(of: node, marker: Self.longMarker, size: 16) == nil
      self = integer <= Int64.max || isNegative ? .integer(Int64(bitPattern: integer)) : .largeInteger(integer)
    case PLIST_REAL:
      var real = 0.0
      plist_get_real_val(node, &real)
      self = .real(real)
    case PLIST_BOOLEAN:
      var flag: UInt8 = 0
      plist_get_bool_val(node, &flag)
      self = .boolean(flag != 0)
    case PLIST_UID:
      var uid: UInt64 = 0
      plist_get_uid_val(node, &uid)
      self = .uid(uid)
    case PLIST_DATE:
      guard let seconds = PropertyListValue.seconds(of: node) else { return nil }
      self = .date(seconds)
    default: return nil
    }
  }

  /// The seconds of a date. libplist hands out 32 bits of them and writes all, so that they come from what it writes.
  private static func seconds(of date: plist_t) -> Double? {
    guard let object = object(of: date, marker: dateMarker, size: 8) else { return nil }
    return Double(bitPattern: object.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// The bytes behind the marker in the binary form of a node; nil when it has another marker.
  private static func object(of node: plist_t, marker: UInt8, size: Int) -> [UInt8]? {
    var start: UnsafeMutablePointer<CChar>?
    var written: UInt32 = 0
    plist_to_bin(node, &start, &written)
    guard let start else { return nil }
    defer { free(start) }
    guard Int(written) > 9 + size, UInt8(bitPattern: start[8]) == marker else { return nil }
    return (9..<9 + size).map { UInt8(bitPattern: start[$0]) }
  }
}

// MARK: - To libplist

extension PropertyListValue {
  /// A tree that the caller frees; nil when there is no such tree.
  fileprivate var node: plist_t? {
    switch self {
    case .dictionary(let entries):
      guard let node = plist_new_dict() else { return nil }
      // In the order of the keys, so that the same list is always written in the same way.
      for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
        guard !key.utf8.contains(0), let item = value.node else {
          plist_free(node)
          return nil
        }
        plist_dict_set_item(node, key, item)
      }
      return node
    case .array(let values):
      guard let node = plist_new_array() else { return nil }
      for value in values {
        guard let item = value.node else {
          plist_free(node)
          return nil
        }
        plist_array_append_item(node, item)
      }
      return node
    case .text(let text): return text.utf8.contains(0) ? nil : plist_new_string(text)
    case .data(let data):
      return withExtendedLifetime(data) {
        data.buffer.withMemoryRebound(to: CChar.self) { plist_new_data($0.baseAddress, UInt64($0.count)) }
      }
    case .integer(let integer): return plist_new_uint(UInt64(bitPattern: integer))
    case .largeInteger(let integer):
      // libplist would write one of eight bytes, which are signed.
      return PropertyListValue.node(marker: PropertyListValue.longMarker, bigEndian(0) + bigEndian(integer))
    case .real(let real): return plist_new_real(real)
    case .boolean(let flag): return plist_new_bool(flag ? 1 : 0)
    case .uid(let uid): return plist_new_uid(uid)
    case .date(let seconds):
      // libplist would take 32 bits of the seconds.
      return PropertyListValue.node(marker: PropertyListValue.dateMarker, bigEndian(seconds.bitPattern))
    }
  }

  /// A node that libplist can read from a list, but not make.
  private static func node(marker: UInt8, _ content: [UInt8]) -> plist_t? {
    let object = Array("bplist00".utf8) + [marker] + content
    // The table has the one offset. Behind it are the sizes of offsets and references, and three numbers.
    let written =
      object + [8] + [0, 0, 0, 0, 0, 0, 1, 1] + bigEndian(1) + bigEndian(0) + bigEndian(UInt64(object.count))
    var node: plist_t?
    written.withUnsafeBytes {
      plist_from_bin($0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32($0.count), &node)
    }
    return node
  }
}

private func bigEndian(_ word: UInt64) -> [UInt8] { withUnsafeBytes(of: word.bigEndian) { Array($0) } }
