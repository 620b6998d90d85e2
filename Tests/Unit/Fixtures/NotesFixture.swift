import CSQLite
import Testing

@testable import QuireCore

/// Another program that knows SQLite and nothing else: none of our functions, its own connection.
final class ForeignProgram {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    #expect(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 5000)
    sqlite3_exec(handle, "PRAGMA synchronous = OFF", nil, nil, nil)
  }

  deinit { sqlite3_close(handle) }

  /// Rows with their columns joined by a bar, NULL as "-".
  @discardableResult
  func run(_ sql: String, _ arguments: [Value] = []) throws -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
    defer { sqlite3_finalize(statement) }
    for (place, argument) in arguments.enumerated() {
      let index = Int32(place + 1)
      switch argument {
      case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
      case .text(let text):
        let start = UnsafeRawPointer(text.bytes.start).assumingMemoryBound(to: CChar.self)
        _ = quire_sqlite_bind_text_copy(statement, index, start, UInt64(text.bytes.count))
      default: sqlite3_bind_null(statement, index)
      }
    }
    var rows: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
          }.joined(separator: "|"))
      case SQLITE_DONE: return rows
      default: throw failure(sql)
      }
    }
  }

  /// The texts of a column by key, bytes and all.
  func texts(_ sql: String) throws -> [(Int64, Bytes?)] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
    defer { sqlite3_finalize(statement) }
    var found: [(Int64, Bytes?)] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      let text = sqlite3_column_type(statement, 1) == SQLITE_TEXT ? sqlite3_column_text(statement, 1) : nil
      let count = Int(sqlite3_column_bytes(statement, 1))
      found.append(
        (sqlite3_column_int64(statement, 0), text.map { Bytes(UnsafeBufferPointer(start: $0, count: count)) }))
    }
    return found
  }

  private func failure(_ sql: String) -> Failure {
    Failure(.database, "\(String(cString: sqlite3_errmsg(handle))) in \(sql)")
  }
}

/// A store of notes whose titles and links are searchable.
final class NotesFixture {
  let folder = try? TemporaryFolder()
  var path: String { folder?.file("notes.sqlite") ?? "" }
  private(set) var store: Store

  init() throws { store = try Store.open(path: Text(folder?.file("notes.sqlite") ?? ""), model: NotesFixture.model()) }

  static func model(searchable: Bool = true) throws -> Model {
    let model = Model()
    try model.addEntity(named: "Note")
    try model.addAttribute(
      named: "title", to: "Note", type: .string, isOptional: true, isSearchable: searchable)
    try model.addAttribute(named: "link", to: "Note", type: .uri, isOptional: true, isSearchable: searchable)
    try model.addAttribute(named: "code", to: "Note", type: .integer64, isOptional: true)
    try model.addEntity(named: "Shelf")
    try model.addRelationship(
      { Relationship(name: "note", entity: $0, destinationName: "Note", isOptional: true) }, named: "note", to: "Shelf")
    try model.addUniquenessConstraint(to: "Note", properties: ["code"])
    return model
  }

  func reopen(readOnly: Bool = false, searchable: Bool = true) throws {
    try store.close()
    store = try Store.open(
      path: Text(path), model: NotesFixture.model(searchable: searchable),
      options: .init(isReadOnly: readOnly, synchronousNormal: true))
  }

  func insert(_ titles: [String?], code: Int64? = nil) throws {
    let entity = try store.model.entity(named: "Note")
    var inserts: ContiguousArray<SaveRequest.Insert> = []
    for (place, title) in titles.enumerated() {
      var values = ContiguousArray<Value>(repeating: .nil, count: entity.properties.count)
      values[try entity.property(named: "title").slot] = title.map { .text(Text($0)) } ?? .nil
      values[try entity.property(named: "link").slot] = title.map { .uri(Text("note:" + $0)) } ?? .nil
      values[try entity.property(named: "code").slot] = code.map { .integer($0) } ?? .nil
      inserts.append(SaveRequest.Insert(entity: entity, id: -1 - Int64(place), values: values))
    }
    _ = try store.save(SaveRequest(inserts: inserts))
  }

  func plan(_ entity: String = "Note", where predicate: Predicate) throws -> FetchPlan {
    FetchPlan(entity: try store.model.entity(named: entity), predicate: predicate)
  }

  func ids(_ format: String) throws -> [Int64] {
    try store.newest.ids(try plan(where: try Predicate.parse(Text(format)))).map(\.id)
  }

  /// Whether a fetch looks into the text index.
  func usesIndex(_ format: String) throws -> Bool {
    try store.newest.explain(try plan(where: try Predicate.parse(Text(format)))).steps.contains {
      $0.contains("VIRTUAL TABLE")
    }
  }
}
