import Testing

@testable import QuireCore

/// What is given at the opening of a store holds for each of its connections.
@Suite("Connections of a store")
struct ConnectionsTests: OpensStores {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A store with a large value, so that SQL reads files beside it, and with a text index.
  private func makeModel() throws -> Model {
    let sketch = ModelSketch()
    try sketch.entity("Note", ["title": .string])
    let model = sketch.model
    try model.addAttribute(
      named: "picture", to: "Note", type: .binary, isOptional: true,
      traits: AttributeTraits(allowsExternalStorage: true))
    return model
  }

  private func names(_ connection: Connection, _ list: String) throws -> Set<String> {
    Set(try rows(connection, "SELECT DISTINCT name FROM pragma_\(list)"))
  }

  private func setting(_ name: String, _ connection: Connection) throws -> [String] {
    try rows(connection, "SELECT * FROM pragma_\(name)")
  }

  @Test(
    "Each has the functions, collations and settings of the first",
    arguments: ["a.sqlite", "read only", ":memory:", "a.xml"])
  func likeness(kind: String) throws {
    var options = Store.Options()
    options.busyTimeoutMilliseconds = 1234
    options.synchronousNormal = true
    if kind == "read only" {
      try open("a.sqlite", model: makeModel()).close()
      options.isReadOnly = true
    }
    if kind == "a.xml" { options.type = .xml }
    let path = kind == ":memory:" ? kind : folder.file(kind == "read only" ? "a.sqlite" : kind)
    let store = try Store.open(path: Text(path), model: makeModel(), options: options)
    let first = store.connection
    let (reading, _) = try store.pool.take()
    var others = [reading]
    if kind == "a.sqlite" { others += [try first.another(), try first.anotherBesideLog()] }
    for (number, other) in others.enumerated() {
      var functions = try names(first, "function_list")
      // What writes or copies reads no large values.
      if number > 0 { functions.remove(SQLFunction.external.name) }
      #expect(try names(other, "function_list").isSuperset(of: functions))
      #expect(try names(other, "collation_list") == names(first, "collation_list"))
      for name in ["busy_timeout", "foreign_keys", "trusted_schema", "encoding", "recursive_triggers"] {
        #expect(try setting(name, other) == setting(name, first), "\(name) of \(number)")
      }
    }
    #expect(try setting("busy_timeout", first) == ["1234"] && setting("trusted_schema", first) == ["0"])
    #expect(try setting("query_only", reading) == ["1"])
    #expect(try setting("temp_store", reading) == setting("temp_store", first))
    others.dropFirst().forEach { $0.close() }
    store.pool.giveBack(reading)
    try store.close()
  }

  @Test("A log of the opening hears each that reads, and those that are made later")
  func log() throws {
    let heard = Guarded<[String]>([])
    var options = Store.Options()
    options.log = SQLLog(includesValues: false, leastNanoseconds: 0) { entry in
      heard.withLock { $0.append(String(cString: entry.sql)) }
    }
    let store = try open(options: options)
    let (first, _) = try store.pool.take(), (second, _) = try store.pool.take()
    for connection in [first, second] { #expect(try rows(connection, "SELECT 'this one'") == ["this one"]) }
    #expect(heard.withLock { $0.filter { $0.contains("this one") } }.count == 2)
    store.pool.giveBack(second)
    try store.setLog(nil)
    let (again, _) = try store.pool.take()
    #expect(again === second)
    for connection in [store.connection, again] { _ = try rows(connection, "SELECT 'that one'") }
    #expect(heard.withLock { $0.filter { $0.contains("that one") } }.isEmpty)
    for connection in [first, again] { store.pool.giveBack(connection) }
    try store.close()
  }
}
