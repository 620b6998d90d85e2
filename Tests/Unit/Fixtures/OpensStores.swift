import Testing

@testable import QuireCore

/// A suite that opens one small model in many files of a folder of its own.
protocol OpensStores {
  var folder: TemporaryFolder { get }
}

extension OpensStores {
  func model(_ extra: String? = nil) throws -> Model { try Self.makeModel(extra) }

  static func makeModel(_ extra: String? = nil) throws -> Model {
    let sketch = ModelSketch()
    try sketch.entity("Note", ["title": .string])
    try sketch.entity("Draft", parent: "Note", ["rank": .integer16])
    try sketch.entity("Tag", ["word": .string])
    if let extra { try sketch.entity(extra) }
    return sketch.model
  }

  func open(_ name: String = "a.sqlite", options: Store.Options = .init(), model: Model? = nil) throws -> Store {
    try Store.open(path: Text(folder.file(name)), model: try model ?? self.model(), options: options)
  }

  /// The failure of opening, after checking that the file and its log are as they were.
  func failure(
    _ name: String = "a.sqlite", options: Store.Options = .init(), model: Model? = nil
  ) throws -> Failure {
    let before = folder.bytes(name), logBefore = folder.bytes(name + "-wal")
    let found = try refusal { _ = try open(name, options: options, model: model) }
    // Compared outside the macro: it would print both files.
    let isUntouched = folder.bytes(name) == before
    #expect(isUntouched)
    let isLogUntouched = logBefore == nil || folder.bytes(name + "-wal") == logBefore
    #expect(isLogUntouched)
    #expect(found.message.string.hasSuffix("."))
    return found
  }

  func connection(_ name: String = "a.sqlite") throws -> Connection {
    try Connection.opened(
      path: Text(folder.file(name)), access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
  }

  /// What `body` fails with; an issue is recorded when it does not.
  func refusal(_ body: () throws -> Void) throws -> Failure {
    do {
      try body()
    } catch let failure as Failure {
      return failure
    }
    Issue.record("Nothing was refused.")
    return Failure(.validation, "Nothing was refused.")
  }

  func rows(_ connection: Connection, _ sql: String) throws(Failure) -> [String] {
    let select = try connection.statement(sql)
    var rows: [String] = []
    while try select.step() {
      rows.append((0..<select.columnCount).map { select.text(at: $0)?.string ?? "nil" }.joined(separator: "|"))
    }
    return rows
  }

  var readOnly: Store.Options {
    var options = Store.Options()
    options.isReadOnly = true
    return options
  }

  var existing: Store.Options {
    var options = Store.Options()
    options.mustExist = true
    return options
  }
}
