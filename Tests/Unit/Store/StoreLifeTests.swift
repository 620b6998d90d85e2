import Testing

@testable import QuireCore

@Suite("An open store")
struct StoreLifeTests: OpensStores {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("A closed store answers every call with closed, and closing again is fine")
  func close() throws {
    let store = try open()
    #expect(!store.isClosed)
    try store.close()
    try store.close()
    #expect(store.isClosed)
    let failure = try refusal { try store.withConnection { (_) throws(Failure) in } }
    #expect(failure.kind == .closed)
  }

  @Test("A store is not closed in the middle of a transaction")
  func closeInside() throws {
    let store = try open()
    try store.withConnection { (connection) throws(Failure) in
      try connection.transaction { () throws(Failure) in
        do throws(Failure) {
          try store.close()
          Issue.record("The store was closed.")
        } catch {
          #expect(error.kind == .invalidState)
        }
      }
    }
    #expect(!store.isClosed)
  }

  @Test("A transaction that fails leaves nothing, and a nested one belongs to the outer")
  func transactions() throws {
    let store = try open()
    func insert(_ connection: Connection) throws(Failure) {
      try connection.execute("INSERT INTO ZTAG (Z_ENT, Z_OPT) VALUES (3, 1)")
    }
    func count(_ connection: Connection) throws(Failure) -> Int64 {
      let select = try connection.statement("SELECT count(*) FROM ZTAG")
      return try select.step() ? select.integer(at: 0) : -1
    }
    try store.withConnection { (connection) throws(Failure) in
      do throws(Failure) {
        try connection.transaction { () throws(Failure) in
          try connection.transaction { () throws(Failure) in try insert(connection) }
          throw Failure(.validation, "No.")
        }
      } catch {
        #expect(error.kind == .validation)
      }
      var found = try count(connection)
      #expect(found == 0)
      try connection.transaction { () throws(Failure) in
        try insert(connection)
        try connection.snapshot { () throws(Failure) in try insert(connection) }
      }
      found = try count(connection)
      #expect(found == 2)
    }
  }

  @Test("The lock may be taken again by its thread, and keeps others out")
  func lock() async throws {
    let store = try open()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            try? store.withConnection { (connection) throws(Failure) in
              try store.withConnection { (same) throws(Failure) in
                #expect(same === connection)
                try connection.transaction { () throws(Failure) in
                  try connection.execute(
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 3) + 1 "
                      + "WHERE Z_ENT = 3")
                }
              }
            }
          }
        }
      }
    }
    #expect(
      try store.withConnection { (connection) throws(Failure) in
        let select = try connection.statement("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 3")
        return try select.step() ? select.integer(at: 0) : -1
      } == 200)
  }
}
