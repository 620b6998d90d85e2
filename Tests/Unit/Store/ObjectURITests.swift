import Testing

@testable import QuireCore

@Suite("Object URIs")
struct ObjectURITests {
  private let uuid = "E8AFD1EB-9427-4A9C-8B1D-0123456789AB"

  @Test("A permanent URI is read and written")
  func permanent() throws {
    let text = Text("x-coredata://\(uuid)/Session/p1")
    let uri = try ObjectURI(text)
    #expect(uri == ObjectURI(store: Text(uuid), entity: "Session", id: 1))
    #expect(uri.text == text)
    #expect(try ObjectURI(Text("x-coredata://\(uuid.lowercased())/Session/p1")) == uri)
    #expect(try ObjectURI(Text("x-coredata://\(uuid)/A/p\(Int64.max)")).key == .permanent(.max))
  }

  @Test("A temporary URI is read and written")
  func temporary() throws {
    let text = Text("x-coredata:///Note/t\(uuid)")
    let uri = try ObjectURI(text)
    #expect(uri.store == nil)
    #expect(uri.key == .temporary(uuid: Text(uuid)))
    #expect(uri.text == text)
  }

  @Test(
    "Anything else is refused with the part that is wrong",
    arguments: [
      ("", "begin"), ("http://U/Note/p1", "begin"), ("X-COREDATA://U/Note/p1", "begin"),
      ("x-coredata://U/Note", "2 parts"),
      ("x-coredata://U/Note/p1/", "4 parts"), ("x-coredata:///Note/p1", "store is missing"),
      ("x-coredata://me/Note/p1", "'me' is not a UUID"), ("x-coredata://U//p1", "entity is missing"),
      ("x-coredata://U/Note/p0", "'p0'"), ("x-coredata://U/Note/p", "'p'"), ("x-coredata://U/Note/p01", "'p01'"),
      ("x-coredata://U/Note/p-1", "'p-1'"), ("x-coredata://U/Note/p+1", "'p+1'"), ("x-coredata://U/Note/p1 ", "'p1 '"),
      ("x-coredata://U/Note/p9223372036854775808", "'p9223372036854775808'"), ("x-coredata://U/Note/1", "neither"),
      ("x-coredata://U/Note/", "neither"), ("x-coredata://U/Note/tU", "has no store"),
      ("x-coredata:///Note/tabc", "'tabc'"),
    ])
  func refused(pattern: String, reason: String) throws {
    let text = Text(String(pattern.split(separator: "U", omittingEmptySubsequences: false).joined(separator: uuid)))
    do throws(Failure) {
      _ = try ObjectURI(text)
      Issue.record("\(text) was read.")
    } catch {
      #expect(error.kind == .invalidArgument)
      #expect(error.message.string.contains(reason), "\(error)")
    }
  }

  @Test("A store finds its own objects, and refuses those of others")
  func store() throws {
    let sketch = ModelSketch()
    try sketch.entity("Item")
    try sketch.entity("Note", parent: "Item")
    let store = try Store.open(path: ":memory:", model: sketch.model)
    let note = try sketch.model.entity(named: "Note")
    let uri = store.uri(of: 7, entity: note)
    #expect(uri.text.string == "x-coredata://\(store.uuid)/Note/p7")
    let found = try store.reference(uri)
    #expect(found.entity === note)
    #expect(found.reference == ObjectReference(root: 1, id: 7))
    for other in [
      ObjectURI(store: Text(uuid), entity: "Note", id: 7), ObjectURI(store: store.uuid, entity: "Nothing", id: 7),
      try ObjectURI(Text("x-coredata:///Note/t\(uuid)")),
    ] {
      #expect(throws: Failure.self) { try store.reference(other) }
    }
  }
}
