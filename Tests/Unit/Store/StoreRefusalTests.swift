import Glibc
import Testing

@testable import QuireCore

@Suite("Refusing what is no store")
struct StoreRefusalTests: OpensStores {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  // MARK: Files that are no stores

  @Test("A missing folder, a folder, and a path through a file are named")
  func wrongPlaces() throws {
    var failure = try failure("missing/a.sqlite")
    #expect(failure.kind == .cannotOpen)
    #expect(failure.message.string.contains("folder '\(folder.path)/missing' does not exist"))
    #expect(!folder.exists("missing"))

    let path = Text(folder.path)
    failure = try refusal { _ = try Store.open(path: path, model: try model()) }
    #expect(failure.kind == .cannotOpen)
    #expect(failure.message.string.contains("is a folder"))

    try folder.write([1], to: "file")
    failure = try self.failure("file/a.sqlite")
    #expect(failure.kind == .cannotOpen)
    #expect(failure.message.string.contains("not a folder"))

    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    failure = try refusal { _ = try open("pipe") }
    #expect(failure.kind == .cannotOpen)
    #expect(failure.message.string.contains("not a regular file"))

    failure = try refusal { _ = try open(String(repeating: "n", count: 300)) }
    #expect(failure.kind == .cannotOpen)
  }

  @Test("An empty path and one with a NUL are arguments that cannot be")
  func impossiblePaths() throws {
    for path: Text in ["", "a\0b.sqlite"] {
      let failure = try refusal { _ = try Store.open(path: path, model: try model()) }
      #expect(failure.kind == .invalidArgument)
    }
    var options = Store.Options()
    options.busyTimeoutMilliseconds = -1
    #expect(try failure(options: options).kind == .invalidArgument)
  }

  @Test("A file that must exist, or is only to be read, is not created")
  func mustExist() throws {
    for options in [existing, readOnly] {
      #expect(try failure(options: options).kind == .cannotOpen)
      #expect(!folder.exists("a.sqlite"))
    }
    try folder.write([], to: "a.sqlite")
    for options in [existing, readOnly] {
      let failure = try failure(options: options)
      #expect(failure.kind == .notAStore)
      #expect(failure.message.string.contains("is empty"))
    }
  }

  @Test(
    "Random bytes, texts and damaged headers are not databases", arguments: [1, 15, 16, 99, 100, 512, 4096, 10_000])
  func notADatabase(size: Int) throws {
    var generator = SplitMix(seed: UInt64(size))
    let contents: [[UInt8]] = [
      (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) },
      (0..<size).map { Array("These are the notes of a Tuesday.\n".utf8)[$0 % 34] },
      Array((Array("SQLite format 3\0".utf8) + (0..<size).map { _ in 0xEE }).prefix(size)),
    ]
    for content in contents {
      try folder.write(content, to: "a.sqlite")
      for options in [Store.Options(), readOnly, existing] {
        #expect(try failure(options: options).kind == .notAStore)
      }
      #expect(!folder.exists("a.sqlite-wal"))
    }
  }

  @Test("Another application's database is refused and gets no tables", arguments: [true, false])
  func otherDatabase(isWAL: Bool) throws {
    let database = try connection()
    if isWAL { try database.execute("PRAGMA journal_mode = WAL") }
    try database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
    try database.execute("INSERT INTO notes VALUES (1, 'x')")
    database.close()
    for options in [Store.Options(), readOnly, existing] {
      let failure = try failure(options: options)
      #expect(failure.kind == .notAStore)
      #expect(failure.message.string.contains("no table Z_METADATA"))
    }
  }

  @Test("A store whose end was cut off is not filled with a new one")
  func remains() throws {
    try open("b.sqlite").close()
    let whole = try #require(folder.bytes("b.sqlite"))
    for size in [3000, 4096, 5000] {
      try folder.write(Array(whole.prefix(size)), to: "a.sqlite")
      #expect([.notAStore, .database].contains(try failure().kind))
      #expect(folder.bytes("a.sqlite")?.count == size)
    }
  }

  @Test(
    "Metadata that are missing, damaged or of another kind are refused",
    arguments: [
      ("DELETE FROM Z_METADATA", "is empty"),
      ("UPDATE Z_METADATA SET Z_UUID = 'me'", "not a UUID"),
      ("UPDATE Z_METADATA SET Z_UUID = NULL", "not a UUID"),
      ("UPDATE Z_METADATA SET Z_PLIST = NULL", "damaged"),
      ("UPDATE Z_METADATA SET Z_PLIST = x'62706C697374303001'", "damaged"),
      ("UPDATE Z_METADATA SET Z_PLIST = zeroblob(500)", "damaged"),
      ("UPDATE Z_METADATA SET Z_PLIST = substr(Z_PLIST, 1, length(Z_PLIST) - 1)", "damaged"),
      ("ALTER TABLE Z_METADATA DROP COLUMN Z_PLIST", "no column Z_PLIST"),
      ("DROP TABLE Z_PRIMARYKEY", "lacks the table Z_PRIMARYKEY"),
      ("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 2", "lacks the row of entity 'Draft'"),
      ("DROP TABLE ZTAG", "lacks the table ZTAG"),
      ("ALTER TABLE ZNOTE DROP COLUMN ZRANK", "lacks the column ZRANK of table ZNOTE"),
    ])
  func damagedMetadata(sql: String, reason: String) throws {
    try open().close()
    let database = try connection()
    try database.execute(sql)
    database.close()
    let failure = try failure()
    #expect(failure.kind == .notAStore)
    #expect(failure.message.string.contains(reason))
  }

  @Test("A store of another type, or with hashes of another kind, is refused")
  func otherType() throws {
    try open().close()
    func rewrite(_ key: String, _ value: PropertyListValue) throws {
      let database = try connection()
      let hashes = VersionHash(model: try model()).byName.map { ($0.name, PropertyListValue.data(Bytes($0.hash))) }
      var entries: [String: PropertyListValue] = [
        "NSStoreType": .text("SQLite"),
        "NSStoreModelVersionHashes": .dictionary(Dictionary(uniqueKeysWithValues: hashes)),
      ]
      entries[key] = value
      let update = try database.statement("UPDATE Z_METADATA SET Z_PLIST = ?")
      try update.bind(try #require(PropertyListValue.dictionary(entries).binary), at: 1)
      try update.run()
      database.close()
    }
    try rewrite("NSStoreType", .text("Binary"))
    #expect(try failure().kind == .notAStore)
    try rewrite("NSStoreType", .integer(1))
    #expect(try failure().kind == .notAStore)
    try rewrite("NSStoreModelVersionHashes", .text("none"))
    #expect(try failure().kind == .notAStore)
    try rewrite("NSStoreModelVersionHashesVersion", .integer(4))
    #expect(try failure().kind == .unsupported)
  }

  // MARK: Locks and permissions

  @Test("A file locked by another is busy after the timeout")
  func busy() throws {
    try open().close()
    let other = try connection()
    try other.execute("PRAGMA journal_mode = DELETE")
    try other.execute("BEGIN EXCLUSIVE")
    var options = Store.Options()
    options.busyTimeoutMilliseconds = 20
    for isReadOnly in [true, false] {
      options.isReadOnly = isReadOnly
      let failure = try failure(options: options)
      #expect(failure.kind == .busy)
      #expect(failure.message.string.contains(folder.path))
    }
    try other.execute("ROLLBACK")
    #expect(!(try open(options: options).uuid.isEmpty))
  }

  @Test("A write that was cut off is told to who only reads, and taken back by who may write")
  func cutOff() throws {
    try open().close()
    let other = try connection()
    try other.execute("PRAGMA journal_mode = DELETE")
    // Pages go to the file before the transaction ends.
    try other.execute("PRAGMA cache_size = 1")
    try other.execute("PRAGMA cache_spill = 1")
    try other.execute("BEGIN")
    try other.execute("CREATE TABLE OTHER (A)")
    try other.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO OTHER SELECT zeroblob(4000) FROM n
      """)
    for name in ["a.sqlite", "a.sqlite-journal"] {
      try folder.write(try #require(folder.bytes(name)), to: "cut-" + name)
    }
    try other.execute("ROLLBACK")
    let failure = try failure("cut-a.sqlite", options: readOnly)
    #expect(failure.kind == .readOnly)
    #expect(failure.message.string.contains("was cut off"))
    let store = try open("cut-a.sqlite", options: existing)
    let tables = try store.withConnection { (connection) throws(Failure) in try connection.tables() }
    #expect(tables["OTHER"] == nil)
    #expect(!folder.exists("cut-a.sqlite-journal"))
  }

  @Test("A file without the permission to read it is refused")
  func unreadable() throws {
    try open().close()
    chmod(folder.file("a.sqlite"), 0)
    let failure = try TemporaryFolder.withOrdinaryRights {
      try refusal { _ = try open() }
    }
    #expect(failure.kind == .cannotOpen)
    #expect(failure.message.string.contains("permission to read"))
  }

  @Test("A file or folder that cannot be written is refused for writing, and opens for reading")
  func unwritable() throws {
    try open().close()
    chmod(folder.file("a.sqlite"), 0o444)
    try TemporaryFolder.withOrdinaryRights {
      let failure = try failure()
      #expect(failure.kind == .readOnly)
      #expect(failure.message.string.contains("reading only"))
      #expect(try open(options: readOnly).isReadOnly)
    }
    chmod(folder.file("a.sqlite"), 0o666)
    chmod(folder.path, 0o555)
    try TemporaryFolder.withOrdinaryRights {
      var failure = try failure()
      #expect(failure.kind == .readOnly)
      #expect(failure.message.string.contains("folder"))
      failure = try self.failure("new.sqlite")
      #expect(failure.kind == .cannotOpen)
      #expect(!folder.exists("new.sqlite"))
    }
  }

  @Test(
    "A store in a read-only folder is read with what is in its log, and nothing is written", arguments: [true, false])
  func readOnlyFolder(hasLog: Bool) throws {
    let store = try open("first.sqlite")
    try store.withConnection { (connection) throws(Failure) in
      try connection.execute("INSERT INTO ZTAG (Z_ENT, Z_OPT, ZWORD) VALUES (3, 1, 'kept')")
    }
    if hasLog {
      try folder.write(try #require(folder.bytes("first.sqlite-wal")), to: "a.sqlite-wal")
    } else {
      try store.close()
    }
    try folder.write(try #require(folder.bytes("first.sqlite")), to: "a.sqlite")
    chmod(folder.file("a.sqlite"), 0o444)
    chmod(folder.path, 0o555)
    let bytes = folder.bytes("a.sqlite"), log = folder.bytes("a.sqlite-wal")
    try TemporaryFolder.withOrdinaryRights {
      let copy = try open(options: readOnly)
      try copy.withConnection { (connection) throws(Failure) in
        let select = try connection.statement("SELECT ZWORD FROM ZTAG")
        let hasRow = try select.step()
        #expect(hasRow)
        #expect(select.text(at: 0) == "kept")
        select.reset()
        do throws(Failure) {
          try connection.execute("DELETE FROM ZTAG")
          Issue.record("A read-only store was written.")
        } catch {
          #expect(error.kind == .readOnly)
        }
      }
      try copy.close()
      #expect(throws: Failure.self) { try open(options: readOnly, model: try model("Extra")) }
    }
    #expect((folder.bytes("a.sqlite") == bytes) == true)
    #expect((folder.bytes("a.sqlite-wal") == log) == true)
    #expect(!folder.exists("a.sqlite-shm"))
  }
}
