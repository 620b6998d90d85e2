extension Store {
  /// Opens the store at `path`, or creates it; freezes `model`. `:memory:` is a store of its own in memory.
  ///
  /// Without a model the file must exist, and is opened with the one that it keeps.
  ///
  /// A file that cannot be opened as a store of `model` is left exactly as it was. A new one keeps the model in `form`.
  static func open(
    path: Text, model: Model?, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> Store {
    if let model {
      try model.freeze()
      try checkComposites(of: model)
    }
    if options.type == .xml { return try openXML(path, model: model, options: options, form: form) }
    if options.type == .sqlite { return try openSQLite(path, model: model, options: options, form: form) }
    return try otherwiseXML(path) { () throws(Failure) in
      try openSQLite(path, model: model, options: options, form: form)
    } read: { _ throws(Failure) in
      try openXML(path, model: model, options: options, form: form)
    }
  }

  private static func openSQLite(
    _ path: Text, model: Model?, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> Store {
    var options = options
    try check(options)
    if path == ":memory:" {
      guard let model else {
        throw Failure(.invalidArgument, "A store in memory is always new and keeps no model. Give a model.")
      }
      return try openInMemory(path, model: model, options: options, form: form)
    }
    if model == nil { options.mustExist = true }
    let file = try StoreFile(path: path)
    try file.check(isReadOnly: options.isReadOnly, mustExist: options.mustExist)
    try MigratedFiles.checkIsNone(path, "opened")
    if options.isReadOnly {
      let connection = try readOnlyConnection(to: file, options: options)
      let parts = try parts(on: connection, of: file, model: model, options: options, form: form)
      try connection.holdFiles()
      return Store(parts, holdsMoments: connection.sharesNothing || connection.files?.usesLog == true)
    }
    let hadLog = file.hasLog
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: !options.mustExist),
      busyTimeoutMilliseconds: options.busyTimeoutMilliseconds)
    if hadLog { connection.restoreFilesOnClose() }
    try connection.checkIsOpenForWriting()
    let parts = try parts(on: connection, of: file, model: model, options: options, form: form)
    connection.keepFiles()
    connection.useLog()
    do throws(Failure) {
      // SQLite opens the log when it reads.
      _ = try connection.isEmpty()
      try connection.holdFiles()
      try connection.checkIsWritable()
      // A store that was just made, or of another program, had no log before.
      if options.synchronousNormal { try connection.setSynchronizesSaves(false) }
    } catch { throw connection.failureOfOpening(error) }
    return Store(parts, holdsMoments: connection.files?.usesLog == true)
  }

  /// Fails for numbers that no store takes, and for options that do not go together.
  static func check(_ options: Options) throws(Failure) {
    if options.isReadOnly, options.changeJournal != nil {
      throw Failure(
        .invalidArgument,
        "A store that is open for reading only is not changed, so its change journal stays as it is. Leave out one of "
          + "the options.")
    }
    if options.isReadOnly, options.tracksHistory {
      throw Failure(
        .invalidArgument,
        "A store that is open for reading only is not changed, so it begins no history. Leave out one of the options.")
    }
    if options.busyTimeoutMilliseconds < 0 {
      throw Failure(
        .invalidArgument, "The busy timeout of \(options.busyTimeoutMilliseconds) ms is negative. Give 0 or more.")
    }
    if let limit = options.logLimit, limit < LogFolding.leastLimit {
      throw Failure(
        .invalidArgument,
        "The limit of the write-ahead log is \(limit) bytes. Give at least \(LogFolding.leastLimit), or 0 for the "
          + "default.")
    }
  }

  private static func openInMemory(
    _ path: Text, model: Model, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> Store {
    if options.changeJournal != nil, options.changeJournal != ChangeJournal.Setting.none {
      throw Failure(
        .unsupported,
        "A store in memory keeps no change journal, because no other process reads it. Leave out the option "
          + "change_journal.")
    }
    if options.isReadOnly || options.mustExist {
      throw Failure(
        .invalidArgument,
        "A store in memory is always new, so it can be neither opened for reading only "
          + "nor required to exist. Leave out those options.")
    }
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: options.busyTimeoutMilliseconds)
    let parts = try parts(on: connection, model: model, options: options, form: form)
    connection.useLog()
    // SQLite opens the log when it reads.
    _ = try connection.isEmpty()
    return Store(parts, holdsMoments: true)
  }

  /// A connection that has read the file once, so that it is known to work.
  static func readOnlyConnection(to file: StoreFile, options: Options) throws(Failure) -> Connection {
    func connection(_ access: Connection.Access) throws(Failure) -> Connection {
      let connection = try Connection.opened(
        path: file.path, access: access, busyTimeoutMilliseconds: options.busyTimeoutMilliseconds)
      connection.setLog(options.log)
      if case .readOnlyUnlocked = access { try connection.execute("PRAGMA locking_mode = EXCLUSIVE") }
      do throws(Failure) { _ = try connection.isEmpty() } catch { throw connection.failureOfOpening(error) }
      return connection
    }
    do throws(Failure) {
      return try connection(.readOnly)
    } catch {
      // In a folder that cannot be written SQLite cannot make the index file that readers of a log share. A log that is
      // there is not in use (the index file would be there), so it can be read without sharing. Only without a log may
      // the file alone be taken for the whole truth.
      guard error.kind == .cannotOpen || error.kind == .readOnly else { throw error }
      if error.databaseCode == ResultCode.readOnlyRollback {
        throw Failure(
          .readOnly,
          "Could not open '\(file.path)' for reading only: its last write was cut off, and only an open for writing "
            + "can take back what is half done. Open it for writing once.", databaseCode: error.databaseCode)
      }
      return try connection(file.hasLog ? .readOnlyUnlocked : .immutable)
    }
  }

  /// What a store is made of.
  struct Parts {
    let connection: Connection
    let schema: Schema
    let external: ExternalStorage
    let textIndexes: TextIndexes
    let derivedAttributes: DerivedAttributes
    let affected: AffectedValues
    let journal: ChangeJournal
    let uuid: Text
    /// What the file says of its model.
    let hashes: [String: [UInt8]]
    /// SQLite's number of the schema then.
    let schemaNumber: Int64
    let pageSize: Int
    let logLimit: Int?
  }

  static func parts(
    on connection: Connection, of file: StoreFile? = nil, model given: Model?, options: Options,
    form: any ModelForm.Type
  ) throws(Failure) -> Parts {
    do throws(Failure) {
      // In the midst of a migration that has been done.
      if !connection.isInTransaction { try configure(connection, options) }
      // One state of the file, for which it is locked once.
      func read() throws(Failure) -> (parts: Parts, catalog: Catalog)? {
        try connection.snapshot { () throws(Failure) in
          try parts(in: connection, of: file, model: given, options: options, form: form)
        }
      }
      var found = try read()
      // A database without tables is an empty file, whatever made its first page: a creation that was cut off, or
      // another program. What is only in a log that was not copied along is not here to be lost.
      if found == nil {
        try file?.checkSize()
        if let given, !options.isReadOnly, !options.mustExist {
          try create(on: connection, model: given) { () throws(Failure) in
            try fill(connection, given, options, form)
          }
        } else {
          try awaitCreation(on: connection, options)
        }
        found = try read()
      }
      guard let (parts, catalog) = found else { throw emptyFailure(of: connection) }
      if !options.isReadOnly {
        try prepareHistory(of: parts.schema.model, begins: options.tracksHistory, on: connection)
        if connection.memory == nil, options.changeJournal != nil || catalog.mayHaveChangeJournal {
          try ChangeJournal.prepare(of: parts.schema, options.changeJournal, on: connection)
        }
      }
      // What is derived is written into rows whose triggers may write to an R-Tree. The tables of one begin so, too.
      let writesRTrees = !options.isReadOnly && catalog.tables.keys.contains { $0.hasPrefix("Z_RT_") }
      let kept = writesRTrees ? try parts.schema.keepRTrees(on: connection) : nil
      if writesRTrees { try Schema.trustTriggers(keeping: kept, on: connection) }
      let examined = writesRTrees ? try connection.schemaNumber() : 0
      // Triggers first: text indexes look whether others have changed the schema.
      try parts.derivedAttributes.prepare(on: connection, with: catalog)
      try parts.textIndexes.prepare(on: connection, with: catalog)
      if writesRTrees, try connection.schemaNumber() != examined {
        try Schema.trustTriggers(keeping: kept, on: connection)
      }
      connection.isOpening = false
      return parts
    } catch {
      let failure = connection.failureOfOpening(error)
      connection.close()
      throw failure
    }
  }

  /// What is in the file, which is only read; nil when it is empty.
  private static func parts(
    in connection: Connection, of file: StoreFile?, model given: Model?, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> (parts: Parts, catalog: Catalog)? {
    let catalog = try connection.catalog(), tables = catalog.tables
    if catalog.isEmpty { return nil }
    let encoding = try connection.statement("PRAGMA encoding")
    connection.isUTF8 = try encoding.step() && encoding.holds("UTF-8", at: 0)
    let metadata = try Metadata.read(from: connection, tables: tables)
    let model =
      if let given { given } else { try keptModel(on: connection, tables: tables, form: form) }
    if given == nil { try checkComposites(of: model) }
    let foreign = try metadata.check(model, tables: tables, form: form, on: connection)
    if !options.isReadOnly { try checkMayBeWritten(tables, on: connection) }
    let schema = Schema(model: model, existingTables: tables)
    try check(schema, tables, on: connection)
    let folder = file == nil ? nil : ExternalFolder(of: connection.location)
    let external = ExternalStorage(model: model, folder: folder)
    connection.external = external
    if external.isUsed { try ExternalFunction.register(on: connection) }
    let affected = AffectedValues(schema: schema)
    connection.noteAffected = affected.note
    let journal = ChangeJournal(of: schema)
    connection.recorder = journal
    let keptByOthers = try DerivedAttributes.keptByOthers(in: model, declaredElsewhere: foreign, on: connection)
    let parts = Parts(
      connection: connection, schema: schema, external: external, textIndexes: TextIndexes(schema: schema),
      derivedAttributes: try DerivedAttributes(schema: schema, keptByOthers: keptByOthers), affected: affected,
      journal: journal,
      uuid: metadata.uuid, hashes: metadata.hashes,
      schemaNumber: try connection.unheard { () throws(Failure) in try connection.schemaNumber() },
      pageSize: try connection.pageSize(), logLimit: options.logLimit)
    return (parts, catalog)
  }

  /// What columns the elements of a composite attribute have is not known.
  static func checkComposites(of model: Model) throws(Failure) {
    for entity in model.numberedEntities {
      if let attribute = entity.ownAttributes.first(where: { $0.type == .composite }) {
        throw Failure(
          .unsupported,
          "Attribute '\(attribute.qualifiedName)' is composite, which this version does not store. Use one "
            + "attribute for each part.", about: .property(attribute))
      }
    }
  }

  static func configure(_ connection: Connection, _ options: Options) throws(Failure) {
    connection.setLog(options.log)
    try connection.execute("PRAGMA foreign_keys = OFF")
    try connection.execute("PRAGMA temp_store = MEMORY")
    if connection.memory != nil {
      // A sync does nothing there, and pages are read where they are.
      try connection.execute("PRAGMA mmap_size = \(Int64.max)")
      connection.setCheckpointsOnClose(false)
    }
    if !connection.isReadOnly {
      try connection.setSynchronizesSaves(!options.synchronousNormal)
    }
  }

  /// Waits while another process is creating the store, as long as for a lock.
  private static func awaitCreation(on connection: Connection, _ options: Options) throws(Failure) {
    let pause: Int32 = 5
    var waited: Int32 = 0
    while true {
      // Asked first: the creation may end in between.
      let isBeingWritten = connection.isBeingWritten
      if try !connection.isEmpty() { return }
      if !isBeingWritten || waited >= options.busyTimeoutMilliseconds { break }
      Connection.pause(milliseconds: pause)
      waited += pause
    }
    throw emptyFailure(of: connection)
  }

  private static func emptyFailure(of connection: Connection) -> Failure {
    Failure(
      .notAStore,
      "'\(connection.path)' is empty, not a store. "
        + "Open it with a model, for writing and not as one that must exist, to create a store in it.")
  }

  /// Has `fill` make the tables of a new store, in one transaction. Whatever cuts it off, an empty database is left.
  static func create(
    on connection: Connection, model: Model, fill: () throws(Failure) -> Void
  ) throws(Failure) {
    for entity in model.numberedEntities { try DerivedAttributes.check(entity) }
    try connection.execute("PRAGMA page_size = 4096")
    try connection.execute("PRAGMA encoding = 'UTF-8'")
    if try connection.hasPages() {
      return try connection.transaction(fill)
    }
    // This pragma writes the first page, in a transaction of its own unless it is the first statement of another one.
    try connection.snapshot { () throws(Failure) in
      try connection.execute("PRAGMA auto_vacuum = 2")
      try fill()
    }
  }

  private static func fill(
    _ connection: Connection, _ model: Model, _ options: Options, _ form: any ModelForm.Type
  ) throws(Failure) {
    // Another process may have created the store meanwhile.
    guard try connection.isEmpty() else { return }
    try makeTables(of: model, on: connection)
    try Metadata.create(for: model, on: connection)
    try writeModelCache(of: model, in: form, on: connection)
    if connection.memory == nil {
      try ChangeJournal.create(options.changeJournal ?? .saves, of: Schema(model: model), on: connection)
    }
  }

  /// Those of the entities, and the rows that number these.
  static func makeTables(of model: Model, on connection: Connection) throws(Failure) {
    for statement in try Schema(model: model).statements() { try connection.execute(statement) }
    for entity in model.numberedEntities {
      let insert = try connection.statement(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)")
      try insert.bind(Int64(entity.number), at: 1)
      try insert.bind(Text(entity.name), at: 2)
      try insert.bind(Int64(entity.parent?.number ?? 0), at: 3)
      try insert.run()
    }
  }

  /// CloudKit learns of changes by tables of its own.
  static func checkIsNotMirrored(_ tables: [String: Set<String>], on connection: Connection) throws(Failure) {
    if let table = tables.keys.filter({ $0.hasPrefix("ANSCK") }).min() {
      throw Failure(
        .unsupported,
        "The store '\(connection.path)' is mirrored by CloudKit, as its table \(table) says, which would not learn of "
          + "a save. Open it for reading only.")
    }
  }

  /// What is saved here, others must be able to learn of.
  private static func checkMayBeWritten(
    _ tables: [String: Set<String>], on connection: Connection
  ) throws(Failure) {
    try checkIsNotMirrored(tables, on: connection)
    // A form of it that cannot be written is refused now, and not by the first save.
    _ = try HistoryTables.read(on: connection)
  }

  /// The hashes promise these tables, columns and rows; a file made or changed by other means may lack some.
  static func check(
    _ schema: Schema, _ existing: [String: Set<String>], on connection: Connection
  ) throws(Failure) {
    func lacks(_ part: String) -> Failure {
      Failure(.notAStore, "The store '\(connection.path)' is damaged: it lacks \(part). Restore it from a backup.")
    }
    let joins = schema.joins.map { join in
      let table = join.table
      return (
        table.name,
        [table.ownerColumn, table.destinationColumn, table.orderColumn, table.inverseOrderColumn].compactMap { $0 }
      )
    }
    let tables =
      schema.tables.map { ($0.name, $0.columns.map(\.name)) } + joins
      + [("Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])]
    for (table, columns) in tables {
      guard let found = existing[table] else { throw lacks("the table \(table)") }
      if let missing = columns.first(where: { !found.contains($0) }) {
        throw lacks("the column \(missing) of table \(table)")
      }
    }
    var numbers: Set<Int64> = []
    let select = try connection.statement("SELECT Z_ENT FROM Z_PRIMARYKEY")
    while try select.step() { numbers.insert(select.integer(at: 0)) }
    if let entity = schema.model.numberedEntities.first(where: { !numbers.contains(Int64($0.number)) }) {
      throw lacks("the row of entity '\(entity.name)', number \(entity.number), in Z_PRIMARYKEY")
    }
  }
}
