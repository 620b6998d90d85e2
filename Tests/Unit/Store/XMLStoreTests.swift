import CSQLite
import Glibc
import Testing

@testable import QuireCore

@Suite("XML stores")
struct XMLStoreTests: OpensStores {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func xml(_ name: String = "a.xml") throws -> Store {
    var options = Store.Options()
    options.type = .xml
    return try open(name, options: options)
  }

  private func insert(_ store: Store, _ entityName: String, _ values: [String: Value]) throws {
    let entity = try store.model.entity(named: entityName)
    var slots = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
    for (key, value) in values { slots[try entity.property(named: key).slot] = value }
    _ = try store.save(SaveRequest(inserts: [SaveRequest.Insert(entity: entity, id: -1, values: slots)]))
  }

  private func text(_ name: String = "a.xml") throws -> String {
    String(decoding: try #require(folder.bytes(name)), as: UTF8.self)
  }

  private func spelled(_ string: String) -> (written: String, read: Text) {
    var output: ContiguousArray<UInt8> = []
    XMLStoreText.append(Text(string), to: &output)
    let read = output.withUnsafeBufferPointer { XMLStoreText.decoded($0) }
    return (String(decoding: output, as: UTF8.self), Text(trusted: read))
  }

  // MARK: Spelling

  @Test("Text that XML cannot have is written as the framework writes some characters")
  func spelling() {
    let cases = [
      ("a\\b", "a\\b"), ("\\u", "\\u5c00u"), ("\u{1}", "\\u0100"), ("\0", "\\u0000"), ("\u{1F}", "\\u1f00"),
      ("\u{FFFE}\u{FFFF}", "\\ufeff\\uffff"), ("<&>", "&lt;&amp;&gt;"), ("\r\n\t", "&#13;\n\t"), ("é🐘", "é🐘"),
      ("\\\u{1}", "\\\\u0100"),
    ]
    for (text, written) in cases { #expect(spelled(text).written == written, "\(text.debugDescription)") }
  }

  @Test("Any text comes back", arguments: Dice.seeds(3))
  func texts(seed: UInt64) {
    var dice = Dice(seed: seed)
    let parts = ["\\", "u", "0", "5c00", "u0100", "\u{1}", "\0", "é", "\u{FFFE}", "ﬀ", "\\u3c00", "\u{7F}", "a"]
    for _ in 0..<2000 {
      let text = (0..<dice.roll(9)).map { _ in dice.pick(parts) ?? "" }.joined()
      // XML itself resolves its references, of which these texts need none.
      #expect(spelled(text).read == Text(text), "seed \(seed): \(text.debugDescription)")
    }
  }

  @Test("Numbers and dates come back bit by bit", arguments: Dice.seeds(3))
  func numbers(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    for place in 0..<3000 {
      let bits = UInt64(dice.roll(1 << 31)) << 33 ^ UInt64(dice.roll(1 << 31)) << 2 ^ UInt64(dice.roll(4))
      let number = place == 0 ? Double.leastNonzeroMagnitude : Double(bitPattern: bits)
      if number.isNaN || number == 0 { continue }
      for (value, type) in [(Value.double(number), AttributeType.double), (.date(number), .date)] {
        var output: ContiguousArray<UInt8> = []
        try XMLStoreValue.append(value, to: &output)
        let read = try #require(output.withUnsafeBufferPointer { XMLStoreValue.value($0, as: type) })
        #expect(read.isIdentical(to: value), "seed \(seed): \(number)")
      }
    }
  }

  // MARK: Commits

  @Test("A commit that fails when the new file is in place takes the file back, too")
  func failedCommit() throws {
    let store = try xml()
    try insert(store, "Tag", ["word": .text("first")])
    let fetch = { (store: Store) in try rows(store.connection, "SELECT ZWORD FROM ZTAG ORDER BY 1") }
    sqlite3_commit_hook(store.connection.handle, { _ in 1 }, nil)
    let failed = try refusal { try insert(store, "Tag", ["word": .text("second")]) }
    #expect(failed.kind == .constraint, "\(failed)")
    sqlite3_commit_hook(store.connection.handle, nil, nil)
    #expect(try fetch(store) == ["first"])
    #expect(try !text().contains("second"))
    #expect(store.xml?.isAhead == false)
    try insert(store, "Tag", ["word": .text("third")])
    #expect(try text().contains("third"))
    try store.close()
    let again = try xml()
    #expect(try fetch(again) == ["first", "third"])
    try again.close()
  }

  @Test("Keys that are taken ahead write no file")
  func reservedKeys() throws {
    let store = try xml()
    let before = try text()
    let tag = try store.model.entity(named: "Tag"), note = try store.model.entity(named: "Note")
    #expect(store.reserveIDs(root: tag, count: 1) == 102)
    let other = try #require(store.reserveIDs(root: note, count: 1))
    #expect(other > 102)
    #expect(try text() == before)
    try store.close()
    #expect(try text() == before)
    #expect(folder.names == ["a.xml"])
  }

  // MARK: Names

  @Test("Names that differ in case alone have no XML store")
  func names() throws {
    let model = Model(origin: .file)
    try model.addEntity(named: "Note")
    for name in ["title", "Title"] {
      let attribute = LoadedAttribute(
        name: name, type: .string, isOptional: true, isTransient: false, isSearchable: false, defaultValue: .nil,
        rules: AttributeRules(), conditions: [], derivation: nil, traits: AttributeTraits(), modifier: "",
        renaming: "")
      try model.addLoadedAttribute(attribute, to: "Note")
    }
    var options = Store.Options()
    options.type = .xml
    let failed = try refusal { _ = try open("a.xml", options: options, model: model) }
    #expect(failed.kind == .unsupported)
    #expect(failed.message.string.contains("'Note.Title' and 'Note.title'"), "\(failed)")
    #expect(folder.names == [])
  }

  // MARK: Screening

  @Test("Lines are told beyond what libxml2 counts, and tags in comments and texts are none")
  func lines() {
    let filler = String(repeating: "\n", count: 70_000)
    let head = "<?xml version='1.0'?>\n<!-- <a> \n -->\(filler)<database x='>\n'>\n"
    let text = head + "<![CDATA[<b>\n]]><object>\n</object></database>"
    let bytes = Bytes(Array(text.utf8))
    #expect(XMLStoreScreening.line(ofElement: 1, in: bytes) == 70_003)
    #expect(XMLStoreScreening.line(ofElement: 2, in: bytes) == 70_006)
    #expect(XMLStoreScreening.problem(of: bytes) == nil)
  }
}
