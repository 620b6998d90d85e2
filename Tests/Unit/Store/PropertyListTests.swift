import Testing

@testable import QuireCore

@Suite("Property lists")
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

  @Test("What is written is read, and other keys survive")
  func roundTrip() throws {
    let list = try #require(PropertyList())
    list.set("text", to: "ü")
    list.set("number", to: 1321)
    list.set("texts", to: ["", "a"])
    list.set("data", to: [("x", [1, 0, 2]), ("y", [])])
    let written = try #require(list.binary)
    let again = try #require(PropertyList(binary: written))
    #expect(again.string("text") == "ü")
    #expect(again.integer("number") == 1321)
    #expect(again.dataByName("data") == ["x": [1, 0, 2], "y": []])
    again.set("text", to: "changed")
    let rewritten = try #require(again.binary)
    let last = try #require(PropertyList(binary: rewritten))
    #expect(last.string("text") == "changed")
    #expect(last.dataByName("data") == ["x": [1, 0, 2], "y": []])
  }

  @Test("A key that is missing, or holds something else, is nil")
  func otherTypes() throws {
    let list = try #require(PropertyList())
    list.set("text", to: "x")
    list.set("number", to: 1)
    #expect(list.string("none") == nil)
    #expect(list.string("number") == nil)
    #expect(list.integer("text") == nil)
    #expect(list.dataByName("text") == nil)
  }

  @Test("Nesting and sharing that would exhaust the reader are refused")
  func hostile() {
    let leaf: [UInt8] = [0x08]
    // Arrays within arrays, 10,000 deep.
    var deep: [[UInt8]] = (1...10_000).map { [0xA1, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    deep.append(leaf)
    #expect(PropertyList(binary: binary(deep)) == nil)
    // Each array holds the next one fourteen times.
    var wide: [[UInt8]] = (1...30).map { level in
      let reference: [UInt8] = [0, UInt8(level)]
      return [0xAE] + [[UInt8]](repeating: reference, count: 14).flatMap { $0 }
    }
    wide.append(leaf)
    #expect(PropertyList(binary: binary(wide)) == nil)
    // An array that holds itself.
    #expect(PropertyList(binary: binary([[0xA1, 0, 0]])) == nil)
    // A dictionary that says it has more entries than there are bytes.
    #expect(PropertyList(binary: binary([[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])) == nil)
  }

  @Test("A list whose root is no dictionary is refused")
  func otherRoot() {
    #expect(PropertyList(binary: binary([[0xA0]])) == nil)
    #expect(PropertyList(binary: binary([[0x51, 0x61]])) == nil)
    #expect(PropertyList(binary: binary([[0xD0]])) != nil)
  }

  @Test("Changing, cutting and mixing bytes never ends the process")
  func damaged() throws {
    let list = try #require(PropertyList())
    list.set("NSStoreType", to: "SQLite")
    list.set("NSStoreModelVersionHashes", to: [("Note", [UInt8](repeating: 7, count: 32))])
    list.set("NSStoreModelVersionIdentifiers", to: [""])
    let written = try #require(list.binary)
    let whole = withExtendedLifetime(written) { Array(written.buffer) }
    func use(_ bytes: [UInt8]) {
      let list = PropertyList(binary: Bytes(bytes))
      _ = list?.string("NSStoreType")
      _ = list?.integer("NSStoreType")
      _ = list?.dataByName("NSStoreModelVersionHashes")
      _ = list?.binary
    }
    for count in 0..<whole.count { use(Array(whole.prefix(count))) }
    for index in whole.indices {
      for byte: UInt8 in [0, 1, 0x0F, 0x7F, 0x80, 0xA1, 0xD1, 0xDF, 0xFF] {
        var changed = whole
        changed[index] = byte
        use(changed)
      }
    }
    #expect(PropertyList(binary: Bytes(whole))?.string("NSStoreType") == "SQLite")
  }
}
