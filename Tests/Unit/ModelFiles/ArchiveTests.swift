import Testing

@testable import QuireCore

@Suite("Keyed archives")
struct ArchiveTests {
  private func decoded(_ make: (inout ArchiveEncoder) -> PropertyListValue) throws -> String {
    var encoder = ArchiveEncoder()
    let root = make(&encoder)
    let bytes = try #require(encoder.archive(of: root))
    return try ArchiveDecoder.item(of: bytes).description
  }

  private func refusal(_ make: (inout ArchiveEncoder) -> PropertyListValue) throws -> Failure.Kind? {
    do {
      _ = try decoded(make)
      return nil
    } catch { return (error as? Failure)?.kind }
  }

  @Test("Values come back as they were")
  func values() throws {
    let values: [QuireCore.Value] = [
      .nil, .integer(-7), .boolean(true), .double(0.5), .text("ü"), .text(""), .data(Bytes([1, 2])), .date(1e9),
      .uuid(Bytes(Array(0..<16))), .uri("https://example.org/a"), .decimal(try #require(Decimal("-12.50".utf8))),
      .decimal(try #require(Decimal("12345678901234567890123456789012345678e-20".utf8))),
    ]
    for value in values {
      var encoder = ArchiveEncoder()
      let root = encoder.value(value)
      let bytes = try #require(encoder.archive(of: root))
      guard case .value(let read) = try ArchiveDecoder.item(of: bytes) else {
        Issue.record("\(value) is no single value")
        continue
      }
      #expect(read.isIdentical(to: value), "\(value)")
    }
  }

  @Test("Containers, and objects of other classes")
  func containers() throws {
    #expect(
      try decoded { $0.list([$0.text("a"), ArchiveEncoder.null, $0.plain(.integer(3))], "NSSet") } == "[a, nil, 3]")
    #expect(try decoded { $0.dictionary([("k", $0.plain(.boolean(true))), ("j", $0.text("x"))]) } == "{j: x, k: 1}")
    #expect(
      try decoded {
        $0.object("App.Cover", ["text": $0.text("Quire"), "size": .integer(2)])
      } == "{$class: App.Cover, size: 2, text: Quire}")
    // Keys that are no text make a dictionary an object.
    #expect(
      try decoded {
        let key = $0.plain(.integer(1)), value = $0.text("one")
        return $0.object("NSDictionary", ["NS.keys": .array([key]), "NS.objects": .array([value])])
      } == "{$class: NSDictionary, NS.keys: [1], NS.objects: [one]}")
  }

  @Test("A cycle, a bomb and deep nesting are refused, and so is what is damaged")
  func refused() throws {
    #expect(
      try refusal {
        let place = $0.reserve()
        $0.set(place, "NSArray", ["NS.objects": .array([place])])
        return place
      } == .unsupported)
    #expect(
      try refusal { encoder in
        (0..<30).reduce(encoder.text("x")) { inner, _ in encoder.list(Array(repeating: inner, count: 10)) }
      } == .unsupported)
    #expect(
      try refusal { encoder in (0..<100).reduce(encoder.text("x")) { inner, _ in encoder.list([inner]) } }
        == .unsupported)
    #expect(try refusal { $0.object("A", ["x": .uid(1_000_000)]) } == .invalidArgument)
    #expect(try refusal { $0.plain(.dictionary(["x": .integer(1)])) } == .invalidArgument)
    for bytes in [[], Array("bplist00".utf8), Array("<plist/>".utf8)] as [[UInt8]] {
      #expect(throws: Failure.self) { try ArchiveDecoder.item(of: Bytes(bytes)) }
    }
  }

  @Test("Shared objects are one object each time")
  func shared() throws {
    #expect(
      try decoded { encoder in
        let inner = encoder.list([encoder.text("x")])
        return encoder.list([inner, inner])
      } == "[[x], [x]]")
  }

  @Test("Deflated bytes come back, and damaged ones do not")
  func deflate() throws {
    for count in [0, 1, 100, 100_000] {
      let bytes = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
      let deflated = try #require(Deflate.deflate(bytes))
      #expect(Deflate.inflate(deflated) == bytes)
      #expect(Deflate.inflate(Bytes(deflated.buffer.dropLast())) == nil)
    }
    #expect(Deflate.inflate(Bytes([])) == nil)
    #expect(Deflate.inflate(Bytes([0xFF, 0xFF])) == nil)
    // More than any model, in a thousandth of the size.
    let bomb = try #require(Deflate.deflate(Bytes([UInt8](repeating: 0, count: Deflate.mostInflated + 1))))
    #expect(bomb.count < 100_000)
    #expect(Deflate.inflate(bomb) == nil)
  }
}

extension Item {
  /// Short, for comparison.
  fileprivate var description: String {
    switch self {
    case .value(.nil): "nil"
    case .value(let value): value.sectionName.string
    case .subject: "object"
    case .list(let items): "[\(items.map(\.description).joined(separator: ", "))]"
    case .dictionary(let dictionary):
      "{\(dictionary.items.sorted { $0.key < $1.key }.map { "\($0): \($1.description)" }.joined(separator: ", "))}"
    }
  }
}
