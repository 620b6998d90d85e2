extension Store {
  /// Writes the whole request, or nothing when any part of it fails.
  ///
  /// `finish` is called when all is written and nothing is committed: it may read what is in the store then, and what
  /// it throws takes all back. `completion` is called once all is in the file, before any other caller can write.
  func save(
    _ request: SaveRequest, finish: (SaveResult) throws(Failure) -> Void = { _ throws(Failure) in },
    completion: () -> Void = {}
  ) throws(Failure) -> SaveResult {
    if request.isEmpty { return SaveResult(permanentIDs: PermanentIDs()) }
    return try withConnection { _ throws(Failure) in
      let result = try write { connection throws(Failure) in
        try SaveSession(request: request, store: self, connection: connection).run()
      } finish: { (result, derived) throws(Failure) in
        result.derived =
          derived
          + affected.take(
            except: Set(request.deletes.map { RowIdentifier(id: $0.id, entity: Int32($0.entity.number)) }))
        if history.isKept { try history.write(record(of: request, result), by: request.authorship, on: connection) }
        try finish(result)
      }
      completion()
      return result
    }
  }

  /// Carries out a batch request, whole or not at all. `finish` and `completion` are called as those of `save`.
  func batch<Result>(
    by authorship: Authorship, _ body: (any BatchWriter) throws(Failure) -> Result,
    finish: (StoreChange) throws(Failure) -> Void, completion: () -> Void
  ) throws(Failure) -> Result {
    try withConnection { _ throws(Failure) in
      let (result, _) = try write { connection throws(Failure) in
        let session = BatchSession(store: self, connection: connection)
        let result = try body(session)
        try session.derive()
        return (result, session.change)
      } finish: { (written, _) throws(Failure) in
        if history.isKept { try history.write(record(of: written.1), by: authorship, on: connection) }
        try finish(written.1)
      }
      completion()
      return result
    }
  }

  /// Runs `body` in a transaction, with all that belongs to each write. `finish` is called last in it, with the values
  /// that were derived.
  func write<Result>(
    _ body: (Connection) throws(Failure) -> Result,
    finish: (inout Result, [DerivedValue]) throws(Failure) -> Void = { _, _ throws(Failure) in }
  ) throws(Failure) -> Result {
    try withConnection { connection throws(Failure) in
      try checkWritable()
      // A failure could not undo what it wrote without undoing what is around it.
      if connection.isBusy {
        throw Failure(.invalidState, "The store '\(path)' cannot save in the midst of a read. Save when it is done.")
      }
      let before = external.mark
      defer { (publication, written) = (nil, nil) }
      let done: (result: Result, properties: [String: PropertyListValue?])
      do throws(Failure) {
        written = nil
        done = try connection.transaction { () throws(Failure) in
          xml?.hasChanges = true
          affected.forget()
          try textIndexes.begin(on: connection)
          try derivedAttributes.begin(on: connection)
          try journal.begin(schema: try history.begin(on: connection), on: connection)
          var result = try body(connection)
          let derived = try derivedAttributes.end(on: connection)
          try textIndexes.mend(on: connection)
          let properties = try writeProperties(on: connection)
          try finish(&result, derived)
          try journal.finish(changeToRecord, on: connection)
          return (result, properties)
        }
      } catch {
        external.takeBack(to: before, isUncertain: connection.hasUncertainCommit)
        history.forgetChecks()
        if !connection.isHeld { takeBackXML() }
        throw error
      }
      publication = nil
      if !connection.isHeld { commitFiles() }
      if !done.properties.isEmpty {
        metadataChanges.noteWritten(done.properties, isHeld: connection.isHeld)
      }
      textIndexes.repair(on: connection)
      foldIfLong()
      return done.result
    }
  }

  /// What the running write has changed of rows.
  private var changeToRecord: StoreChange {
    guard let written, written.hasChanged else { return StoreChange() }
    return written.changes.count == 1 ? written.changes[0] : .unknown
  }

  /// Removes the files that no row names any more, after a commit.
  func commitFiles() {
    if !external.isUsed { return }
    external.commit(commits.newest) { connection.synchronizesSaves || ExternalFolder(of: location).synchronizeLog() }
    sweepFiles()
  }

  /// Removes those of them that no moment needs any more. Any thread.
  func sweepFiles() {
    if !external.hasGoing { return }
    let oldest = allMoments.compactMap(\.commit).min()
    external.sweep(upTo: oldest ?? .max)
  }

  /// Takes `count` new primary keys for the table of `root` and returns the first. Keys are never assigned twice, even
  /// when no row comes to use them.
  func allocateIDs(root: Entity, count: Int) throws(Failure) -> Int64 {
    try withConnection { connection throws(Failure) in
      try checkWritable()
      return try connection.transactionWithoutRows { () throws(Failure) in
        try allocateIDs(root: root, count: count, on: connection)
      }
    }
  }

  func checkWritable() throws(Failure) {
    if isReadOnly {
      throw Failure(.readOnly, "The store '\(path)' is open for reading only. Open it for writing to save.")
    }
  }

  /// The same, inside a transaction.
  func allocateIDs(root: Entity, count: Int, on connection: Connection) throws(Failure) -> Int64 {
    guard count > 0 else {
      throw Failure(.invalidArgument, "Cannot take \(count) primary keys for '\(root.name)'. Ask for one or more.")
    }
    if let first = withReserve(of: root, { $0.take(count) }) { return first }
    if xml != nil { return try allocateNumbers(root: root, count: count, on: connection) }
    let table = schema.table(of: root)
    // Other programs may have added rows without raising Z_MAX, and their keys need not be numbers. Compared as they
    // are, any text is above all keys, and read as 0.
    let statement = try connection.statement(
      "SELECT max(CAST(ifnull(Z_MAX, 0) AS INTEGER), ifnull((SELECT max(Z_PK) FROM \(table)), 0), 0) "
        + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
    try statement.bind(Int64(root.rootNumber), at: 1)
    guard try statement.step() else {
      throw Failure(
        .database,
        "The store '\(path)' has no entry for entity '\(root.name)' in its table of primary keys. The file is damaged.")
    }
    var last = statement.integer(at: 0)
    withReserve(of: root) { reserve in
      if let rest = reserve.rest, rest.lastTaken == last { last = rest.lastUsed }
      last = max(last, reserve.lastGone)
      reserve.empty()
    }
    let (newLast, overflow) = last.addingReportingOverflow(Int64(count))
    // The counter of keys goes one beyond the last.
    if overflow || newLast == Int64.max {
      throw Failure(
        .database,
        "The table of entity '\(root.name)' in the store '\(path)' has no primary keys left: "
          + "the last in use is \(last). Give the rows smaller keys, and Z_PRIMARYKEY a smaller Z_MAX.")
    }
    let update = try connection.statement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    try update.bind(newLast, at: 1)
    try update.bind(Int64(root.rootNumber), at: 2)
    try update.run()
    if connection.changes == 0 {
      throw connection.ignoredFailure("Z_PRIMARYKEY", doing: "take primary keys for '\(root.name)'")
    }
    if connection.isHeld { withReserve(of: root) { $0.noteUncommitted(last: newLast) } }
    return last + 1
  }
}
