import Glibc
import Testing

@testable import QuireCore

/// What one moment of a store shows, and the connections by which moments read.
@Suite("Moments")
struct MomentTests {
  private let folder: TemporaryFolder
  private let library: LibraryFixture
  private var store: Store { library.store }

  init() throws {
    folder = try TemporaryFolder()
    library = try LibraryFixture(in: folder)
  }

  /// By another context, whose commits the others are told of.
  @discardableResult
  private func insert(_ word: String, in given: Store? = nil) throws -> Int64 {
    let writer = Context(store: given ?? store), tag = try writer.insert(entityNamed: "Tag")
    try tag.set(.text(Text(word)), for: tag.entity.property(named: "word"))
    try writer.save()
    return tag.id
  }

  private func change(_ id: Int64, _ word: String?, in given: Store? = nil) throws {
    let writer = Context(store: given ?? store), tag = try writer.existingObject(entityNamed: "Tag", id: id)
    if let word {
      try tag.set(.text(Text(word)), for: tag.entity.property(named: "word"))
    } else {
      try writer.delete(tag)
    }
    try writer.save()
  }

  private func words(_ moment: SQLiteMoment) throws -> [String] { try MomentTests.words(moment) }

  private static func words(_ moment: SQLiteMoment) throws -> [String] {
    let tag = try moment.model.entity(named: "Tag")
    let slot = try tag.property(named: "word").slot
    let ids = try moment.ids(FetchPlan(entity: tag)).map(\.id)
    return try moment.rows(root: tag, ids: ids).sorted { $0.id < $1.id }.map { row in
      if case .text(let text) = row.values[slot] { text.string } else { "-" }
    }
  }

  // MARK: What it shows

  @Test("A moment begins with its first use and stays until it is renewed", arguments: [true, false])
  func staying(isInFile: Bool) throws {
    let library = isInFile ? self.library : try LibraryFixture(), store = library.store
    let early = SQLiteMoment(of: store), late = SQLiteMoment(of: store)
    #expect(early.commit == nil && late.commit == nil && !early.hasNews)
    let first = try insert("a", in: store), commit = store.commits.newest
    #expect(try words(early) == ["a"] && early.commit == commit)
    for number in 0..<20 {
      try insert("b\(number)", in: store)
      try change(first, "c\(number)", in: store)
      #expect(try words(early) == ["a"])
      #expect(early.commit == commit && late.commit == nil)
    }
    try change(first, nil, in: store)
    #expect(try words(early) == ["a"])
    let newest = store.commits.newest
    #expect(try newest >= commit + 41 && words(late).count == 20 && late.commit == newest)
    early.renew()
    #expect(try early.commit == newest && words(early) == words(late))
    // What is renewed without news is the same.
    early.renew()
    #expect(try early.commit == newest && words(early) == words(late))
  }

  @Test("A connection begins a transaction once when it reads for the first time, and once for each later state")
  func beginningOnce() throws {
    let connection = try store.connection.anotherForReading(external: store.external, searchesText: false)
    for _ in 0..<3 {
      let before = connection.statementCount
      let state = try store.pool.beginReading(connection)
      #expect(state.commit == store.commits.newest && connection.statementCount == before + 2)
      #expect(connection.endReading())
      try insert("a")
    }
  }

  @Test("A moment that has ended begins anew with its next use, and one that has not begun has nothing to renew")
  func ending() throws {
    let moment = SQLiteMoment(of: store)
    moment.renew()
    moment.end()
    #expect(moment.commit == nil)
    #expect(try moment.begin().commit == 0)
    try insert("a")
    #expect(try words(moment) == [])
    moment.end()
    #expect(moment.commit == nil && !moment.hasNews)
    #expect(try words(moment) == ["a"] && moment.commit == store.commits.newest)
  }

  @Test("The newest moment shows what a transaction of this thread has written, and others do not")
  func newest() throws {
    let moment = SQLiteMoment(of: store), number = try library.number("Tag")
    #expect(try words(moment) == [])
    try store.withConnection { connection throws(Failure) in
      try connection.transaction { () throws(Failure) in
        try connection.execute("INSERT INTO ZTAG (Z_ENT, Z_OPT, ZWORD) VALUES (\(number), 1, 'a')")
        let shown = try store.newest.count(FetchPlan(entity: store.model.entity(named: "Tag")))
        let held = try moment.count(FetchPlan(entity: store.model.entity(named: "Tag")))
        let fresh = try SQLiteMoment(of: store).count(FetchPlan(entity: store.model.entity(named: "Tag")))
        #expect((shown, held, fresh) == (1, 0, 0))
      }
    }
    #expect(try words(moment) == [] && words(SQLiteMoment(of: store)) == ["a"])
  }

  @Test("Nothing can be written by the connection of a moment")
  func reading() throws {
    let moment = SQLiteMoment(of: store)
    #expect(
      failure {
        try moment.withConnection { connection throws(Failure) in
          try connection.execute("INSERT INTO ZTAG (Z_ENT, Z_OPT) VALUES (1, 1)")
        }
      } != nil)
    #expect(try words(moment) == [])
  }

  @Test("Uses are within each other on one connection, and a moment in use does not wait for what writes")
  func nestedUses() throws {
    let moment = SQLiteMoment(of: store), request = SaveRequest(inserts: [try library.new("Tag", -1)])
    try moment.withConnection { outer throws(Failure) in
      let ran = Guarded<[Failure?]>([])
      let writer = OtherThread { [store] in
        let failed = failure { _ = try store.save(request) }
        ran.withLock { $0.append(failed) }
      }
      writer.join()
      try moment.withConnection { inner throws(Failure) in #expect(outer === inner) }
      #expect(ran.withLock { $0.count == 1 && $0[0] == nil })
      #expect(try moment.count(FetchPlan(entity: store.model.entity(named: "Tag"))) == 0)
    }
  }

  // MARK: Contexts

  @Test("A context reads one moment, whatever is read first, and moves on when it is to")
  func contexts() throws {
    try insert("a")
    let context = Context(store: store), request = FetchRequest(entityName: "Tag")
    try insert("b")
    // It begins with the first read.
    #expect(try context.count(request) == 2)
    try insert("c")
    #expect(try context.count(request) == 2 && context.fetch(request).count == 2)
    #expect(failure { _ = try context.existingObject(entityNamed: "Tag", id: 3) }?.kind == .notFound)
    let first = try context.existingObject(entityNamed: "Tag", id: 1)
    try first.set(.text("mine"), for: first.entity.property(named: "word"))
    #expect(try context.count(request) == 2)
    try context.merge()
    #expect(try context.count(request) == 3)
    try insert("d")
    try context.save()
    #expect(try context.count(request) == 4 && context.source.moment.commit == store.commits.newest)
    try insert("e")
    try context.refreshAll()
    #expect(try context.count(request) == 5)
    try insert("f")
    try context.rollback()
    #expect(try context.count(request) == 5)
    try context.reset()
    #expect(try context.count(request) == 6)
  }

  @Test("A context that has saved before it read anything is at its own commit")
  func ownCommit() throws {
    let context = Context(store: store), tag = try context.insert(entityNamed: "Tag")
    try tag.set(.text("a"), for: tag.entity.property(named: "word"))
    try context.save()
    try change(tag.id, "b")
    try insert("c")
    func count(_ format: String) throws -> Int {
      let request = FetchRequest(entityName: "Tag")
      request.predicate = try Predicate.parse(Text(format))
      return try context.count(request)
    }
    // What fetches find is what objects show.
    #expect(try tag.value(forKey: "word").isIdentical(to: .text("a")))
    #expect(try count("word == 'a'") == 1 && count("TRUEPREDICATE") == 1)
    try context.merge()
    #expect(try tag.value(forKey: "word").isIdentical(to: .text("b")))
    #expect(try count("word == 'b'") == 1 && count("TRUEPREDICATE") == 2)
  }

  @Test("A context that has not read yet begins at the newest commit")
  func beginning() throws {
    let context = Context(store: store), request = FetchRequest(entityName: "Tag")
    let id = try insert("a")
    let list = try ResultsController(context: context, request: request, sectionKeyPath: nil, queuesChanges: true)
    try list.performFetch()
    let tag = try context.existingObject(entityNamed: "Tag", id: id)
    #expect(try tag.value(forKey: "word").isIdentical(to: .text("a")) && list.count == 1)
    try context.merge()
    _ = try list.nextChanges()
    #expect(tag.isLive && context.inbox.isEmpty)
    try change(id, "b")
    try context.merge()
    #expect(try list.nextChanges()?.changes.map(\.kind) == [.update])
  }

  @Test("A save that fails, and a merge that fails, leave the context where it was")
  func failures() throws {
    try insert("a")
    let context = Context(store: store), request = FetchRequest(entityName: "Tag")
    let tag = try context.existingObject(entityNamed: "Tag", id: 1)
    let commit = try #require(context.source.moment.commit)
    try change(1, "b")
    try insert("c")
    try tag.set(.text("mine"), for: tag.entity.property(named: "word"))
    #expect(failure { try context.save() }?.kind == .conflict)
    #expect(try context.source.moment.commit == commit && context.count(request) == 1)
    #expect(context.inbox.hasChanges(upTo: store.commits.newest))
    try context.rollback()
    #expect(try tag.value(forKey: "word").isIdentical(to: .text("b")) && context.count(request) == 2)
    #expect(context.inbox.isEmpty)
  }

  // MARK: The store

  @Test("A store is not closed while a moment is in use, and a moment of a closed store fails")
  func closing() throws {
    let moment = SQLiteMoment(of: store), other = SQLiteMoment(of: store), unused = SQLiteMoment(of: store)
    try moment.begin()
    try other.begin()
    try moment.withConnection { (_) throws(Failure) in
      #expect(failure { try store.close() }?.kind == .invalidState)
    }
    #expect(!store.isClosed)
    #expect(try words(other) == [])
    try store.close()
    for each in [moment, other, unused] {
      #expect(failure { try each.begin() }?.kind == .closed)
      #expect(failure { _ = try words(each) }?.kind == .closed)
      #expect(each.commit == nil && !each.hasNews)
      each.renew()
      each.end()
      each.close()
      #expect(each.commit == nil)
    }
    #expect(failure { try SQLiteMoment(of: store).begin() }?.kind == .closed)
  }

  @Test("Files of a closed store are closed, whatever moments there were")
  func filesOfAClosedStore() throws {
    func openCount() -> Int {
      guard let descriptors = opendir("/proc/self/fd") else { return -1 }
      defer { closedir(descriptors) }
      var count = 0, buffer = [CChar](repeating: 0, count: 4096)
      while let entry = readdir(descriptors) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let length = readlink("/proc/self/fd/\(name)", &buffer, buffer.count)
        if length > 0, String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
          .hasPrefix(folder.path) { count += 1 }
      }
      return count
    }
    let moments = (0..<8).map { _ in SQLiteMoment(of: store) }
    for moment in moments { try moment.begin() }
    for moment in moments.prefix(6) { moment.end() }
    try insert("a")
    #expect(openCount() > 0)
    try store.close()
    #expect(openCount() == 0)
    withExtendedLifetime(moments) {}
  }

  // MARK: The pool

  @Test("A connection that is given back shows nothing, and is used again")
  func usingAgain() throws {
    let (connection, state) = try store.pool.take()
    #expect(state.commit == 0 && connection.isReading && connection.hasTransaction)
    store.pool.giveBack(connection)
    #expect(!connection.isReading && !connection.hasTransaction && connection.handle != nil)
    try insert("a")
    let (again, newest) = try store.pool.take()
    #expect(again === connection && newest.commit == store.commits.newest)
    store.pool.giveBack(again)
  }

  @Test("Some connections wait for their next use, and the others are closed")
  func tooManyConnections() throws {
    var connections: [Connection] = []
    for _ in 0..<10 { connections.append(try store.pool.take().0) }
    for connection in connections { store.pool.giveBack(connection) }
    #expect(connections.filter { $0.handle != nil }.count == 4)
    #expect(connections.allSatisfy { !$0.hasTransaction })
  }

  @Test("A connection in the midst of a statement would keep its state, and is closed")
  func statementsUnderWay() throws {
    try insert("a")
    try insert("b")
    let (connection, _) = try store.pool.take()
    let statement = try connection.statement("SELECT Z_PK FROM ZTAG")
    #expect(try statement.step())
    store.pool.giveBack(connection)
    #expect(connection.handle == nil)
    withExtendedLifetime(statement) {}
    #expect(try words(SQLiteMoment(of: store)) == ["a", "b"])
  }

  @Test("What is given back to a closed store is closed")
  func givingBackToAClosedStore() throws {
    let (idle, _) = try store.pool.take(), (late, _) = try store.pool.take()
    store.pool.giveBack(idle)
    #expect(idle.handle != nil)
    try store.close()
    #expect(idle.handle == nil)
    store.pool.giveBack(late)
    #expect(late.handle == nil)
  }

  @Test("A log hears what moments read, those that began before it too, and nothing of their beginning and end")
  func logs() throws {
    let moment = SQLiteMoment(of: store)
    try moment.begin()
    let (idle, _) = try store.pool.take()
    store.pool.giveBack(idle)
    let heard = Guarded<[String]>([])
    try store.setLog(
      SQLLog(includesValues: false, leastNanoseconds: 0) { entry in
        let sql = String(cString: entry.sql)
        heard.withLock { $0.append(sql) }
      })
    _ = try words(moment)
    let fresh = SQLiteMoment(of: store)
    _ = try words(fresh)
    moment.renew()
    fresh.end()
    try store.setLog(nil)
    let count = heard.withLock { $0.count }
    _ = try words(moment)
    _ = try words(fresh)
    #expect(heard.withLock { $0 }.allSatisfy { $0.hasPrefix("SELECT") })
    #expect(heard.withLock { $0.count } == count)
  }

  @Test("What was committed before a context first reads is not told to it")
  func firstRead() throws {
    let store = try LibraryFixture().store
    let context = Context(store: store), other = Context(store: store)
    let tags = try (0..<80).map { _ in
      let tag = try other.insert(entityNamed: "Tag")
      try other.save()
      return tag
    }
    #expect(!context.inbox.isEmpty)
    let list = try ResultsController(
      context: context, request: FetchRequest(entityName: "Tag"), sectionKeyPath: nil, queuesChanges: true)
    try list.performFetch()
    #expect(list.index.count == 80 && context.inbox.isEmpty)
    try tags[3].set(.text("a"), for: tags[3].entity.property(named: "word"))
    try other.save()
    try context.merge()
    let told = try list.nextChanges()
    #expect(told?.changes.map(\.id) == [tags[3].id])
    #expect(try list.nextChanges() == nil)
  }
}
