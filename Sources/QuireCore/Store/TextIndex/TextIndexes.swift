/// The text indexes that the model of an open store asks for, and what the file has of them.
final class TextIndexes: @unchecked Sendable {
  let all: [TextIndex]
  private let byAttribute: [ObjectIdentifier: TextIndex]
  /// What is known of the indexes is the same for all connections.
  let lock = RecursiveLock()
  // Under the lock.
  /// SQLite's number of the schema when the file was last looked at.
  var checkedSchema: Int64?
  /// SQLite's number of what others have committed, when the indexes were last verified.
  private var verifiedData: Int64?
  var isOpened = false
  /// Whether this SQLite has FTS5.
  var hasModule = false

  /// The folding of texts that are in the file; it changes with Unicode, and with the way of using it.
  static let folding = "2 \(TextFolder.unicodeVersion)"
  /// The table that notes how each index was made, and what was written to it last.
  static let directory = "QUIRE_TEXT"
  static let directorySQL =
    "CREATE TABLE \(directory) (Z_NAME VARCHAR PRIMARY KEY, Z_FOLDING VARCHAR, Z_SCHEMA INTEGER, Z_LAST INTEGER, "
    + "Z_SUMS BLOB)"
  /// From so many rows on, what is pending goes into the index with the next save. Below that, looking at each of them
  /// costs a query less than the save.
  static let mostPending = 256
  /// From so many rows on, a query does not wait for a save: another program has written them.
  private static let tooManyPending = 4096
  /// An index of no more blocks is verified in less than a millisecond: at each opening, and when others have written.
  static let fewBlocks = 256

  init(schema: Schema) {
    var all: [TextIndex] = []
    var byAttribute: [ObjectIdentifier: TextIndex] = [:]
    var taken: Set<String> = []
    for entity in schema.model.numberedEntities {
      for attribute in entity.ownAttributes where attribute.isSearchable {
        guard let column = schema.valueColumn(of: attribute) else { continue }
        let table = schema.table(of: entity)
        let index = TextIndex(
          attribute, table: table, column: column,
          name: TextIndexes.freeName("\(TextIndexes.directory)_\(table)_\(column)", &taken))
        all.append(index)
        byAttribute[ObjectIdentifier(attribute)] = index
      }
    }
    self.all = all
    self.byAttribute = byAttribute
  }

  /// Names of several attributes, or of tables that FTS5 makes, can meet; the later one gets a number.
  private static func freeName(_ wanted: String, _ taken: inout Set<String>) -> String {
    let endings = ["", "_PENDING", "_INSERT", "_UPDATE", "_DELETE", "_DATA", "_IDX", "_CONTENT", "_DOCSIZE", "_CONFIG"]
    var name = wanted, number = 0
    while endings.contains(where: { taken.contains(name + $0) }) {
      number += 1
      name = "\(wanted)_\(number)"
    }
    for ending in endings { taken.insert(name + ending) }
    return name
  }

  /// nil when the attribute is not searchable.
  func index(of attribute: Attribute) -> TextIndex? { byAttribute[ObjectIdentifier(attribute)] }

  // MARK: Queries

  /// Empty when the index cannot be asked, or is not worth it.
  ///
  /// `commit` is that of the moment for which the connection reads, if it is for one.
  func choose(
    from trigrams: [Trigram], of index: TextIndex, at commit: Int64?, on connection: Connection
  ) throws(Failure) -> [Trigram] {
    try lock.withLock { () throws(Failure) in
      try check(on: connection)
      // What an older moment has of it may be what was damaged.
      if let commit, commit < index.firstCommit { return [] }
      guard try isTrue(index, on: connection) else { return [] }
      try mendForQuery(index, on: connection)
      guard index.isUsable else { return [] }
      if index.statistics == nil { index.statistics = try TrigramStatistics(index, on: connection) }
      return index.statistics?.choose(from: trigrams) ?? []
    }
  }

  private func mendForQuery(_ index: TextIndex, on connection: Connection) throws(Failure) {
    guard !connection.isReadOnly, !connection.isInTransaction, !connection.isReading,
      try index.pendingCount(upTo: TextIndexes.tooManyPending, on: connection) == TextIndexes.tooManyPending
    else { return }
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try connection.transactionWithoutRows { () throws(Failure) in try mend(index, on: connection) }
      }
    } catch {
      // Another program is writing; the rows stay candidates.
      if error.kind != .busy { throw error }
    }
  }

  /// Whether the index can be relied on. It is checked as a whole once, before its first use. It is checked again when
  /// other programs have written to the file, if that can be done at once.
  private func isTrue(_ index: TextIndex, on connection: Connection) throws(Failure) -> Bool {
    if !index.isUsable { return false }
    try noticeOthers(on: connection)
    if index.isVerified { return true }
    return try verify(index, on: connection)
  }

  private func noticeOthers(on connection: Connection) throws(Failure) {
    let data = try connection.dataVersion()
    if data == verifiedData { return }
    verifiedData = data
    for index in all where index.wasSmall { index.isVerified = false }
  }

  /// Whether a statement that failed had met a damaged index. That is not used from then on, so the statement can be
  /// compiled and run again.
  func distrust(after failure: Failure, on connection: Connection) throws(Failure) -> Bool {
    if !failure.mayBeDamage || failure.databaseCode == 0 { return false }
    return try lock.withLock { () throws(Failure) in
      var isReason = false
      for index in all where index.isUsable {
        if try !verify(index, on: connection) { isReason = true }
      }
      return isReason
    }
  }

  // MARK: Saves

  /// To be called at the beginning of a transaction that may write to searchable attributes.
  func begin(on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    assert(connection.isInTransaction)
    try lock.withLock { () throws(Failure) in
      try check(on: connection)
      // What a trigger cannot note would fail the statement that fires it.
      for index in all where index.isDamaged { try index.silence(on: connection) }
    }
  }

  /// To be called at the end of one.
  func mend(on connection: Connection) throws(Failure) {
    if all.isEmpty { return }
    assert(connection.isInTransaction)
    try lock.withLock { () throws(Failure) in try mendAll(on: connection) }
  }

  private func mendAll(on connection: Connection) throws(Failure) {
    for index in all where index.isUsable {
      if try index.pendingCount(upTo: TextIndexes.mostPending, on: connection) < TextIndexes.mostPending { continue }
      try noticeOthers(on: connection)
      // To find a damaged page fails the transaction around, so that is left until after the save.
      if index.isVerified { try mend(index, on: connection) } else { index.isToBeMended = true }
    }
  }

  /// To be called after one: does what could not be done within, and makes the indexes anew that are damaged, where
  /// that is possible now.
  func repair(on connection: Connection) {
    if all.isEmpty || !hasModule || connection.isReadOnly || connection.isInTransaction { return }
    lock.withLock { repairAll(on: connection) }
  }

  private func repairAll(on connection: Connection) {
    for index in all where index.isToBeMended {
      index.isToBeMended = false
      do throws(Failure) {
        if try !isTrue(index, on: connection) { continue }
        try connection.withoutWaiting { () throws(Failure) in
          try connection.transactionWithoutRows { () throws(Failure) in try mend(index, on: connection) }
        }
      } catch {
        // The rows stay candidates.
        continue
      }
    }
    let damaged = all.filter { $0.isDamaged && !$0.isBeyondRepair }
    if damaged.isEmpty { return }
    do throws(Failure) {
      try connection.withoutWaiting { () throws(Failure) in
        try removing(on: connection) { removal throws(Failure) in
          try build(damaged, by: removal, on: connection, since: try connection.schemaNumber())
        }
      }
    } catch {
      for index in damaged {
        index.setAside()
        if error.kind != .busy { index.isBeyondRepair = true }
      }
    }
  }

  /// Takes what is pending into an index. A damaged one is left alone: it can be made again from the texts, and a save
  /// does not fail for it.
  func mend(_ index: TextIndex, on connection: Connection) throws(Failure) {
    // What is damaged must not become part of what is written and summed up now.
    if try !isTrue(index, on: connection) { return }
    do throws(Failure) {
      try connection.savepoint { () throws(Failure) in
        guard var sums = try noted(index, on: connection).sums else {
          throw Failure(.database, "The text index '\(index.name)' has no sums.", databaseCode: ResultCode.corrupt)
        }
        let written = try connection.segmentsWritten(of: index) { () throws(Failure) in
          try index.mend(on: connection)
        }
        try sums.update(written, of: index, on: connection)
        try note(sums, of: index, on: connection)
      }
    } catch {
      if !error.mayBeDamage || !connection.hasTransaction { throw error }
      index.setAside()
    }
  }
}
