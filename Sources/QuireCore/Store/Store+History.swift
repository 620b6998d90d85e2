/// The history of a store, to programs that follow it.
extension Store {
  /// The place in the history that the file is at now.
  func historyToken() throws(Failure) -> HistoryToken {
    try withHistory { reader throws(Failure) in HistoryToken(try reader.end(), ofStore: uuid) }
  }

  /// The transactions that a query asks for, the oldest first; after those that `token` stands for.
  func history(after token: HistoryToken?, _ query: HistoryQuery) throws(Failure) -> HistoryList {
    try token?.check(isOf: uuid)
    var query = query
    query.after = token?.place
    return try withHistory { reader throws(Failure) in
      let (found, end) = try reader.transactions(query)
      return HistoryList(found, end: end, uuid: uuid)
    }
  }

  /// Removes the transactions before the one that a token stands for. Returns how many there were.
  func purgeHistory(before token: HistoryToken) throws(Failure) -> Int {
    try token.check(isOf: uuid)
    return try purgeHistory { reader throws(Failure) in
      try reader.checkHas(token.place)
      return token.place.number
    }
  }

  /// Removes the transactions before the first one that is not earlier than a date, in seconds since 2001.
  func purgeHistory(before date: Double) throws(Failure) -> Int {
    try purgeHistory { reader throws(Failure) in try reader.first(since: date) }
  }

  private func purgeHistory(before number: (HistoryReader) throws(Failure) -> Int64) throws(Failure) -> Int {
    try write { connection throws(Failure) in
      // Nothing that contexts show is another.
      publish(Publication(hasChanged: false))
      let reader = try historyReader(on: connection)
      return try reader.purge(before: number(reader))
    }
  }

  private func withHistory<Result>(_ body: (HistoryReader) throws(Failure) -> Result) throws(Failure) -> Result {
    try withConnection { connection throws(Failure) in
      try connection.snapshot { () throws(Failure) in try body(historyReader(on: connection)) }
    }
  }

  private func historyReader(on connection: Connection) throws(Failure) -> HistoryReader {
    if let tables = try history.tables(on: connection) {
      return HistoryReader(connection: connection, tables: tables, model: model)
    }
    throw Failure(
      .invalidState,
      "The store '\(path)' keeps no history of its changes. Open it with tracks_history to have it keep one.")
  }

  /// Has the file keep a history from now on, where it is to. One that is there gets what it lacks for the model.
  static func prepareHistory(of model: Model, begins: Bool, on connection: Connection) throws(Failure) {
    func lacks(_ tables: HistoryTables?) -> Bool {
      tables.map { $0.tombstoneCount < HistoryTables.tombstoneCount(of: model) } ?? begins
    }
    if !lacks(try HistoryTables.read(on: connection)) { return }
    try connection.transaction { () throws(Failure) in
      // Another process may have done so meanwhile.
      let tables = try HistoryTables.read(on: connection)
      if !lacks(tables) { return }
      if let tables {
        try tables.addTombstones(for: model, on: connection)
      } else {
        try HistoryTables.create(for: model, on: connection)
      }
    }
  }

  // MARK: Records

  /// What a save is to be recorded as.
  func record(of request: SaveRequest, _ result: SaveResult) throws(Failure) -> HistoryRecord {
    var record = HistoryRecord()
    record.inserted.reserveCapacity(request.inserts.count)
    for insert in request.inserts {
      let id = insert.id > 0 ? insert.id : result.permanentIDs[insert.reference] ?? 0
      record.inserted.append(RowIdentifier(id: id, entity: Int32(truncatingIfNeeded: insert.entity.number)))
    }
    record.updated = request.updates.map { update in
      RowIdentifier(id: update.id, entity: Int32(truncatingIfNeeded: update.entity.number))
    }
    record.updated += result.derived.map(\.row)
    record.updated += try concreteRows(of: result.ownersLosingMembers)
    record.deleted = request.deletes.map { delete in
      RowIdentifier(id: delete.id, entity: Int32(truncatingIfNeeded: delete.entity.number))
    }
    return record
  }

  /// What a batch request is to be recorded as.
  func record(of change: StoreChange) throws(Failure) -> HistoryRecord {
    var record = HistoryRecord()
    record.inserted = Array(change.inserted)
    record.updated = Array(change.updated)
    // Where members have no way back to their owner, its own row is the only one that tells of them.
    record.updated += try concreteRows(of: change.membershipChanges.filter { $0.relationship.inverse == nil })
    record.deleted = Array(change.deleted)
    return record
  }

  /// The owners with the entities that their rows are of; those that are gone are left out.
  private func concreteRows(
    of owners: [(relationship: Relationship, owners: [RowIdentifier])]
  ) throws(Failure) -> [RowIdentifier] {
    var rows: [RowIdentifier] = []
    for (relationship, owners) in owners where !owners.isEmpty {
      let select = try connection.statement(
        "SELECT Z_PK, Z_ENT FROM \(schema.table(of: relationship.entity)) WHERE Z_PK IN (\(IDList.sql))")
      try select.bind(IDList.argument(owners.map(\.id)), at: 1)
      while try select.step() {
        rows.append(
          RowIdentifier(id: select.integer(at: 0), entity: Int32(truncatingIfNeeded: select.integer(at: 1))))
      }
    }
    return rows
  }
}
