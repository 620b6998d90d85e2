/// Takes the file of a store from the model that it has to another one, in place, stage by stage. Each stage is one
/// transaction.
///
/// Any thread, one at a time: a run refuses to be changed, or run again, from its callbacks.
final class Migration: @unchecked Sendable {
  let path: Text

  private let isReadOnly: Bool
  private let state: Guarded<State>

  private struct State {
    var way: MigrationPath
    var steps: [MigrationStep] = []
    /// Why the file cannot be migrated.
    var problem: Failure?
    /// Steps from before another stage was added: callers are lent their texts.
    var formerSteps: [MigrationStep] = []
    var isBusy = false
  }

  /// Looks at the file, and writes nothing. Without a source the file's own model is it. Models are frozen. Without a
  /// target there is no stage yet.
  ///
  /// Fails for what cannot be inferred from the models.
  init(
    path: Text, source: Model?, target: Model?, options: Store.Options, form: any ModelForm.Type
  ) throws(Failure) {
    try Store.check(options)
    if path == ":memory:" {
      throw Failure(
        .invalidArgument, "A store in memory is always new, and cannot be migrated. Give the path of a file.")
    }
    try source?.freeze()
    self.path = path
    isReadOnly = options.isReadOnly
    var way = MigrationPath(source: source, options: options, form: form)
    if let target {
      try Migration.prepare(target)
      way.stages.append(MigrationStage(model: target, callbacks: nil))
    }
    let (steps, problem) = try Migration.look(at: path, along: way)
    // A stage that is added may be that of the file.
    if target != nil, let problem { throw problem }
    state = Guarded(State(way: way, steps: steps, problem: problem))
  }

  private static func prepare(_ target: Model) throws(Failure) {
    try target.freeze()
    try Store.checkComposites(of: target)
    for entity in target.numberedEntities { try DerivedAttributes.check(entity) }
  }

  // MARK: What it does

  /// What a run does, as the file was found; empty for a file that has the last model already, and where it cannot be
  /// migrated.
  var steps: [MigrationStep] { state.withLock { $0.steps } }

  /// Fails where the file cannot be migrated by the stages that there are.
  func checkSteps() throws(Failure) {
    if let problem = state.withLock({ $0.problem }) { throw problem }
  }

  /// Adds a stage that goes from the model of the one before, or from the source, to `model`, which is frozen. On
  /// failure there is none.
  ///
  /// Fails for what cannot be inferred from the two models.
  func addStage(to model: Model, callbacks: (any StageCallbacks)? = nil) throws(Failure) {
    try alone { () throws(Failure) in
      try Migration.prepare(model)
      var way = state.withLock { $0.way }
      try Migration.checkDiffers(model, along: way)
      if let former = way.stages.last?.model ?? way.source {
        _ = try way.naming(stage: way.stages.count) { () throws(Failure) in try ModelMapping(from: former, to: model) }
      }
      way.stages.append(MigrationStage(model: model, callbacks: callbacks))
      let (steps, problem) = try Migration.look(at: path, along: way)
      state.withLock { state in
        state.formerSteps += state.steps
        (state.way, state.steps, state.problem) = (way, steps, problem)
      }
    }
  }

  /// A file tells by its version hashes at which stage it is.
  private static func checkDiffers(_ model: Model, along way: MigrationPath) throws(Failure) {
    let digest = VersionHash(model: model).digest
    func isSame(_ other: Model) -> Bool { VersionHash(model: other).digest == digest }
    let place = way.stages.firstIndex { isSame($0.model) }
    if place == nil, way.source.map(isSame) != true { return }
    throw Failure(
      .invalidModel,
      "Stage \(way.stages.count) leads to a model with the version hashes of "
        + "\(place.map { "stage \($0)" } ?? "'source'"). "
        + "By these a file tells where a run goes on that was cut off, so that each model needs others. Give an entity "
        + "a version hash modifier.")
  }

  /// Runs `body` unless the migration is in the midst of a run, or gets a stage.
  private func alone<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let isFree = state.withLock { state in
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if !isFree {
      throw Failure(
        .invalidState,
        "The migration of '\(path)' is running, or gets a stage. It cannot be run or get a stage meanwhile, nor from "
          + "its callbacks.")
    }
    defer { state.withLock { $0.isBusy = false } }
    return try body()
  }

  private static func look(
    at path: Text, along way: MigrationPath
  ) throws(Failure) -> (steps: [MigrationStep], problem: Failure?) {
    try Store.otherwiseXML(path) { () throws(Failure) in
      let file = try StoreFile(path: path)
      try file.check(isReadOnly: true, mustExist: true)
      let connection = try Store.readOnlyConnection(to: file, options: way.options)
      defer { connection.close() }
      do throws(Failure) {
        return try connection.snapshot { () throws(Failure) in try way.steps(on: connection) }
      } catch { throw connection.failureOfOpening(error) }
    } read: { _ throws(Failure) in
      throw Failure(
        .unsupported,
        "The XML store '\(path)' cannot be migrated, as it is not changed in place. Convert it to an SQLite store, and "
          + "migrate that.")
    }
  }

  // MARK: The run

  /// Does it, each stage whole or not at all. A file that has the last model already is left as it is, and one that is
  /// at a stage goes on at the next. The progress is that of steps.
  func run(cancellation: Cancellation? = nil, progress: FetchMonitor.Progress? = nil) throws(Failure) {
    if isReadOnly {
      throw Failure(
        .readOnly, "The migration of '\(path)' was made for reading only. Make it without that option to run it.")
    }
    try MigratedFiles.checkIsNone(path, "migrated")
    try alone { () throws(Failure) in
      let way = state.withLock { $0.way }
      if way.stages.isEmpty {
        throw Failure(.invalidState, "The migration of '\(path)' has no stage, and so no model to lead to. Add one.")
      }
      let monitor = FetchMonitor(.migration, of: path.string, cancellation: cancellation, progress: progress)
      try run(along: way, by: monitor)
    }
  }

  private func run(along way: MigrationPath, by monitor: FetchMonitor) throws(Failure) {
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: false, mustExist: true)
    try FileClaim.checkNotInherited(path)
    if OpenFiles.isOpen(path.string) {
      throw Failure(
        .invalidState, "The store '\(path)' cannot be migrated: this process has it open. Close it first.")
    }
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: way.options.busyTimeoutMilliseconds)
    defer { connection.close() }
    do throws(Failure) {
      try connection.checkIsOpenForWriting()
      try Store.configure(connection, way.options)
      try Store.configureForMigration(connection)
      try MigratedFiles.during(path) { () throws(Failure) in
        try connection.watched(by: monitor) { () throws(Failure) in
          while try Migration.runStage(along: way, on: connection, by: monitor) {}
        }
      }
    } catch { throw connection.failureOfOpening(error) }
  }

  /// Runs the stage at which the file is, in a transaction. Returns whether there is another one.
  private static func runStage(
    along way: MigrationPath, on connection: Connection, by monitor: FetchMonitor
  ) throws(Failure) -> Bool {
    var run: StageRun?
    let done: Int
    do throws(Failure) {
      done = try connection.transaction { () throws(Failure) in
        let place = try way.place(on: connection)
        if place.done == way.stages.count { return place.done }
        let made = StageRun(place.done, of: way, on: connection, by: monitor)
        run = made
        try made.run(from: place.model)
        return place.done + 1
      }
    } catch {
      run?.takeBack()
      throw error
    }
    run?.commit()
    if run != nil { try? CacheFile.deleteAll(of: connection.location) }
    return done < way.stages.count
  }
}
