import Testing

@testable import QuireCore

@Suite("Property lists of strangers")
struct PropertyListTests {
  /// A property list of these objects, whose offsets and references take two bytes.
  private func binary(_ objects: [[UInt8]], top: UInt8 = 0) -> Bytes {
    var bytes = Array("bplist00".utf8), offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 2]
    for number in [objects.count, Int(top), table] {
      bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 0xFF) }
    }
    return Bytes(bytes)
  }

  @Test("Nesting and sharing that would exhaust the reader are refused")
  func hostile() {
    let leaf: [UInt8] = [0x08]
    // Arrays within arrays, 10,000 deep.
    var deep: [[UInt8]] = (1...10_000).map { [0xA1, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    deep.append(leaf)
    #expect(PropertyListValue(binary: binary(deep)) == nil)
    // Each array holds the next one fourteen times.
    var wide: [[UInt8]] = (1...30).map { level in
      let reference: [UInt8] = [0, UInt8(level)]
      return [0xAE] + [[UInt8]](repeating: reference, count: 14).flatMap { $0 }
    }
    wide.append(leaf)
    #expect(PropertyListValue(binary: binary(wide)) == nil)
    // An array that holds itself.
    #expect(PropertyListValue(binary: binary([[0xA1, 0, 0]])) == nil)
    // A dictionary that says it has more entries than there are bytes.
    #expect(PropertyListValue(binary: binary([[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])) == nil)
  }

  @Test("Changing, cutting and mixing bytes never ends the process")
  func damaged() throws {
    let list = PropertyListValue.dictionary([
      "NSStoreType": .text("SQLite"), "NSStoreModelVersionIdentifiers": .array([.text("")]),
      "NSStoreModelVersionHashes": .dictionary(["Note": .data(Bytes([UInt8](repeating: 7, count: 32)))]),
    ])
    let written = try #require(list.binary)
    let whole = withExtendedLifetime(written) { Array(written.buffer) }
    func use(_ bytes: [UInt8]) {
      _ = PropertyListValue(binary: Bytes(bytes))?.binary
    }
    for count in 0..<whole.count { use(Array(whole.prefix(count))) }
    for index in whole.indices {
      for byte: UInt8 in [0, 1, 0x0F, 0x7F, 0x80, 0xA1, 0xD1, 0xDF, 0xFF] {
        var changed = whole
        changed[index] = byte
        use(changed)
      }
    }
    #expect(PropertyListValue(binary: Bytes(whole)) == list)
  }
}
