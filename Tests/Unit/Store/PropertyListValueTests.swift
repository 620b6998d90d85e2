import Testing

@testable import QuireCore

@Suite("Values of property lists")
struct PropertyListValueTests {
  private let list = PropertyListValue.dictionary([
    "text": .text("ü😀"), "none": .text(""), "data": .data(Bytes([0, 1, 255])), "empty": .data(Bytes([])),
    "numbers": .array([.integer(0), .integer(-1), .integer(.min), .integer(.max), .integer(65536)]),
    "reals": .array([.real(0.1), .real(-1e300)]), "flags": .array([.boolean(true), .boolean(false)]),
    "dates": .array([.date(64_092_211_200.5), .date(-1.25), .date(0)]), "uids": .array([.uid(0), .uid(70_000)]),
    "nested": .dictionary(["a": .array([.dictionary([:]), .array([])])]),
  ])

  @Test("Every kind is written and read again, dates of far years included")
  func roundTrip() throws {
    let written = try #require(list.binary)
    #expect(PropertyListValue(binary: written) == list)
    #expect(PropertyListValue(written) == list)
    #expect(list.binary == written)
  }

  @Test("Lists in XML are read")
  func xml() {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>A &amp; B.xcdatamodel</string></dict></plist>
      """
    #expect(
      PropertyListValue(Bytes(text.utf8)) == .dictionary(["_XCCurrentVersionName": .text("A & B.xcdatamodel")]))
    #expect(PropertyListValue(Bytes("<plist><dict>".utf8)) == nil)
    #expect(PropertyListValue(Bytes([])) == nil)
    let deep = String(repeating: "<array>", count: 100_000) + String(repeating: "</array>", count: 100_000)
    #expect(PropertyListValue(Bytes("<plist>\(deep)</plist>".utf8)) == nil)
  }

  @Test("Text with U+0000 cannot be written")
  func nul() {
    #expect(PropertyListValue.array([.text("a\0b")]).binary == nil)
    #expect(PropertyListValue.dictionary(["a\0b": .text("")]).binary == nil)
  }

  @Test("A list that says one long text very often is refused")
  func bomb() throws {
    let long = PropertyListValue.text(String(repeating: "x", count: 10_000))
    let written = try #require(PropertyListValue.array(Array(repeating: long, count: 2_000)).binary)
    // It was written once.
    #expect(written.count < 20_000)
    #expect(PropertyListValue(binary: written) == nil)
  }

  @Test("Changing and cutting bytes never ends the process")
  func damaged() throws {
    let written = try #require(list.binary)
    let whole = Array(written.buffer)
    for count in 0..<whole.count { _ = PropertyListValue(Bytes(whole.prefix(count))) }
    for index in whole.indices {
      for byte: UInt8 in [0, 1, 0x0F, 0x33, 0x4F, 0x5F, 0x7F, 0x80, 0xA1, 0xD1, 0xDF, 0xFF] {
        var changed = whole
        changed[index] = byte
        _ = PropertyListValue(Bytes(changed))?.binary
      }
    }
  }
}
