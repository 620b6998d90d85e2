/// Reads the history of a file, in one state of it: within a snapshot or a transaction.
struct HistoryReader {
  let connection: Connection
  let tables: HistoryTables
  let model: Model

  /// The number of the last transaction, which may be gone.
  func last() throws(Failure) -> Int64 { try HistoryTables.last(.transaction, on: connection) }

  /// Behind that one.
  func end() throws(Failure) -> HistoryPlace {
    let number = try last()
    return HistoryPlace(number: number, timestamp: try timestamp(of: number) ?? 0)
  }

  private func timestamp(of number: Int64) throws(Failure) -> Double? {
    let select = try connection.statement("SELECT ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?")
    try select.bind(number, at: 1)
    defer { select.reset() }
    return try select.step() ? select.double(at: 0) : nil
  }

  /// Fails where the file has no such place so far, or had another transaction there.
  func checkHas(_ place: HistoryPlace) throws(Failure) {
    let last = try last()
    if place.number > last {
      throw isOfAnotherCopy("the history ends with transaction \(last), and the token is of \(place.number)")
    }
    if place.timestamp != 0, let timestamp = try timestamp(of: place.number), timestamp != place.timestamp {
      throw isOfAnotherCopy("the file has another transaction \(place.number) than that of the token")
    }
  }

  private func isOfAnotherCopy(_ reason: String) -> Failure {
    Failure(
      .historyExpired,
      "The history token does not go for this file: \(reason). The file is an older copy, or one that went another way."
        + " Read everything anew, and go on with a new token.")
  }

  /// Fails where transactions after that place are gone, and where the file does not have the place.
  func check(after place: HistoryPlace) throws(Failure) {
    try checkHas(place)
    try check(after: place.number)
  }

  /// Fails where transactions after that number are gone.
  func check(after number: Int64) throws(Failure) {
    let select = try connection.statement("SELECT min(Z_PK) FROM ATRANSACTION WHERE Z_PK > 0")
    let first = try select.step() && !select.isNull(at: 0) ? select.integer(at: 0) : try last() + 1
    if number >= first - 1 { return }
    throw Failure(
      .historyExpired,
      "The history token is of transaction \(number), and what followed it was purged: the history begins with "
        + "\(first). Read everything anew, and go on with a new token.")
  }

  // MARK: Rows

  /// Which rows the transactions after a number have changed, in the order of the changes. A row may occur several
  /// times.
  func changes(after number: Int64) throws(Failure) -> [(row: RowIdentifier, kind: HistoryChange.Kind)] {
    let select = try connection.statement(
      "SELECT ZENTITYPK, ZENTITY, ZCHANGETYPE FROM ACHANGE WHERE ZTRANSACTIONID > ? ORDER BY ZTRANSACTIONID, Z_PK")
    try select.bind(number, at: 1)
    var changes: [(row: RowIdentifier, kind: HistoryChange.Kind)] = []
    while try select.step() {
      guard let kind = HistoryChange.Kind(rawValue: select.integer(at: 2)) else { continue }
      let row = RowIdentifier(id: select.integer(at: 0), entity: Int32(truncatingIfNeeded: select.integer(at: 1)))
      changes.append((row, kind))
    }
    return changes
  }

  // MARK: Transactions

  /// The oldest first, with the place where the next query goes on.
  func transactions(_ query: HistoryQuery) throws(Failure) -> (found: [HistoryTransaction], end: HistoryPlace) {
    if let after = query.after { try check(after: after) }
    var conditions: [String] = [], arguments: [Value] = []
    func add(_ condition: String, _ argument: Value) {
      conditions.append(condition)
      arguments.append(argument)
    }
    if let after = query.after { add("t.Z_PK > ?", .integer(after.number)) }
    if let since = query.since { add("t.ZTIMESTAMP >= ?", .double(since)) }
    if let author = query.author { add("\(tables.text(.author)) = ?", .text(author)) }
    if let name = query.contextName { add("\(tables.text(.contextName)) = ?", .text(name)) }
    if let entity = query.entity {
      let numbers = "\(entity.number) AND \(entity.lastNumber)"
      conditions.append(
        "EXISTS (SELECT 1 FROM ACHANGE c WHERE c.ZTRANSACTIONID = t.Z_PK AND c.ZENTITY BETWEEN \(numbers))")
    }
    let condition = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    let limit = query.limit > 0 ? " LIMIT \(query.limit)" : ""
    let select = try connection.statement(
      "SELECT t.Z_PK, t.ZTIMESTAMP, \(tables.text(.author)), \(tables.text(.contextName)), "
        + "\(tables.text(.processID)), \(tables.text(.bundleID)) FROM ATRANSACTION t\(condition) "
        + "ORDER BY t.Z_PK\(limit)",
      isKept: false)
    for (place, argument) in arguments.enumerated() { try select.bind(argument, at: place + 1) }
    var found: [HistoryTransaction] = []
    while try select.step() {
      let number = select.integer(at: 0)
      found.append(
        HistoryTransaction(
          number: number, timestamp: select.double(at: 1), author: select.text(at: 2), contextName: select.text(at: 3),
          processID: select.text(at: 4), bundleID: select.text(at: 5),
          changes: try changes(of: number, in: query.entity)))
    }
    let isCut = query.limit > 0 && found.count == query.limit
    return (found, isCut ? found[found.count - 1].place : try end())
  }

  private func changes(of transaction: Int64, in entity: Entity?) throws(Failure) -> [HistoryChange] {
    let tombstones = (0..<tables.tombstoneCount).map { ", \(HistoryTables.tombstone($0))" }.joined()
    let condition = entity.map { " AND ZENTITY BETWEEN \($0.number) AND \($0.lastNumber)" } ?? ""
    let select = try connection.statement(
      "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS\(tombstones) FROM ACHANGE "
        + "WHERE ZTRANSACTIONID = ?\(condition) ORDER BY Z_PK")
    try select.bind(transaction, at: 1)
    var changes: [HistoryChange] = []
    while try select.step() {
      guard let kind = HistoryChange.Kind(rawValue: select.integer(at: 0)) else { continue }
      let entity = Int(exactly: select.integer(at: 1)).flatMap { model.entity(numbered: $0) }
      var changed: [Property]?
      if kind == .update, let entity, let bits = select.data(at: 3) {
        changed = ChangedColumns.changed(bits, of: entity)
      }
      var left: [(attribute: Attribute, value: Value)] = []
      if kind == .delete, let entity {
        let attributes = HistoryTables.preservedAttributes(of: entity).prefix(tables.tombstoneCount)
        for (place, attribute) in attributes.enumerated() {
          let type = StoredType.attribute(attribute.type)
          let value = select.canRead(place + 4, as: type) ? try select.value(at: place + 4, as: type) : .nil
          left.append((attribute, value))
        }
      }
      changes.append(
        HistoryChange(
          kind: kind, id: select.integer(at: 2), entity: entity, changedProperties: changed, tombstones: left))
    }
    return changes
  }

  // MARK: Purging

  /// Removes the transactions before a number, with their changes and the texts that no other one uses. Returns how
  /// many there were.
  func purge(before number: Int64) throws(Failure) -> Int {
    func run(_ sql: String) throws(Failure) {
      let statement = try connection.statement(sql)
      try statement.bind(number, at: 1)
      try statement.run()
    }
    try run("DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?")
    try run("DELETE FROM ATRANSACTION WHERE Z_PK < ?")
    let count = connection.changes
    if count > 0, tables.hasStrings {
      let used = HistoryTables.Label.allCases.map { label in
        "SELECT \(label.keyColumn) FROM ATRANSACTION WHERE \(label.keyColumn) NOT NULL"
      }
      try connection.execute(
        "DELETE FROM ATRANSACTIONSTRING WHERE Z_PK NOT IN (\(used.joined(separator: " UNION ")))")
    }
    return count
  }

  /// The first transaction that is not earlier than a date, in seconds since 2001.
  func first(since date: Double) throws(Failure) -> Int64 {
    let select = try connection.statement("SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?")
    try select.bind(double: date, at: 1)
    return try select.step() && !select.isNull(at: 0) ? select.integer(at: 0) : try last() + 1
  }
}
