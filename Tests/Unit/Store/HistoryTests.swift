import Testing

@testable import QuireCore

@Suite("The history of a store")
struct HistoryTests {
  let library: LibraryFixture

  init() throws {
    var options = Store.Options()
    options.tracksHistory = true
    library = try LibraryFixture(options: options)
  }

  /// Kind, entity and key of each change after a transaction, by the reader.
  private func changes(after number: Int64) throws -> [String] {
    let connection = library.store.connection
    let tables = try #require(try library.store.history.tables(on: connection))
    let reader = HistoryReader(connection: connection, tables: tables, model: library.model)
    return try reader.changes(after: number).map { change in
      "\(change.kind) \(try #require(library.model.entity(numbered: Int(change.row.entity))).name) \(change.row.id)"
    }
  }

  @Test("The tables are spelled as Core Data spells them")
  func statements() throws {
    #expect(
      try library.sql(
        "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') "
          + "ORDER BY rowid") == [
          "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
            + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
          "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
            + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
            + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
          "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
          "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
          "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
          "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
          "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
          "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
          "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
          "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
          "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
        ])
    #expect(
      try library.sql("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
        "16001|CHANGE|0|0", "16002|TRANSACTION|0|0", "16003|TRANSACTIONSTRING|0|0",
      ])
  }

  @Test("A save adds one transaction with a change for each object")
  func saves() throws {
    try library.save(inserts: [try library.new("Tag", -1), try library.new("Author", -2), try library.new("Tag", -3)])
    try library.save(
      updates: [try library.change("Author", 1, ["name": .text("Goethe")])], deletes: [try library.removal("Tag", 2)])
    #expect(
      try changes(after: 0) == ["insert Author 1", "insert Tag 1", "insert Tag 2", "update Author 1", "delete Tag 2"])
    #expect(try changes(after: 1) == ["update Author 1", "delete Tag 2"])
    #expect(try changes(after: 2) == [])
    #expect(
      try library.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY Z_ENT") == ["5", "2", "1"])
  }

  @Test("An owner that loses a member without knowing it has changed, too")
  func ownersLosingMembers() throws {
    try library.save(
      inserts: [try library.new("Shelf", -1), try library.new("Label", -1)],
      toMany: [try library.toMany("Shelf", "labels", of: -1, added: [-1])])
    try library.save(deletes: [try library.removal("Label", 1)])
    #expect(try changes(after: 1) == ["update Shelf 1", "delete Label 1"])
  }

  @Test("A failed save and one of nothing add nothing")
  func nothing() throws {
    try library.save(inserts: [try library.new("Tag", -1)])
    try library.failing(
      .conflict, inserts: [try library.new("Tag", -1)], deletes: [try library.removal("Tag", 1, version: 7)])
    try library.save()
    #expect(try changes(after: 1) == [])
    #expect(try library.store.historyToken().place.number == 1)
  }

  @Test("All bits of an update are set, whatever the number of properties")
  func columns() throws {
    for name in ["Sample", "Tag", "Author", "Account"] {
      let entity = try library.entity(name), bits = ChangedColumns.any(of: entity)
      let digits = bits.buffer.map { byte in
        let digits = String(byte, radix: 2)
        return String(repeating: "0", count: 8 - digits.count) + digits
      }.joined()
      #expect(digits.count == (entity.properties.count + 7) / 8 * 8)
      #expect(digits.prefix(entity.properties.count).allSatisfy { $0 == "1" })
      #expect(digits.dropFirst(entity.properties.count).allSatisfy { $0 == "0" })
    }
  }

  @Test("A token says whether it is damaged, in each of its bits")
  func damagedTokens() throws {
    let uuid: Text = "D4C1DF34-8C41-4B38-8B44-5E2C1D3E2A10"
    let place = HistoryPlace(number: 7, timestamp: 815_000_000.25)
    let bytes = HistoryToken(place, ofStore: uuid).bytes
    #expect(bytes.count == HistoryToken.size)
    let read = try HistoryToken(bytes)
    #expect(read.place == place)
    try read.check(isOf: uuid)
    #expect(failure { try read.check(isOf: "D4C1DF34-8C41-4B38-8B44-5E2C1D3E2A11") }?.kind == .invalidArgument)
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(failure { _ = try HistoryToken(damaged) }?.kind == .invalidArgument, "bit \(bit)")
    }
    #expect(failure { _ = try HistoryToken(Array(bytes.dropLast())) }?.kind == .invalidArgument)
  }

  @Test("A token goes for any text that a file has in the place of a UUID")
  func strangeNames() throws {
    for name: Text in ["", "no UUID", "D4C1DF34"] {
      let read = try HistoryToken(HistoryToken(HistoryPlace(number: .max, timestamp: 0), ofStore: name).bytes)
      try read.check(isOf: name)
      #expect(failure { try read.check(isOf: "another") }?.kind == .invalidArgument)
    }
  }
}
