import Testing

@testable import QuireCore

@Suite("Statements and connections")
struct StatementTests {
  private func connection() throws -> Connection {
    try Connection.opened(path: ":memory:", access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
  }

  /// The value that `sql` selects, read as an attribute of that type.
  private func read(_ sql: String, as type: AttributeType) throws(Failure) -> Value {
    let connection = try Connection.opened(
      path: ":memory:", access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
    let select = try connection.statement("SELECT \(sql) AS ZFIELD")
    _ = try select.step()
    return try select.value(at: 0, as: type)
  }

  /// What a value looks like, kind included.
  private func describe(_ value: Value) -> String {
    switch value {
    case .integer(let integer): "integer \(integer)"
    case .boolean(let boolean): "boolean \(boolean)"
    case .double(let double): "double \(double)"
    case .float(let float): "float \(float)"
    case .decimal(let decimal): "decimal \(decimal)"
    case .text(let text): "text \(text)"
    case .uri(let text): "uri \(text)"
    case .date(let seconds): "date \(seconds)"
    case .data(let bytes): "data \(Array(bytes.buffer))"
    case .uuid(let bytes): "uuid \(bytes.count)"
    default: value.kindName
    }
  }

  @Test("Every kind of value comes back from a column of its type")
  func roundTrip() throws {
    let connection = try connection()
    try connection.execute(
      "CREATE TABLE T (I INTEGER, B INTEGER, F FLOAT, D DECIMAL, S VARCHAR, T TIMESTAMP, X BLOB, U BLOB, L VARCHAR)")
    let decimal = try #require(Decimal("10.11".utf8))
    let values: [(Value, AttributeType)] = [
      (.integer(.min), .integer64), (.boolean(true), .boolean), (.float(0.1), .float), (.decimal(decimal), .decimal),
      (.text("a\0ü"), .string), (.date(-0.5), .date), (.data(Bytes([])), .binary),
      (.uuid(Bytes(Array(0..<16))), .uuid), (.uri("x:y"), .uri),
    ]
    let insert = try connection.statement("INSERT INTO T VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    for (index, (value, _)) in values.enumerated() { try insert.bind(value, at: index + 1) }
    try insert.run()
    for (index, _) in values.enumerated() { try insert.bind(.nil, at: index + 1) }
    try insert.run()
    let select = try connection.statement("SELECT * FROM T")
    #expect(try select.step())
    for (index, (value, type)) in values.enumerated() {
      #expect(describe(try select.value(at: index, as: type)) == describe(value))
    }
    #expect(select.data(at: 6)?.count == 0)
    #expect(try select.step())
    for (index, (_, type)) in values.enumerated() {
      #expect(try select.value(at: index, as: type).isNil)
      #expect(select.isNull(at: index))
    }
    #expect(try !select.step())
  }

  @Test(
    "Whole dates and decimals may be integers in the file",
    arguments: [
      (AttributeType.date, "7", "date 7.0"), (.decimal, "7", "decimal 7"), (.double, "7", "double 7.0"),
      (.float, "7", "float 7.0"), (.boolean, "2", "boolean true"), (.undefined, "'x'", "text x"),
      (.binary, "zeroblob(1)", "data [0]"), (.transformable, "x'05'", "data [5]"),
    ])
  func accepted(type: AttributeType, sql: String, expected: String) throws {
    #expect(describe(try read(sql, as: type)) == expected)
  }

  @Test(
    "A wrong storage class is a failure that names the column",
    arguments: [
      (AttributeType.integer16, "'7'"), (.integer64, "7.5"), (.boolean, "'x'"), (.double, "'1'"), (.float, "x'01'"),
      (.decimal, "'1'"), (.decimal, "9e999"), (.date, "'2020-01-01'"), (.string, "7"), (.string, "x'41'"),
      (.string, "CAST(x'FF' AS TEXT)"), (.uri, "CAST(x'C0AF' AS TEXT)"), (.binary, "'x'"), (.uuid, "x'01'"),
      (.uuid, "zeroblob(17)"), (.uuid, "'0123456789012345'"), (.transformable, "1"),
    ])
  func refused(type: AttributeType, sql: String) throws {
    do throws(Failure) {
      _ = try read(sql, as: type)
      Issue.record("\(sql) was read as \(type.name).")
    } catch {
      #expect(error.kind == .database)
      #expect(error.message.string.contains("'ZFIELD'"))
    }
  }

  @Test("A parameter or column that does not exist does no harm")
  func outOfRange() throws {
    let connection = try connection()
    let select = try connection.statement("SELECT ?")
    for index in [0, 2, -1, Int.max, Int.min] {
      #expect(throws: Failure.self) { try select.bind(Int64(1), at: index) }
    }
    #expect(throws: Failure.self) { try select.bind(.list([]), at: 1) }
    try select.bind(Int64(5), at: 1)
    #expect(try select.step())
    for column in [1, -1, Int.max, Int.min] {
      #expect(select.isNull(at: column))
      #expect(select.integer(at: column) == 0)
      #expect(select.text(at: column) == nil)
      #expect(try select.value(at: column, as: .string).isNil)
    }
  }

  @Test("A statement in use twice is two statements, and a left one is clean when it is used again")
  func reuse() throws {
    let connection = try connection()
    let sql = "WITH N(V) AS (VALUES (1), (2), (3)) SELECT V + ifnull(?, 0) FROM N"
    let outer = try connection.statement(sql)
    var sums: [Int64] = []
    while try outer.step() {
      let inner = try connection.statement(sql)
      try inner.bind(Int64(10), at: 1)
      _ = try inner.step()
      sums.append(outer.integer(at: 0) * 100 + inner.integer(at: 0))
    }
    #expect(sums == [111, 211, 311])
    let again = try connection.statement(sql)
    _ = try again.step()
    #expect(again.integer(at: 0) == 1)
  }

  @Test("A query left in the middle does not keep its snapshot")
  func abandoned() throws {
    let folder = try TemporaryFolder()
    let path = Text(folder.file("a.sqlite"))
    let reader = try Connection.opened(path: path, access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0)
    try reader.execute("PRAGMA journal_mode = WAL")
    try reader.execute("CREATE TABLE T (V)")
    try reader.execute("INSERT INTO T VALUES (1), (2)")
    func first() throws -> Int64 {
      let select = try reader.statement("SELECT V FROM T ORDER BY V")
      return try select.step() ? select.integer(at: 0) : -1
    }
    #expect(try first() == 1)
    let writer = try Connection.opened(path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    try writer.execute("DELETE FROM T WHERE V = 1")
    #expect(try first() == 2)
  }

  @Test(
    "SQLite's codes become kinds, with the code kept",
    arguments: [
      // SQLite takes a file that it cannot look at for one that was moved. Here nothing was.
      (Int32(5), Failure.Kind.busy), (6, .busy), (517, .busy), (8, .readOnly), (776, .readOnly), (1032, .database),
      (19, .constraint), (2067, .constraint), (14, .cannotOpen), (3, .cannotOpen), (26, .notAStore), (11, .database),
      (13, .database), (10, .database), (266, .database), (7, .noMemory), (18, .database), (1, .database),
      (9999, .database),
    ])
  func kinds(code: Int32, kind: Failure.Kind) throws {
    let connection = try connection()
    #expect(connection.failure(code, doing: "save").message.string.hasPrefix("Could not open ':memory:'"))
    connection.isOpening = false
    let failure = connection.failure(code, doing: "save")
    #expect(failure.kind == kind)
    #expect(failure.databaseCode == code)
    #expect(failure.message.string.hasPrefix("Could not save in the store ':memory:'"))
  }

  @Test("A broken rule of a table is a constraint failure with SQLite's own code")
  func constraint() throws {
    let connection = try connection()
    try connection.execute("CREATE TABLE T (V UNIQUE)")
    let insert = try connection.statement("INSERT INTO T VALUES (?)")
    try insert.bind(Int64(1), at: 1)
    try insert.run()
    try insert.bind(Int64(1), at: 1)
    do throws(Failure) {
      try insert.run()
      Issue.record("A value was stored twice.")
    } catch {
      #expect(error.kind == .constraint)
      #expect(error.databaseCode == 2067)
      #expect(error.message.string.contains("T.V"))
    }
  }

  @Test("What a registered function throws is what the statement throws, and the next one is clean")
  func functionFailure() throws {
    let connection = try connection()
    let matches = TextMatcher.Operation.matches.rawValue
    let select = try connection.statement("SELECT quire_text(\(matches), 0, ?, ?)")
    try select.bind("text", at: 1)
    try select.bind("(", at: 2)
    do throws(Failure) {
      _ = try select.step()
      Issue.record("A broken pattern matched.")
    } catch {
      let direct = #expect(throws: Failure.self) { try TextMatcher(.matches, TextFolding(rawValue: 0), pattern: "(") }
      #expect(error.kind == direct?.kind)
      #expect(error.message == direct?.message)
    }
    try select.bind("t.*t", at: 2)
    #expect(try select.step())
    #expect(select.integer(at: 0) == 1)
    #expect(connection.pendingFailure == nil)
  }

  @Test("A full database is a failure, and the transaction is gone")
  func full() throws {
    let connection = try connection()
    try connection.execute("CREATE TABLE T (V)")
    try connection.execute("PRAGMA max_page_count = 3")
    do throws(Failure) {
      try connection.transaction { () throws(Failure) in
        try connection.execute("INSERT INTO T VALUES (zeroblob(100000))")
      }
      Issue.record("A full database took a row.")
    } catch {
      #expect(error.kind == .database)
      #expect(error.message.string.contains("full"))
    }
    #expect(!connection.isInTransaction)
    try connection.transaction { () throws(Failure) in try connection.execute("INSERT INTO T VALUES (1)") }
  }

  @Test("Everything on a closed connection is closed, with statements still held")
  func closed() throws {
    let connection = try connection()
    let select = try connection.statement("SELECT 1")
    connection.close()
    connection.close()
    for call in [{ try connection.execute("SELECT 1") }, { _ = try connection.statement("SELECT 1") }] {
      do {
        try call()
        Issue.record("A closed connection answered.")
      } catch let failure as Failure {
        #expect(failure.kind == .closed)
      }
    }
    #expect(try select.step())
  }
}
