import Glibc
import Synchronization
import Testing

@testable import QuireCore

/// What a stage calls in these tests, with a context on the store as the stage has it.
private final class Calls: StageCallbacks {
  typealias Body = @Sendable (Context) throws(Failure) -> Void
  private let will: Body?
  private let did: Body?

  init(will: Body? = nil, did: Body? = nil) {
    self.will = will
    self.did = did
  }

  var hasWillMigrate: Bool { will != nil }
  var hasDidMigrate: Bool { did != nil }

  func willMigrate(_ store: any Engine) throws(Failure) {
    try Context.duringMigration(of: store) { context throws(Failure) in try run(will, context) }
  }

  func didMigrate(_ store: any Engine) throws(Failure) {
    try Context.duringMigration(of: store) { context throws(Failure) in try run(did, context) }
  }

  /// As a call of the library.
  private func run(_ body: Body?, _ context: Context) throws(Failure) {
    try context.confinement.enter()
    defer { context.confinement.leave() }
    try body?(context)
  }
}

extension Context {
  fileprivate func insert(_ entity: String) throws(Failure) -> ManagedObject { try insert(entityNamed: entity) }

  fileprivate func fetch(_ entity: String, _ format: String? = nil) throws(Failure) -> [ManagedObject] {
    let request = FetchRequest(entityName: entity)
    if let format { request.predicate = try Predicate.parse(Text(format)) }
    let list = try fetch(request)
    return try (0..<list.count).map { place throws(Failure) in try list.object(at: place) }
  }
}

extension ManagedObject {
  fileprivate func get(_ key: String) throws(Failure) -> Value { try value(forKey: key).inPlace() }

  fileprivate func set(_ key: String, _ value: Value) throws(Failure) {
    try set(value, for: entity.property(named: key))
  }
}

/// Notes of version 1 have a text for a number. Version 2 has the number beside it, and version 3 has the number under
/// the name of the text. Version 4 has none.
@Suite("Stages of a migration")
struct MigrationStageTests: OpensStores {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static func notes(_ version: Int, isSearchable: Bool = false) throws -> Model {
    let model = Model()
    try model.addEntity(named: "Note")
    try model.addAttribute(named: "title", to: "Note", type: .string, isOptional: true, isSearchable: isSearchable)
    if version < 3 { try model.addAttribute(named: "size", to: "Note", type: .string, isOptional: true) }
    if version == 2 { try model.addAttribute(named: "amount", to: "Note", type: .integer64, isOptional: true) }
    if version == 3 {
      try model.addAttribute(
        named: "size", to: "Note", type: .integer64, isOptional: true, renamingIdentifier: "amount")
    }
    return model
  }

  private var path: Text { Text(folder.file("a.sqlite")) }

  private func make(count: Int = 3, options: Store.Options = .init(), isSearchable: Bool = false) throws {
    let store = try open(options: options, model: Self.notes(1, isSearchable: isSearchable))
    let context = Context(store: store)
    for number in 0..<count {
      let note = try context.insert("Note")
      try note.set("title", .text(Text("note \(number)")))
      try note.set("size", .text(Text("\(number)")))
    }
    try context.save()
    try store.close()
  }

  private static let convert: Calls.Body = { context throws(Failure) in
    for note in try context.fetch("Note") {
      guard case .text(let size) = try note.get("size") else { continue }
      try note.set("amount", .integer(Int64(size.string) ?? -1))
    }
  }

  private func migration(
    isSearchable: Bool = false, will: Calls.Body? = nil, did: Calls.Body? = Self.convert,
    options: Store.Options = .init()
  ) throws -> Migration {
    let migration = try Migration(path: path, source: nil, target: nil, options: options)
    try migration.addStage(to: Self.notes(2, isSearchable: isSearchable), callbacks: Calls(will: will, did: did))
    try migration.addStage(to: Self.notes(3, isSearchable: isSearchable))
    return migration
  }

  private func sizes(_ version: Int, isSearchable: Bool = false) throws -> [String] {
    let store = try open(options: existing, model: Self.notes(version, isSearchable: isSearchable))
    defer { try? store.close() }
    return try store.withConnection { connection throws(Failure) in
      try rows(connection, "SELECT ZTITLE, ZSIZE FROM ZNOTE ORDER BY Z_PK")
    }
  }

  /// Whether the file is of a version.
  private func isOf(_ version: Int) -> Bool {
    guard let store = try? open(options: existing, model: Self.notes(version)) else { return false }
    try? store.close()
    return true
  }

  @Test("An attribute gets another type by a model in between")
  func typeChange() throws {
    try make()
    #expect(throws: Failure.self) {
      try Migration(path: path, source: nil, target: Self.notes(3), options: .init())
    }
    let migration = try migration()
    #expect(Set(migration.steps.map(\.stage)) == [0, 1])
    try migration.run()
    #expect(try sizes(3) == ["note 0|0", "note 1|1", "note 2|2"])
    // The file has it all behind it.
    let again = try self.migration(did: { (_) throws(Failure) in Issue.record("A stage that is done was called.") })
    #expect(again.steps.isEmpty)
    try again.run()
  }

  @Test("The outcome is that of two migrations by hand")
  func oracle() throws {
    func dump() throws -> [String] {
      let connection = try connection()
      defer { connection.close() }
      return try rows(connection, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
        + rows(connection, "SELECT * FROM ZNOTE ORDER BY Z_PK") + rows(connection, "SELECT * FROM Z_PRIMARYKEY")
        + rows(connection, "SELECT ZENTITY, ZENTITYPK, ZCHANGETYPE, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK")
        + rows(connection, "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE")
    }
    var options = Store.Options()
    options.tracksHistory = true
    try make(options: options, isSearchable: true)
    try migration(isSearchable: true).run()
    let found = try dump()
    for name in folder.names { remove(folder.file(name)) }
    try make(options: options, isSearchable: true)
    try Migration(path: path, source: nil, target: Self.notes(2, isSearchable: true), options: .init()).run()
    let store = try open(model: Self.notes(2, isSearchable: true)), context = Context(store: store)
    try Self.convert(context)
    try context.save()
    try store.close()
    try Migration(path: path, source: nil, target: Self.notes(3, isSearchable: true), options: .init()).run()
    #expect(try dump() == found)
    #expect(found.count > 10)
  }

  @Test("A callback before the stage has the former model, and one afterwards the new one")
  func models() throws {
    try make(count: 1)
    let migration = try migration(
      will: { context throws(Failure) in
        #expect(context.model.entities[0].properties.map(\.name).sorted() == ["size", "title"])
        let note = try context.insert("Note")
        try note.set("size", .text("7"))
        // A save of its own is part of the stage, too.
        try context.save()
        try context.insert("Note").set("size", .text("8"))
      },
      did: { context throws(Failure) in
        #expect(context.model.entities[0].properties.map(\.name).sorted() == ["amount", "size", "title"])
        try Self.convert(context)
      })
    try migration.run()
    #expect(try sizes(3) == ["note 0|0", "nil|7", "nil|8"])
  }

  @Test("A callback that fails takes its stage back, and the next run goes on there")
  func failing() throws {
    try make()
    let failing: Calls.Body = { context throws(Failure) in
      try Self.convert(context)
      try context.save()
      throw Failure(.function, "No.")
    }
    let first = try migration(did: failing)
    let failure = try refusal { try first.run() }
    #expect(failure.kind == .function && failure.message == "No.")
    #expect(try sizes(1) == ["note 0|0", "note 1|1", "note 2|2"])
    // The second stage fails, and the first one stays.
    let second = try Migration(path: path, source: nil, target: nil, options: .init())
    try second.addStage(to: Self.notes(2), callbacks: Calls(did: Self.convert))
    try second.addStage(
      to: Self.notes(3), callbacks: Calls(did: { (_) throws(Failure) in throw Failure(.function, "No.") }))
    _ = try refusal { try second.run() }
    #expect(isOf(2))
    let last = try migration(did: { (_) throws(Failure) in Issue.record("A stage that is done was called.") })
    #expect(Set(last.steps.map(\.stage)) == [1])
    try last.run()
    #expect(try sizes(3) == ["note 0|0", "note 1|1", "note 2|2"])
  }

  @Test("A save that is refused takes the stage back")
  func refusedSave() throws {
    try make()
    let migration = try migration(did: { context throws(Failure) in
      try context.insert("Note").set("title", .text("left"))
      _ = try context.fetch("Note")
      throw Failure(.validation, "Nothing was refused.")
    })
    #expect(try refusal { try migration.run() }.kind == .validation)
    #expect(try sizes(1).count == 3)
  }

  @Test("What was kept of a callback is closed afterwards")
  func kept() throws {
    try make()
    let kept = Guarded<(context: Context, note: ManagedObject, store: Store?)?>(nil)
    let migration = try migration(did: { context throws(Failure) in
      try Self.convert(context)
      let note = try context.fetch("Note")[0]
      context.retainExternally()
      kept.withLock { $0 = (context, note, context.store as? Store) }
    })
    try migration.run()
    let found = try #require(kept.withLock { $0 })
    #expect(try refusal { _ = try found.context.fetch("Note") }.kind == .closed)
    #expect(try refusal { try found.note.set("title", .nil) }.kind == .closed)
    #expect(try refusal { try found.context.save() }.kind == .closed)
    #expect(try refusal { try found.context.beginTransaction() }.kind == .closed)
    let store = try #require(found.store)
    #expect(store.isClosed)
    try store.close()
    found.context.releaseExternally()
    kept.withLock { $0 = nil }
    #expect(try sizes(3).count == 3)
  }

  @Test("What a callback may not do is refused, and the migration goes on")
  func refusals() throws {
    try make()
    let holder = Guarded<Migration?>(nil)
    let path = path
    let migration = try migration(did: { context throws(Failure) in
      func kind(_ body: () throws(Failure) -> Void) -> Failure.Kind? {
        do throws(Failure) { try body() } catch { return error.kind }
        return nil
      }
      let store = context.store as? Store
      #expect(kind { () throws(Failure) in try context.beginTransaction() } == .invalidState)
      #expect(kind { () throws(Failure) in try context.commitTransaction() } == .invalidState)
      #expect(kind { () throws(Failure) in try context.rollBackTransaction() } == .invalidState)
      #expect(kind { () throws(Failure) in try store?.close() } == .invalidState)
      #expect(kind { () throws(Failure) in _ = try store?.check() } == .invalidState)
      if let store {
        let other = Context(store: store)
        try other.confinement.enter()
        #expect(kind { () throws(Failure) in _ = try other.fetch("Note") } == .busy)
        other.confinement.leave()
      }
      let running = holder.withLock { $0 }
      #expect(kind { () throws(Failure) in try running?.run() } == .invalidState)
      #expect(kind { () throws(Failure) in try running?.addStage(to: Model()) } == .invalidState)
      #expect(kind { () throws(Failure) in _ = try Store.open(path: path, model: nil) } == .invalidState)
      #expect(
        kind { () throws(Failure) in
          let model: Model
          do { model = try Self.notes(2) } catch { return }
          try Migration(path: path, source: nil, target: model, options: .init()).run()
        } == .invalidState)
      try Self.convert(context)
    })
    holder.withLock { $0 = migration }
    try migration.run()
    holder.withLock { $0 = nil }
    #expect(try sizes(3) == ["note 0|0", "note 1|1", "note 2|2"])
  }

  @Test("A dry run tells the steps of the run, and writes nothing")
  func dryRun() throws {
    try make(isSearchable: true)
    let connection = try connection()
    try connection.execute("CREATE TABLE other (a); CREATE INDEX other_size ON ZNOTE (ZSIZE, ZTITLE)")
    try connection.execute(
      "CREATE TRIGGER follow AFTER UPDATE OF ZTITLE ON ZNOTE BEGIN INSERT INTO other VALUES (NEW.ZTITLE); END")
    connection.close()
    let before = folder.bytes("a.sqlite")
    let log = Guarded<[String]>([])
    var options = Store.Options()
    options.log = SQLLog(includesValues: false, leastNanoseconds: 0) { entry in
      log.withLock { $0.append(String(cString: entry.sql)) }
    }
    let migration = try migration(isSearchable: true, will: { (_) throws(Failure) in }, options: options)
    #expect(folder.bytes("a.sqlite") == before)
    log.withLock { $0 = [] }
    try migration.run()
    let ran = log.withLock { $0 }
    var next = 0
    for step in migration.steps {
      guard case .statements(let statements) = step.work else { continue }
      for statement in statements {
        guard let place = ran[next...].firstIndex(of: statement) else {
          Issue.record("The run has no \(statement) behind statement \(next).")
          return
        }
        next = place + 1
      }
    }
    #expect(try sizes(3, isSearchable: true) == ["note 0|0", "note 1|1", "note 2|2"])
  }

  @Test("Models that a file could not tell apart are refused, and what cannot be inferred comes with its stage")
  func stagesRefused() throws {
    try make()
    let source = try Self.notes(1)
    let migration = try Migration(path: path, source: source, target: nil, options: .init())
    #expect(try refusal { try migration.run() }.kind == .invalidState)
    #expect(try refusal { try migration.addStage(to: Self.notes(1)) }.kind == .invalidModel)
    #expect(try refusal { try migration.addStage(to: Self.notes(3)) }.kind == .unsupported)
    try migration.addStage(to: Self.notes(2))
    #expect(try refusal { try migration.addStage(to: Self.notes(2)) }.kind == .invalidModel)
    try migration.addStage(to: Self.notes(3))
    try migration.run()
    #expect(isOf(3))
  }

  @Test("A file of none of the models is told so before it is written")
  func mismatch() throws {
    try make()
    let migration = try Migration(path: path, source: Self.notes(2), target: nil, options: .init())
    try migration.addStage(to: Self.notes(3))
    #expect(migration.steps.isEmpty)
    #expect(try refusal { try migration.checkSteps() }.kind == .modelMismatch)
    #expect(try refusal { try migration.run() }.kind == .modelMismatch)
    #expect(isOf(1))
    // One whose own model leads nowhere is no matter where a later stage is the file's.
    let cut = try Migration(path: path, source: nil, target: nil, options: .init())
    try cut.addStage(to: Self.notes(3))
    #expect(try refusal { try cut.checkSteps() }.kind == .unsupported)
    try cut.addStage(to: Self.notes(4))
    #expect(try refusal { try cut.run() }.kind == .unsupported)
    try cut.addStage(to: Self.notes(1))
    try cut.checkSteps()
    #expect(cut.steps.isEmpty)
  }

  @Test("Text indexes and the history are those of an open store")
  func historyAndText() throws {
    var options = Store.Options()
    options.tracksHistory = true
    try make(options: options, isSearchable: true)
    let migration = try migration(
      isSearchable: true,
      will: { context throws(Failure) in
        let request = try context.fetch("Note", "title CONTAINS[c] 'NOTE 1'")
        #expect(request.count == 1)
        try request[0].set("title", .text("changed before"))
      },
      did: { context throws(Failure) in
        #expect(try context.fetch("Note", "title CONTAINS 'changed before'").count == 1)
        try context.insert("Note").set("title", .text("added afterwards"))
        try Self.convert(context)
      })
    try migration.run()
    let store = try open(options: existing, model: Self.notes(3, isSearchable: true))
    defer { try? store.close() }
    let context = Context(store: store)
    #expect(try context.fetch("Note", "title CONTAINS 'added afterwards'").count == 1)
    #expect(try store.check() == 0)
    let kinds = try store.withConnection { connection throws(Failure) in
      try rows(connection, "SELECT ZTRANSACTIONID, ZCHANGETYPE, count(*) FROM ACHANGE GROUP BY 1, 2 ORDER BY 1, 2")
    }
    #expect(kinds == ["1|0|3", "2|1|1", "3|0|1", "3|1|3"])
  }

  @Test("Files of large values that a stage takes out of use go when it is committed, and not before")
  func externalFiles() throws {
    func model(_ version: Int) throws -> Model {
      let model = Model()
      try model.addEntity(named: "Note")
      var traits = AttributeTraits()
      traits.allowsExternalStorage = true
      if version < 3 {
        try model.addAttribute(named: "body", to: "Note", type: .binary, isOptional: true, traits: traits)
      }
      if version > 1 {
        try model.addAttribute(named: "twin", to: "Note", type: .binary, isOptional: true, traits: traits)
      }
      return model
    }
    let path = path
    func files() -> Int { (ExternalFolder(of: path).all ?? []).count }
    let large = Value.data(Bytes([UInt8](repeating: 7, count: 200_000)))
    let store = try open(model: model(1)), made = Context(store: store)
    try made.insert("Note").set("body", large)
    try made.save()
    try store.close()
    #expect(files() == 1)
    func run(failing: Bool) throws {
      let migration = try Migration(path: path, source: nil, target: nil, options: .init())
      try migration.addStage(
        to: model(2),
        callbacks: Calls(
          will: { context throws(Failure) in
            // A new value in the place of the old one, whose file has to stay for a stage that fails.
            try context.fetch("Note")[0].set("body", .data(Bytes([UInt8](repeating: 8, count: 200_000))))
          },
          did: { context throws(Failure) in
            let note = try context.fetch("Note")[0]
            try note.set("twin", try note.get("body"))
            try context.save()
            #expect((ExternalFolder(of: path).all ?? []).count == 3)
            if failing { throw Failure(.function, "No.") }
          }))
      try migration.addStage(to: model(3))
      try migration.run()
    }
    #expect(try refusal { try run(failing: true) }.kind == .function)
    #expect(files() == 1)
    let former = try open(options: existing, model: model(1)), reading = Context(store: former)
    #expect(try reading.fetch("Note")[0].get("body").isIdentical(to: large))
    try former.close()
    try run(failing: false)
    #expect(files() == 1)
    let last = try open(options: existing, model: model(3)), copied = Context(store: last)
    let value = try copied.fetch("Note")[0].get("twin")
    #expect(value.isIdentical(to: .data(Bytes([UInt8](repeating: 8, count: 200_000)))))
    try last.close()
    ExternalFolder(of: path).delete(ExternalFolder(of: path).all ?? [])
  }

  @Test("A run is cancelled between stages and in a callback, and its progress counts the steps of all stages")
  func cancelled() throws {
    try make()
    let cancellation = Cancellation()
    let first = try migration(did: { context throws(Failure) in
      try Self.convert(context)
      cancellation.cancel()
      _ = try context.fetch("Note", "title == 'a'")
    })
    #expect(try refusal { try first.run(cancellation: cancellation) }.kind == .cancelled)
    #expect(isOf(1))
    let most = Atomic<UInt64>(0)
    let second = try migration()
    let count = second.steps.count
    try second.run(
      progress: FetchMonitor.Progress(
        nanoseconds: 0,
        report: { done in
          most.store(max(done, most.load(ordering: .relaxed)), ordering: .relaxed)
          return true
        }))
    // The last step ends behind the last report.
    #expect(most.load(ordering: .relaxed) >= UInt64(count - 1) && most.load(ordering: .relaxed) <= UInt64(count))
  }
}
