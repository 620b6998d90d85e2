/// One stage of a migration while it is carried out on a connection, in a transaction.
final class StageRun {
  /// What the stage does to the file, with the first of its transaction on.
  private(set) var steps: [MigrationStep] = []

  private let index: Int
  private let path: MigrationPath
  private let connection: Connection
  private let monitor: FetchMonitor?
  /// On a database without objects, for the steps alone: nothing of the program is called.
  private let isRehearsal: Bool
  /// Of the stores that callbacks had.
  private var storages: [ExternalStorage] = []
  /// The files beside the store that no row names any more.
  private var files: Set<ExternalFile> = []

  init(
    _ index: Int, of path: MigrationPath, on connection: Connection, by monitor: FetchMonitor? = nil,
    isRehearsal: Bool = false
  ) {
    self.index = index
    self.path = path
    self.connection = connection
    self.monitor = monitor
    self.isRehearsal = isRehearsal
  }

  private var stage: MigrationStage { path.stages[index] }

  /// `former` is the model of the file. An error leaves the rest to the transaction, and to `takeBack`.
  func run(from former: Model) throws(Failure) {
    let callbacks = stage.callbacks
    if stage.callsBefore { try call(former) { store throws(Failure) in try callbacks?.willMigrate(store) } }
    let metadata = try Metadata.read(from: connection, tables: try connection.tables())
    let plan = try path.naming(stage: index) { () throws(Failure) in
      try MigrationPlan(from: former, to: stage.model, on: connection)
    }
    steps = plan.steps(of: index)
    let mayHaveFiles =
      !isRehearsal && former.entities.contains { $0.ownAttributes.contains { $0.externalColumn != nil } }
    let named = mayHaveFiles ? try connection.namedFiles() : []
    let parts = try PartsOfOthers(on: connection)
    for step in steps {
      try monitor?.check()
      try path.naming(stage: index) { () throws(Failure) in try run(step, metadata, plan, parts) }
      monitor?.countStep()
    }
    try parts.check(on: connection)
    let tables = try connection.tables()
    try Metadata.read(from: connection, tables: tables).check(
      stage.model, tables: tables, form: path.form, on: connection)
    try Store.check(Schema(model: stage.model, existingTables: tables), tables, on: connection)
    if stage.callsAfterwards { try call(stage.model) { store throws(Failure) in try callbacks?.didMigrate(store) } }
    if mayHaveFiles { files = named.subtracting(try connection.namedFiles()) }
  }

  /// The transaction is in the file: what it does not name any more goes.
  func commit() {
    let folder = ExternalFolder(of: connection.location)
    func makeDurable() -> Bool { connection.synchronizesSaves || folder.synchronizeLog() }
    if !files.isEmpty, makeDurable() { folder.remove(files) }
    for storage in storages {
      storage.commit(0, makeDurable: makeDurable)
      storage.close()
    }
  }

  /// The transaction has failed.
  func takeBack() {
    for storage in storages {
      storage.takeBack(to: ExternalStorage.start, isUncertain: connection.hasUncertainCommit)
      storage.close()
    }
  }

  // MARK: Steps

  private func run(
    _ step: MigrationStep, _ metadata: Metadata, _ plan: MigrationPlan, _ parts: PartsOfOthers
  ) throws(Failure) {
    switch step.work {
    case .none: break
    case .statements(let statements):
      for statement in statements {
        do throws(Failure) { try connection.execute(statement) } catch {
          if step.kind == .changeIndex, error.kind == .constraint { throw equalValues(error) }
          throw error
        }
      }
    case .metadata:
      var properties = try Metadata.properties(on: connection)
      metadata.replaceModel(
        in: &properties, from: plan.source.model, to: stage.model,
        keepsForeignDerivations: plan.keepsForeignDerivations)
      try Metadata.write(properties, on: connection)
    case .modelCache:
      guard try connection.tables()["Z_MODELCACHE"] != nil else { return }
      try connection.execute("DELETE FROM Z_MODELCACHE")
      try Store.writeModelCache(of: stage.model, in: path.form, on: connection)
    case .restore(let object): try parts.restore(object, on: connection)
    }
  }

  private func equalValues(_ failure: Failure) -> Failure {
    Failure(
      .constraint,
      "The store '\(connection.path)' cannot be migrated: the model wants objects to have different values, and some "
        + "have equal ones. Make them differ first. \(failure.message)", databaseCode: failure.databaseCode)
  }

  // MARK: Callbacks

  /// Runs `body` with a store on what the transaction has by now.
  private func call(_ model: Model, _ body: (any Engine) throws(Failure) -> Void) throws(Failure) {
    try connection.holding { () throws(Failure) in
      let store = try Store.ofMigration(on: connection, model: model, options: path.options, form: path.form)
      storages.append(store.external)
      // With it go its plans, and what it has given to the connection.
      defer {
        store.detach()
        connection.letGoOfStore()
      }
      if isRehearsal { return }
      guard let monitor else { return try body(store) }
      try store.noting(monitor) { () throws(Failure) in try body(store) }
    }
    try connection.dropTemporaryTriggers()
    if !connection.hasTransaction {
      throw Failure(
        .database,
        "SQLite has ended the transaction of a stage of the migration of '\(connection.path)' after an error in its "
          + "callback, which did not fail with that. Have it fail.")
    }
  }
}

extension Store {
  /// A store in the midst of a migration, which makes the file have the text indexes and derived attributes of the
  /// model. It ends with `detach`.
  fileprivate static func ofMigration(
    on connection: Connection, model: Model, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> Store {
    var ownOptions = Options()
    ownOptions.busyTimeoutMilliseconds = options.busyTimeoutMilliseconds
    let file = connection.memory == nil ? try StoreFile(path: connection.path) : nil
    let parts = try parts(on: connection, of: file, model: model, options: ownOptions, form: form)
    return Store(parts, holdsMoments: false, isOfMigration: true)
  }
}

extension Connection {
  /// What a store has had from it ends, or goes on without that store.
  fileprivate func letGoOfStore() {
    commits = nil
    checkModel = nil
    closeOthers = nil
    noteWriting = nil
    recorder = nil
    external = nil
    noteAffected = nil
    seenDataVersion = nil
    isOpening = true
  }

  /// Those by which a store keeps R-Trees that no trigger of the file keeps.
  fileprivate func dropTemporaryTriggers() throws(Failure) {
    let select = try statement("SELECT name FROM sqlite_temp_master WHERE type = 'trigger'")
    var names: [Text] = []
    while try select.step() { if let name = select.text(at: 0) { names.append(name) } }
    for name in names { try execute("DROP TRIGGER temp.\(SQLLiteral.name(name.string))") }
  }
}
