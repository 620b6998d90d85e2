import Glibc

/// Writes the history of a store, where its file keeps one. Used under the lock of the store.
final class History: @unchecked Sendable {
  private let model: Model
  private let schema: Schema
  /// SQLite's number of the schema when the file was last looked at.
  private var checkedSchema: Int64?
  private var tables: HistoryTables?
  /// Values of rows that the running transaction deletes, in the order of their columns.
  private var tombstones: [RowIdentifier: [Value]] = [:]
  private var preserved: [Int: [Attribute]] = [:]

  /// What the history calls this process. There are no bundles here, so it is the bundle's identifier, too.
  private static let processName: Text = {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return Text(name.isEmpty ? "quire" : name)
  }()

  init(schema: Schema) {
    self.schema = schema
    model = schema.model
  }

  /// The tables that the file has now; nil where it keeps no history.
  func tables(on connection: Connection) throws(Failure) -> HistoryTables? {
    try connection.unheard { () throws(Failure) in
      let schema = try connection.schemaNumber()
      if schema != checkedSchema {
        tables = try HistoryTables.read(on: connection)
        checkedSchema = schema
      }
      return tables
    }
  }

  /// What was found out since may have been taken back.
  func forgetChecks() { checkedSchema = nil }

  /// At the start of a transaction that writes. Another program may have begun a history meanwhile. Returns SQLite's
  /// number of the schema.
  func begin(on connection: Connection) throws(Failure) -> Int64 {
    tombstones = [:]
    _ = try tables(on: connection)
    return checkedSchema ?? 0
  }

  /// Whether the running transaction is to be recorded.
  var isKept: Bool { tables != nil }

  /// These rows are about to be deleted: what their attributes leave is read now.
  func noteDeletion(of ids: some Collection<Int64>, _ entity: Entity, on connection: Connection) throws(Failure) {
    guard let tables else { return }
    let attributes = preservedAttributes(of: entity).prefix(tables.tombstoneCount)
    if attributes.isEmpty || ids.isEmpty { return }
    let columns = attributes.map { schema.column(of: $0) }
    let select = try connection.statement(
      "SELECT Z_PK, \(columns.joined(separator: ", ")) FROM \(schema.table(of: entity)) WHERE Z_PK IN (\(IDList.sql))")
    try select.bind(IDList.argument(ids), at: 1)
    while try select.step() {
      let row = RowIdentifier(id: select.integer(at: 0), entity: Int32(truncatingIfNeeded: entity.number))
      var values: [Value] = []
      for (place, attribute) in attributes.enumerated() {
        values.append(try tombstone(select, at: place + 1, of: attribute))
      }
      tombstones[row] = values
    }
  }

  /// A value of another type than its attribute stops no deletion: it leaves nothing.
  private func tombstone(_ row: Statement, at column: Int, of attribute: Attribute) throws(Failure) -> Value {
    let type = StoredType(of: attribute).keyed(at: 0)
    if case .external = type {
      // A missing file stops none either.
      guard let value = try? row.value(at: column, as: type), let data = try? value.inPlace() else { return .nil }
      return data
    }
    return row.canRead(column, as: type) ? try row.value(at: column, as: type) : .nil
  }

  private func preservedAttributes(of entity: Entity) -> [Attribute] {
    if let known = preserved[entity.number] { return known }
    let found = HistoryTables.preservedAttributes(of: entity)
    preserved[entity.number] = found
    return found
  }

  // MARK: Writing

  /// Adds a transaction to the history, within the transaction of the file. Without changes there is none.
  func write(_ record: HistoryRecord, by authorship: Authorship, on connection: Connection) throws(Failure) {
    guard let tables, !record.isEmpty else { return }
    var record = record
    record.settle()
    let number = try HistoryTables.take(1, of: .transaction, on: connection)
    try insertTransaction(number, authorship, tables, on: connection)
    let count = record.inserted.count + record.updated.count + record.deleted.count
    var next = try HistoryTables.take(count, of: .change, on: connection)
    try insert(record.inserted, .insert, in: number, tables, from: &next, on: connection)
    try insert(record.updated, .update, in: number, tables, from: &next, on: connection)
    try insert(record.deleted, .delete, in: number, tables, from: &next, on: connection)
  }

  private func insertTransaction(
    _ number: Int64, _ authorship: Authorship, _ tables: HistoryTables, on connection: Connection
  ) throws(Failure) {
    let labels = HistoryTables.Label.allCases
    let names = labels.map { ", \(tables.hasStrings ? $0.keyColumn : $0.column)" }.joined()
    let insert = try connection.statement(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP\(names)) "
        + "VALUES (?, \(HistoryTables.Kind.transaction.rawValue), ?\(String(repeating: ", ?", count: labels.count)))")
    var values: [Value] = []
    for label in labels {
      let text: Text? =
        switch label {
        case .author: authorship.author
        case .contextName: authorship.contextName
        case .bundleID, .processID: History.processName
        }
      guard let text else {
        values.append(.nil)
        continue
      }
      values.append(tables.hasStrings ? .integer(try key(of: text, on: connection)) : .text(text))
    }
    try insert.bind(number, at: 1)
    try insert.bind(double: History.now(), at: 2)
    for (place, value) in values.enumerated() { try insert.bind(value, at: place + 3) }
    try insert.run()
    if connection.changes == 0 { throw connection.ignoredFailure("ATRANSACTION", doing: "write the history") }
  }

  /// The key of a text that transactions share.
  private func key(of text: Text, on connection: Connection) throws(Failure) -> Int64 {
    let select = try connection.statement("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
    try select.bind(text, at: 1)
    if try select.step() { return select.integer(at: 0) }
    let key = try HistoryTables.take(1, of: .string, on: connection)
    let insert = try connection.statement(
      "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, \(HistoryTables.Kind.string.rawValue), ?)")
    try insert.bind(key, at: 1)
    try insert.bind(text, at: 2)
    try insert.run()
    if connection.changes == 0 { throw connection.ignoredFailure("ATRANSACTIONSTRING", doing: "write the history") }
    return key
  }

  private func insert(
    _ rows: [RowIdentifier], _ kind: HistoryChange.Kind, in transaction: Int64, _ tables: HistoryTables,
    from next: inout Int64, on connection: Connection
  ) throws(Failure) {
    if rows.isEmpty { return }
    let extra = kind == .delete ? tables.tombstoneCount : 0
    let names = (0..<extra).map { ", \(HistoryTables.tombstone($0))" }.joined()
    let insert = try connection.statement(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) VALUES "
        + "(?, \(HistoryTables.Kind.change.rawValue), \(kind.rawValue), ?, ?, ?, ?"
        + "\(String(repeating: ", ?", count: extra)))")
    var columns: (entity: Int32, bits: Value) = (0, .nil)
    for row in rows {
      try connection.mayGoOn(isWritten: true)
      if kind == .update, columns.entity != row.entity {
        columns = (
          row.entity, model.entity(numbered: Int(row.entity)).map { .data(ChangedColumns.any(of: $0)) } ?? .nil
        )
      }
      let values = tombstones[row] ?? []
      try insert.bind(next, at: 1)
      try insert.bind(Int64(row.entity), at: 2)
      try insert.bind(row.id, at: 3)
      try insert.bind(transaction, at: 4)
      try insert.bind(columns.bits, at: 5)
      for place in 0..<extra { try insert.bind(place < values.count ? values[place] : .nil, at: place + 6) }
      try insert.run()
      if connection.changes == 0 { throw connection.ignoredFailure("ACHANGE", doing: "write the history") }
      next += 1
    }
  }

  /// Seconds since 2001, to the microsecond as Core Data has them.
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Epoch.since2001(Double(time.tv_sec) + Double(time.tv_nsec / 1000) / 1_000_000)
  }
}
