extension Store {
  private static let triesToCreateXML = 10

  /// Runs `body`, which is about a file of SQLite. Where it fails because the file is none, and is an XML store, the
  /// result is that of `read`, which gets the contents. A binary store of Core Data is named in the failure.
  static func otherwiseXML<Result>(
    _ path: Text, _ body: () throws(Failure) -> Result, read: (Bytes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do throws(Failure) { return try body() } catch {
      guard [.notAStore, .readOnly, .cannotOpen].contains(error.kind), path != ":memory:",
        StoreFile.isRegular(path), let isDatabase = try? isDatabase(fileAt: path), !isDatabase
      else { throw error }
      // No SQLite has locks on what is no database.
      guard let bytes = try? FileSystem.read(path.string, followsLinks: true, allows: Memory.has) else { throw error }
      if XMLStoreScreening.beginsAsXML(bytes) { return try read(bytes) }
      if let archive = PropertyListValue(binary: bytes),
        archive["$archiver"] != nil, archive["$objects"] != nil
      {
        throw Failure(
          .unsupported,
          "'\(path)' is a keyed archive, as a binary store of Core Data is one. Binary stores are not read by this "
            + "version. Have a program of Core Data migrate it to an SQLite or XML store.")
      }
      throw error
    }
  }

  static func openXML(
    _ path: Text, model: Model?, options: Options, form: any ModelForm.Type
  ) throws(Failure) -> Store {
    if path == ":memory:" {
      throw Failure(
        .invalidArgument, "A store in memory is of no type, as it has no file. Leave out the type, or give a path.")
    }
    try check(options)
    if options.tracksHistory {
      throw Failure(
        .unsupported,
        "The XML store '\(path)' cannot keep a history of its changes. Leave out the option tracks_history, or convert "
          + "the store to one of SQLite.")
    }
    if options.changeJournal != nil, options.changeJournal != ChangeJournal.Setting.none {
      throw Failure(
        .unsupported,
        "The XML store '\(path)' cannot keep a change journal. Leave out the option change_journal, or convert the "
          + "store to one of SQLite.")
    }
    guard let model else {
      throw Failure(
        .invalidModel,
        "The XML store '\(path)' cannot be opened without a model: such files keep none. Give the model "
          + "that made it.")
    }
    let names = try XMLStoreNames(model)
    // Another process may create it meanwhile.
    for _ in 0..<triesToCreateXML {
      try StoreFile(path: path).check(
        isReadOnly: options.isReadOnly, mustExist: options.mustExist, isDatabase: false)
      let file = XMLStoreFile(path: path, isReadOnly: options.isReadOnly, isDurable: !options.synchronousNormal)
      let bytes = try file.read()
      if bytes == nil, options.isReadOnly || options.mustExist {
        throw Failure(.notAStore, "'\(path)' is empty, not a store. Check the path.")
      }
      if let bytes, !XMLStoreScreening.beginsAsXML(bytes) {
        throw Failure(.notAStore, "'\(path)' is no XML store: it does not begin as XML does. Check the path.")
      }
      let store = try openXML(file, bytes, names, model: model, options: options, form: form)
      if bytes != nil { return store }
      do throws(Failure) {
        try store.withConnection { _ throws(Failure) in try store.writeXML() }
        return store
      } catch {
        try? store.close()
        if error.kind != .fileMoved { throw error }
      }
    }
    throw Failure(.busy, "Could not open '\(path)': others make and delete it all the time. Try again.")
  }

  /// `bytes` are nil for a new store.
  private static func openXML(
    _ file: XMLStoreFile, _ bytes: Bytes?, _ names: XMLStoreNames, model: Model, options: Options,
    form: any ModelForm.Type
  ) throws(Failure) -> Store {
    let connection = try Connection.opened(
      path: file.path, access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: options.busyTimeoutMilliseconds,
      memory: MemoryFiles())
    do throws(Failure) {
      try create(on: connection, model: model) { () throws(Failure) in
        try makeTables(of: model, on: connection)
        if let bytes {
          try fill(connection, from: bytes, of: file, names, model: model, form: form)
        } else {
          try Metadata.create(for: model, on: connection)
        }
        let update = try connection.statement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE ifnull(Z_SUPER, 0) = 0")
        try update.bind(file.lastNumber, at: 1)
        try update.run()
      }
    } catch {
      connection.close()
      throw error
    }
    var writable = options
    writable.isReadOnly = false
    let parts = try parts(on: connection, model: model, options: writable, form: form)
    connection.useLog()
    // SQLite opens the log when it reads.
    _ = try connection.isEmpty()
    let store = Store(parts, holdsMoments: true, xml: file)
    connection.fileWriter = (
      write: { [unowned store] () throws(Failure) in if file.hasChanges { try store.writeXML() } },
      noteCommit: { file.noteCommit() }
    )
    return store
  }

  private static func fill(
    _ connection: Connection, from bytes: Bytes, of file: XMLStoreFile, _ names: XMLStoreNames, model: Model,
    form: any ModelForm.Type
  ) throws(Failure) {
    let reader = try XMLStoreReader(
      bytes, path: file.path, into: connection, schema: Schema(model: model), names: names)
    let found = try reader.read { information throws(Failure) in
      try Metadata.create(for: model, uuid: information.uuid, information.metadata, on: connection)
      let tables = try connection.tables()
      try Metadata.read(from: connection, tables: tables).check(
        model, tables: tables, form: form, on: connection, isXML: true)
    }
    file.lastNumber = max(found.lastNumber, XMLStoreNumbers.beforeFirst)
  }

  /// Writes the file anew with what the transaction has, or the store if there is none. For the thread that has the
  /// lock.
  func writeXML() throws(Failure) {
    guard let xml else { return }
    let writer = XMLStoreWriter(
      uuid: uuid, path: path, schema: schema, layouts: layouts, names: try XMLStoreNames(model))
    var last = xml.lastNumber
    try xml.replace { write throws(Failure) in
      last = try writer.write(on: connection, lastNumber: xml.lastNumber, to: write)
    }
    xml.lastNumber = last
    if !connection.isInTransaction { xml.noteCommit() }
  }

  /// After a transaction was rolled back: the file has what memory has, as well as it can. For the thread that has the
  /// lock.
  func takeBackXML() {
    guard let xml else { return }
    xml.hasChanges = false
    // What fails here is written with the next save.
    if xml.isAhead { try? writeXML() }
  }

  /// New objects are numbered for all entities together.
  func allocateNumbers(root: Entity, count: Int, on connection: Connection) throws(Failure) -> Int64 {
    let select = try connection.statement("SELECT max(Z_MAX) FROM Z_PRIMARYKEY")
    guard try select.step() else { throw connection.closedFailure }
    var last = select.integer(at: 0)
    select.reset()
    // Keys of objects that are gone with their transaction belong to no object again, of whatever entity.
    last = max(last, reserves.withLock { $0.values.map(\.lastGone).max() ?? 0 })
    let (newLast, overflow) = last.addingReportingOverflow(Int64(count))
    if overflow || newLast == Int64.max {
      throw Failure(.database, "The store '\(path)' has no numbers left for new objects: the last in use is \(last).")
    }
    let update = try connection.statement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    try update.bind(newLast, at: 1)
    try update.bind(Int64(root.rootNumber), at: 2)
    try update.run()
    withReserve(of: root) { reserve in
      reserve.empty()
      if connection.isHeld { reserve.noteUncommitted(last: newLast) }
    }
    return last + 1
  }

  /// The metadata as they are said of an XML store.
  static func propertiesOfXML(_ properties: [String: PropertyListValue]) -> [String: PropertyListValue] {
    var properties = properties
    for key in XMLStoreWriter.keysOfSQLite { properties[key] = nil }
    properties["NSStoreType"] = .text(StoreType.xml.name)
    return properties
  }
}
