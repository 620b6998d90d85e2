import CPropertyList
import Glibc

/// A property list whose root is a dictionary, as kept in Z_PLIST. Keys that are not asked for are kept as they are.
final class PropertyList {
  private let root: plist_t

  /// An empty dictionary; nil when there is no memory for it.
  init?() {
    guard let root = plist_new_dict() else { return nil }
    self.root = root
  }

  /// nil when `binary` is not a binary property list with a dictionary at its root, or is built to exhaust the reader.
  init?(binary: Bytes) {
    guard BinaryPropertyListGuard.accepts(binary), let size = UInt32(exactly: binary.count) else { return nil }
    var parsed: plist_t?
    withExtendedLifetime(binary) {
      binary.buffer.withMemoryRebound(to: CChar.self) { plist_from_bin($0.baseAddress, size, &parsed) }
    }
    guard let parsed else { return nil }
    guard plist_get_node_type(parsed) == PLIST_DICT else {
      plist_free(parsed)
      return nil
    }
    root = parsed
  }

  deinit { plist_free(root) }

  /// nil when libplist could not write it.
  var binary: Bytes? {
    var start: UnsafeMutablePointer<CChar>?
    var size: UInt32 = 0
    plist_to_bin(root, &start, &size)
    guard let start else { return nil }
    defer { free(start) }
    return start.withMemoryRebound(to: UInt8.self, capacity: Int(size)) {
      Bytes(UnsafeBufferPointer(start: $0, count: Int(size)))
    }
  }
}

// MARK: - Reading: nil when the key is missing or holds something else

extension PropertyList {
  func string(_ key: String) -> String? {
    guard let node = plist_dict_get_item(root, key), plist_get_node_type(node) == PLIST_STRING else { return nil }
    return plist_get_string_ptr(node, nil).map { String(cString: $0) }
  }

  func integer(_ key: String) -> UInt64? {
    guard let node = plist_dict_get_item(root, key), plist_get_node_type(node) == PLIST_UINT else { return nil }
    var integer: UInt64 = 0
    plist_get_uint_val(node, &integer)
    return integer
  }

  /// A dictionary that holds data and nothing else.
  func dataByName(_ key: String) -> [String: [UInt8]]? {
    guard let node = plist_dict_get_item(root, key), plist_get_node_type(node) == PLIST_DICT else { return nil }
    var iterator: plist_dict_iter?
    plist_dict_new_iter(node, &iterator)
    guard let iterator else { return nil }
    defer { free(iterator) }
    var result: [String: [UInt8]] = [:]
    while true {
      var name: UnsafeMutablePointer<CChar>?
      var item: plist_t?
      plist_dict_next_item(node, iterator, &name, &item)
      defer { free(name) }
      guard let name, let item else { return result }
      guard plist_get_node_type(item) == PLIST_DATA else { return nil }
      var size: UInt64 = 0
      let start = plist_get_data_ptr(item, &size)
      result[String(cString: name)] = Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(size)))
    }
  }
}

// MARK: - Writing

extension PropertyList {
  func set(_ key: String, to string: String) { plist_dict_set_item(root, key, plist_new_string(string)) }

  func set(_ key: String, to integer: UInt64) { plist_dict_set_item(root, key, plist_new_uint(integer)) }

  func set(_ key: String, to strings: [String]) {
    let array = plist_new_array()
    for string in strings { plist_array_append_item(array, plist_new_string(string)) }
    plist_dict_set_item(root, key, array)
  }

  func set(_ key: String, to dataByName: [(name: String, hash: [UInt8])]) {
    let dictionary = plist_new_dict()
    for (name, data) in dataByName {
      let node = data.withUnsafeBytes {
        plist_new_data($0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64($0.count))
      }
      plist_dict_set_item(dictionary, name, node)
    }
    plist_dict_set_item(root, key, dictionary)
  }
}
