/// Takes the file of a store from the model that it has to another one, in place and in one transaction.
///
/// Any thread, one at a time.
final class Migration: @unchecked Sendable {
  let path: Text
  let target: Model
  /// What the run does, as the file was found; empty for one that has the target already.
  let steps: [MigrationStep]

  private let source: Model?
  private let options: Store.Options
  private let form: any ModelForm.Type

  /// Looks at the file, and writes nothing. Without a source the file's own model is it. Both models are frozen.
  ///
  /// Fails for what cannot be inferred from the models.
  init(
    path: Text, source: Model?, target: Model, options: Store.Options, form: any ModelForm.Type
  ) throws(Failure) {
    try Store.check(options)
    if path == ":memory:" {
      throw Failure(
        .invalidArgument, "A store in memory is always new, and cannot be migrated. Give the path of a file.")
    }
    try source?.freeze()
    try target.freeze()
    try Store.checkComposites(of: target)
    for entity in target.numberedEntities { try DerivedAttributes.check(entity) }
    self.path = path
    self.source = source
    self.target = target
    self.options = options
    self.form = form
    steps = try Store.otherwiseXML(path) { () throws(Failure) in
      try Migration.steps(ofFileAt: path, from: source, to: target, options, in: form)
    } read: { _ throws(Failure) in
      throw Failure(
        .unsupported,
        "The XML store '\(path)' cannot be migrated, as it is not changed in place. Convert it to an SQLite store, and "
          + "migrate that.")
    }
  }

  private static func steps(
    ofFileAt path: Text, from source: Model?, to target: Model, _ options: Store.Options, in form: any ModelForm.Type
  ) throws(Failure) -> [MigrationStep] {
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: true, mustExist: true)
    let connection = try Store.readOnlyConnection(to: file, options: options)
    defer { connection.close() }
    do throws(Failure) {
      connection.setLog(options.log)
      return try connection.snapshot { () throws(Failure) in
        try plan(from: source, to: target, in: form, on: connection)?.plan.steps ?? []
      }
    } catch { throw connection.failureOfOpening(error) }
  }

  /// Does it, whole or not at all. A file that has the target already is left as it is. The progress is that of steps.
  func run(cancellation: Cancellation? = nil, progress: FetchMonitor.Progress? = nil) throws(Failure) {
    if options.isReadOnly {
      throw Failure(
        .readOnly, "The migration of '\(path)' was made for reading only. Make it without that option to run it.")
    }
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: false, mustExist: true)
    try FileClaim.checkNotInherited(path)
    if OpenFiles.isOpen(path.string) {
      throw Failure(
        .invalidState, "The store '\(path)' cannot be migrated: this process has it open. Close it first.")
    }
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: options.busyTimeoutMilliseconds)
    defer { connection.close() }
    do throws(Failure) {
      try connection.checkIsOpenForWriting()
      try Store.configure(connection, options)
      // Tables are renamed without a look at views and triggers of others.
      try connection.execute("PRAGMA legacy_alter_table = ON")
      let monitor = FetchMonitor(.migration, of: path.string, cancellation: cancellation, progress: progress)
      let files = try connection.watched(by: monitor) { () throws(Failure) in
        try connection.transaction { () throws(Failure) in
          try migrate(on: connection, by: monitor)
        }
      }
      ExternalFolder(of: connection.location).remove(files)
      try? CacheFile.deleteAll(of: connection.location)
    } catch { throw connection.failureOfOpening(error) }
  }

  /// Returns the files beside the store that no row names any more.
  private func migrate(on connection: Connection, by monitor: FetchMonitor) throws(Failure) -> Set<ExternalFile> {
    guard let (metadata, plan) = try Migration.plan(from: source, to: target, in: form, on: connection) else {
      return []
    }
    let mayHaveFiles = plan.source.model.entities.contains { $0.ownAttributes.contains { $0.externalColumn != nil } }
    let named = mayHaveFiles ? try connection.namedFiles() : []
    let parts = try PartsOfOthers(on: connection)
    for step in plan.steps {
      try monitor.check()
      try run(step, metadata, plan, parts, on: connection)
      monitor.countRow()
    }
    try parts.check(on: connection)
    let tables = try connection.tables()
    try Metadata.read(from: connection, tables: tables).check(target, tables: tables, form: form, on: connection)
    try Store.check(Schema(model: target, existingTables: tables), tables, on: connection)
    return mayHaveFiles ? named.subtracting(try connection.namedFiles()) : []
  }

  private func run(
    _ step: MigrationStep, _ metadata: Metadata, _ plan: MigrationPlan, _ parts: PartsOfOthers,
    on connection: Connection
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
        in: &properties, from: plan.source.model, to: target, keepsForeignDerivations: plan.keepsForeignDerivations)
      try Metadata.write(properties, on: connection)
    case .modelCache:
      guard try connection.tables()["Z_MODELCACHE"] != nil else { return }
      try connection.execute("DELETE FROM Z_MODELCACHE")
      try Store.writeModelCache(of: target, in: form, on: connection)
    case .restore(let object): try parts.restore(object, on: connection)
    }
  }

  private func equalValues(_ failure: Failure) -> Failure {
    Failure(
      .constraint,
      "The store '\(path)' cannot be migrated: the model wants objects to have different values, and some have equal "
        + "ones. Make them differ first. \(failure.message)", databaseCode: failure.databaseCode)
  }

  /// nil for a file that has the target already.
  private static func plan(
    from given: Model?, to target: Model, in form: any ModelForm.Type, on connection: Connection
  ) throws(Failure) -> (metadata: Metadata, plan: MigrationPlan)? {
    let catalog = try connection.catalog(), tables = catalog.tables
    let encoding = try connection.statement("PRAGMA encoding")
    connection.isUTF8 = try encoding.step() && encoding.holds("UTF-8", at: 0)
    encoding.reset()
    let metadata = try Metadata.read(from: connection, tables: tables)
    do throws(Failure) {
      try metadata.check(target, tables: tables, form: form, on: connection)
      // Whether a relationship is its own inverse is in no hash, and makes other tables.
      try Store.check(Schema(model: target, existingTables: tables), tables, on: connection)
      return nil
    } catch {
      if error.kind != .modelMismatch && error.kind != .notAStore { throw error }
    }
    try Store.checkIsNotMirrored(tables, on: connection)
    let source =
      if let given { given } else { try Store.keptModel(on: connection, tables: tables, form: form) }
    try metadata.check(source, tables: tables, form: form, on: connection)
    try Store.check(Schema(model: source, existingTables: tables), tables, on: connection)
    return (metadata, try MigrationPlan(from: source, to: target, on: connection))
  }
}
