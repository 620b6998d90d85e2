import CSQLite
import Glibc

/// The rows of a statement, one at a time.
final class SQLiteRowScan: RowScan {
  fileprivate var cells: UnsafeMutablePointer<OpaquePointer?>
  private let types: [StoredType]
  private let properties: [Property?]
  /// Of the plan's expressions, behind these.
  private let furtherKinds: [SQLLeaf.Kind]
  private let layout: RowLayout
  /// The place of the first value among the columns.
  private let first: Int
  private let isUTF8: Bool
  /// What says which column cannot be read; nil while rows are seen in passing.
  fileprivate let statement: Statement?
  // The first value of the row before.
  private var lastStorage: Int32 = 0
  private var lastBits: Int64 = 0
  private var lastBytes: ContiguousArray<UInt8> = []

  // In passing.
  private let body: (any RowScan) throws(Failure) -> Bool
  fileprivate var hasStopped = false

  fileprivate init(
    _ sql: FetchSQL, _ layout: RowLayout, _ cells: UnsafeMutablePointer<OpaquePointer?>, _ connection: Connection,
    _ statement: Statement?, _ body: @escaping (any RowScan) throws(Failure) -> Bool = { _ in false }
  ) {
    self.body = body
    types = sql.valueTypes
    properties = sql.valueProperties
    furtherKinds = sql.values.map(\.kind)
    self.layout = layout
    first = layout.keyCount
    self.cells = cells
    isUTF8 = connection.isUTF8
    self.statement = statement
  }

  /// Of rows with columns of these properties behind `first` others: key and entity, or the key alone. Without a
  /// statement they are seen in passing.
  fileprivate init(
    _ properties: [Property], _ types: [StoredType], from first: Int, _ layout: RowLayout,
    _ cells: UnsafeMutablePointer<OpaquePointer?>, _ connection: Connection, _ statement: Statement? = nil,
    _ body: @escaping (any RowScan) throws(Failure) -> Bool = { _ in false }
  ) {
    self.properties = properties
    self.types = types
    self.layout = layout
    self.cells = cells
    self.body = body
    furtherKinds = []
    self.first = first
    isUTF8 = connection.isUTF8
    self.statement = statement
  }

  /// Stands at each row of a statement that has key and entity, or the key alone, before the properties. False where
  /// `body` stopped.
  @discardableResult
  static func run(
    _ statement: Statement, _ properties: [Property], _ types: [StoredType], _ layout: RowLayout,
    _ connection: Connection, _ body: (SQLiteRowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let count = statement.columnCount
    let cells = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: count)
    defer { cells.deallocate() }
    let scan = SQLiteRowScan(properties, types, from: count - types.count, layout, cells, connection, statement)
    while try statement.step() {
      for column in 0..<count { cells[column] = statement.cell(at: column) }
      try scan.check()
      if try !body(scan) { return false }
    }
    return true
  }

  var id: Int64 { sqlite3_value_int64(cells[0]) }

  /// Puts all values into the columns of a page. False, in passing, for what `Statement` would have to tell.
  @_optimize(speed)
  func append(to columns: inout [ColumnBuilder]) throws(Failure) -> Bool {
    for place in columns.indices {
      let cell = cells[first + place]
      if SQLValue.append(cell, as: types[place], isUTF8: isUTF8, to: &columns[place]) { continue }
      if let statement {
        do throws(Failure) {
          try statement.append(first + place, as: types[place], to: &columns[place])
        } catch { throw located(error, in: statement) }
        continue
      }
      guard let value = SQLValue.value(cell, as: types[place], isUTF8: isUTF8) else { return false }
      if case .data(let data) = value, !columns[place].hasRoom(for: data.count) { return false }
      columns[place].append(value)
    }
    return true
  }

  /// Whether the first of the values is, byte by byte, that of the row before. To be asked once for each row.
  @_optimize(speed)
  func repeatsFirst() -> Bool {
    guard !types.isEmpty else {
      defer { lastStorage = SQLITE_NULL }
      return lastStorage != 0
    }
    let cell = cells[first]
    let storage = sqlite3_value_type(cell)
    let isSame = storage == lastStorage
    lastStorage = storage
    if storage == SQLITE_TEXT || storage == SQLITE_BLOB {
      let start = sqlite3_value_blob(cell)
      let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(cell)))
      if isSame, lastBytes.count == bytes.count,
        lastBytes.withUnsafeBytes({ bytes.isEmpty || memcmp($0.baseAddress!, bytes.baseAddress!, bytes.count) == 0 })
      {
        return true
      }
      lastBytes.removeAll(keepingCapacity: true)
      lastBytes.append(contentsOf: bytes)
      return false
    }
    var bits: Int64 = 0
    if storage == SQLITE_INTEGER { bits = sqlite3_value_int64(cell) }
    if storage == SQLITE_FLOAT { bits = Int64(bitPattern: sqlite3_value_double(cell).bitPattern) }
    defer { lastBits = bits }
    return isSame && bits == lastBits
  }

  /// The value in that place.
  func value(at place: Int) throws(Failure) -> Value {
    let column = first + place
    if let value = SQLValue.value(cells[column], as: types[place], isUTF8: isUTF8) { return value }
    if let statement {
      do throws(Failure) { return try statement.value(at: column, as: types[place]) } catch {
        throw located(error, in: statement)
      }
    }
    throw Failure(.database, "A value of a row that was seen in passing cannot be read.")
  }

  private func located(_ failure: Failure, in statement: Statement) -> Failure {
    layout.located(
      failure, properties, types, from: first, in: statement, id: id,
      entity: first > 1 ? sqlite3_value_int64(cells[1]) : nil)
  }

  /// All of them.
  func values() throws(Failure) -> [Value] {
    var values: [Value] = []
    for place in types.indices { values.append(try value(at: place)) }
    return values
  }

  /// Those of the plan's expressions; an empty list where one has many values.
  func furtherValues() throws(Failure) -> [Value] {
    var values: [Value] = []
    for (place, kind) in furtherKinds.enumerated() {
      values.append(try Item(cells[first + types.count + place], as: kind).scalar ?? .list([]))
    }
    return values
  }

  /// Appends the text in that place to a sort key; false when there is none.
  func append(textAt place: Int, to key: inout SortKey, descending: Bool) -> Bool {
    guard isUTF8, let bytes = SQLValue.utf8(cells[first + place]) else { return false }
    key.append(text: bytes, descending: descending)
    return true
  }

  /// Which entity the row is of must be known to be one that it can have.
  fileprivate func check() throws(Failure) {
    if first > 1 { _ = try layout.identifier(id, entity: sqlite3_value_int64(cells[1])) }
  }

  @_optimize(speed)
  fileprivate func pass(_ arguments: UnsafeMutablePointer<OpaquePointer?>) -> Bool {
    cells = arguments
    do throws(Failure) {
      try check()
      if try body(self) { return true }
    } catch {}
    hasStopped = true
    return false
  }
}

extension SQLiteMoment {
  /// Passes each row that matches the plan to `body`, in the plan's order. With it come the order of its section as
  /// data, where the plan has sections, the values at `paths`, and those of the plan's expressions. `body` may use
  /// the store.
  func scanRows(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure) {
    if textIndexes.all.isEmpty { return try compiledScan(plan, paths: paths, body) }
    var hasPassed = false
    try withTextIndexes(unless: { hasPassed }) { () throws(Failure) in
      try compiledScan(plan, paths: paths) { scan throws(Failure) in
        hasPassed = true
        try body(scan)
      }
    }
  }

  private func compiledScan(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure) {
    let layout = layout(plan)
    let sql = try fetchSQL(plan, paths: paths)
    let further = sql.valueColumns + sql.values.map(\.expr)
    try withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql.select(layout.keyColumns, further: further))
      try sql.bind(to: statement)
      let count = layout.keyCount + further.count
      let cells = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: count)
      defer { cells.deallocate() }
      let scan = SQLiteRowScan(sql, layout, cells, connection, statement)
      while try statement.step() {
        for column in 0..<count { cells[column] = statement.cell(at: column) }
        try scan.check()
        try body(scan)
      }
    }
  }

  /// The same for whole tables, in three quarters of the time: SQLite calls Quire for each row, and never comes back
  /// with one. `body` has to check their order, and returns false to stop.
  ///
  /// False when it stopped, or met something that `scanRows` would report. `body` may not use the store.
  func scanInPassing(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let layout = layout(plan)
    let sql = try fetchSQL(plan, paths: paths)
    // No function has more arguments than some hundred.
    if sql.columns.count + sql.values.count > 100 { return false }
    let further = sql.columns.map(\.expr) + sql.values.map(\.expr)
    guard let select = sql.selectPassing(PassingFunction.name, layout.keyColumns, further: further) else {
      return false
    }
    return try withConnection { connection throws(Failure) in
      if connection.passing != nil { return false }
      let statement = try connection.statement(select)
      try sql.bind(to: statement)
      let none = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
      defer { none.deallocate() }
      let scan = SQLiteRowScan(sql, layout, none, connection, nil, body)
      return try pass(by: scan, statement, connection)
    }
  }
}

extension SQLiteMoment {
  /// Passes the rows whose keys are in `range` by their keys, with `properties`. False where `read` has to do it: a
  /// property has no column or cannot be read so, or `body` stopped. `body` may not use the store.
  func readInPassing(
    _ properties: [Property], root: Entity, range: ClosedRange<Int64>,
    _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let layout = layouts.layout(of: root, includesSubentities: true)
    var columns = "", types: [StoredType] = []
    for property in properties {
      guard let (name, type) = layout.column(of: property), types.count < 98 else { return false }
      columns += ", t0.\(name)"
      types.append(type)
    }
    let sql =
      "SELECT 1 FROM \(layout.table) t0 NOT INDEXED WHERE t0.Z_PK BETWEEN ? AND ? "
      + "AND \(PassingFunction.name)(t0.Z_PK, t0.Z_ENT\(columns))"
    return try withConnection { connection throws(Failure) in
      if connection.passing != nil { return false }
      let statement = try connection.statement(sql)
      try statement.bind(range.lowerBound, at: 1)
      try statement.bind(range.upperBound, at: 2)
      let none = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
      defer { none.deallocate() }
      let scan = SQLiteRowScan(properties, types, from: 2, layout, none, connection, nil, body)
      return try pass(by: scan, statement, connection)
    }
  }

  /// Passes the rows that answer the plan, with `properties`. In passing this is for whole tables: then `body` has to
  /// check the order and may stop. False where it stopped, or a property has no column or cannot be read so.
  func readRows(
    _ plan: FetchPlan, _ properties: [Property], inPassing: Bool,
    _ body: @escaping (any RowScan) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let layout = layout(plan)
    var columns = layout.keyColumns, types: [StoredType] = []
    for property in properties {
      guard let (name, type) = layout.column(of: property) else { return false }
      columns += ", \(RowLayout.alias).\(name)"
      types.append(type.keyed(at: 0))
    }
    let first = layout.keyCount, count = first + types.count
    // No function has more arguments than some hundred.
    if inPassing, count > 100 { return false }
    var hasPassed = false
    return try withTextIndexes(unless: { hasPassed }) { () throws(Failure) in
      let sql = try fetchSQL(plan)
      let select = inPassing ? sql.selectPassing(PassingFunction.name, columns, further: []) : sql.select(columns)
      guard let select else { return false }
      return try withConnection { connection throws(Failure) in
        if inPassing, connection.passing != nil { return false }
        let statement = try connection.statement(select)
        try sql.bind(to: statement)
        if inPassing {
          let none = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
          defer { none.deallocate() }
          let scan = SQLiteRowScan(properties, types, from: first, layout, none, connection, nil, body)
          return try pass(by: scan, statement, connection)
        }
        return try SQLiteRowScan.run(statement, properties, types, layout, connection) { row throws(Failure) in
          hasPassed = true
          return try body(row)
        }
      }
    }
  }

  /// Runs a statement that shows its rows to a scan; false when the scan stopped.
  private func pass(by scan: SQLiteRowScan, _ statement: Statement, _ connection: Connection) throws(Failure) -> Bool {
    // Not held, so that no row costs a retain.
    connection.passing = UnsafeRawPointer(Unmanaged.passUnretained(scan).toOpaque())
    let count = connection.monitor?.rowCount ?? 0
    defer { withExtendedLifetime(scan) { connection.passing = nil } }
    do throws(Failure) {
      while try statement.step() {}
    } catch {
      if !scan.hasStopped { throw error }
    }
    if scan.hasStopped { connection.monitor?.rowCount = count }
    return !scan.hasStopped
  }
}

/// The SQL function that shows a row to the scan of its connection, and never wants it.
enum PassingFunction {
  static let name = "quire_pass"

  static func register(on handle: OpaquePointer, for connection: Connection) throws(Failure) {
    let code = sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passUnretained(connection).toOpaque(),
      { context, _, arguments in
        guard let arguments, let connection = sqlite3_user_data(context) else { return }
        Unmanaged<Connection>.fromOpaque(connection)._withUnsafeGuaranteedRef { connection in
          guard let scan = connection.passing else { return }
          connection.monitor?.countRow()
          let goesOn = Unmanaged<SQLiteRowScan>.fromOpaque(scan)._withUnsafeGuaranteedRef { $0.pass(arguments) }
          if !goesOn { sqlite3_result_error_code(context, SQLITE_ABORT) }
        }
      }, nil, nil, nil)
    try Connection.check(code, adding: name)
  }
}
