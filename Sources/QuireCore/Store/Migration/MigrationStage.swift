/// One step on the way from the model of a file to another one, which is one transaction.
struct MigrationStage: Sendable {
  /// The model that the file has afterwards; frozen.
  let model: Model
  let callbacks: (any StageCallbacks)?

  var callsBefore: Bool { callbacks?.hasWillMigrate == true }
  var callsAfterwards: Bool { callbacks?.hasDidMigrate == true }
}

/// What the program does in a stage beside what is inferred.
protocol StageCallbacks: AnyObject, Sendable {
  var hasWillMigrate: Bool { get }
  var hasDidMigrate: Bool { get }

  /// The tables are as they were. The store is of the former model, and open for the time of the call. What is thrown
  /// takes the stage back.
  func willMigrate(_ store: any Engine) throws(Failure)

  /// The same for the model of the stage, after the tables were changed.
  func didMigrate(_ store: any Engine) throws(Failure)
}

/// The models that a file is to have one after the other, and how it goes from each to the next.
struct MigrationPath {
  /// The model before the first stage; nil for the one that the file keeps.
  let source: Model?
  var stages: [MigrationStage] = []
  let options: Store.Options
  let form: any ModelForm.Type

  /// Where a file is.
  struct Place {
    /// How many stages are behind it.
    let done: Int
    let model: Model
  }

  /// Looks at the version hashes. Fails for a file that is of none of the models, and for one that keeps none where it
  /// is needed.
  func place(on connection: Connection) throws(Failure) -> Place {
    let tables = try connection.catalog().tables
    let encoding = try connection.statement("PRAGMA encoding")
    connection.isUTF8 = try encoding.step() && encoding.holds("UTF-8", at: 0)
    encoding.reset()
    let metadata = try Metadata.read(from: connection, tables: tables)
    func check(_ model: Model) throws(Failure) {
      try metadata.check(model, tables: tables, form: form, on: connection)
      // Whether a relationship is its own inverse is in no hash, and makes other tables.
      try Store.check(Schema(model: model, existingTables: tables), tables, on: connection)
    }
    for (index, stage) in stages.enumerated().reversed() {
      do throws(Failure) { try check(stage.model) } catch {
        if error.kind == .modelMismatch || error.kind == .notAStore { continue }
        throw error
      }
      if index + 1 < stages.count { try Store.checkIsNotMirrored(tables, on: connection) }
      return Place(done: index + 1, model: stage.model)
    }
    try Store.checkIsNotMirrored(tables, on: connection)
    let model =
      if let source { source } else { try Store.keptModel(on: connection, tables: tables, form: form) }
    try check(model)
    return Place(done: 0, model: model)
  }

  /// What a run does to the file of a connection, which is only read.
  ///
  /// `problem` is why the file cannot be migrated as long as no later stage is added: it is of none of the models, or
  /// the first stage cannot be inferred from the model that it keeps.
  func steps(on connection: Connection) throws(Failure) -> (steps: [MigrationStep], problem: Failure?) {
    let place: Place
    do throws(Failure) { place = try self.place(on: connection) } catch {
      if ![.modelMismatch, .invalidModel, .unsupported].contains(error.kind) { throw error }
      return ([], error)
    }
    do throws(Failure) { return (try steps(from: place, on: connection), nil) } catch {
      if place.done > 0 || source != nil || error.kind != .unsupported { throw error }
      return ([], error)
    }
  }

  private func steps(from place: Place, on connection: Connection) throws(Failure) -> [MigrationStep] {
    guard place.done < stages.count else { return [] }
    if place.done + 1 == stages.count, !stages[place.done].callsBefore {
      return try naming(stage: place.done) { () throws(Failure) in
        try MigrationPlan(from: place.model, to: stages[place.done].model, on: connection).steps(of: place.done)
      }
    }
    // Each stage is planned on what those before it leave.
    let rehearsal = try connection.emptyCopy()
    defer { rehearsal.close() }
    try Store.configureForMigration(rehearsal)
    var steps: [MigrationStep] = [], former = place.model
    for index in place.done..<stages.count {
      let run = StageRun(index, of: self, on: rehearsal, isRehearsal: true)
      try rehearsal.transaction { () throws(Failure) in try run.run(from: former) }
      steps += run.steps
      former = stages[index].model
    }
    return steps
  }

  /// Has a failure of one stage of several say which one it is.
  func naming<Result>(stage index: Int, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    do throws(Failure) { return try body() } catch {
      let isOfModels = [.unsupported, .invalidModel, .constraint].contains(error.kind)
      if !isOfModels || (index == 0 && stages.count < 2) { throw error }
      throw error.saying("In stage \(index), counted from 0: \(error.message)")
    }
  }
}

extension MigrationPlan {
  /// The steps, as those of a stage.
  func steps(of stage: Int) -> [MigrationStep] {
    steps.map { step in
      var step = step
      step.stage = stage
      return step
    }
  }
}

extension Store {
  /// Tables are renamed without a look at views and triggers of others.
  static func configureForMigration(_ connection: Connection) throws(Failure) {
    try connection.execute("PRAGMA legacy_alter_table = ON")
  }
}
