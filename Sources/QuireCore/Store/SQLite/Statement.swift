import CSQLite
import Glibc

/// One use of a compiled SQL statement. When it goes away, the compiled form goes back to its connection.
final class Statement {
  let sql: String
  let handle: OpaquePointer
  let connection: Connection
  private let idle: IdleStatement
  /// Texts and data are bound without a copy, so they live here until the statement is reset.
  private var boundBytes: ContiguousArray<Bytes> = []
  private var boundObjects: [AnyObject] = []

  init(_ handle: OpaquePointer, sql: String, connection: Connection, _ idle: IdleStatement) {
    self.idle = idle
    self.handle = handle
    self.sql = sql
    self.connection = connection
  }

  deinit {
    if !connection.mark.isHere { return }
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    connection.recycle(handle, idle)
    connection.letGo(of: &boundObjects)
  }

  /// True when there is a row. After the last row, or an error, the statement is reset and keeps its bindings.
  func step() throws(Failure) -> Bool {
    connection.pendingFailure = nil
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW {
      connection.monitor?.countRow()
      return true
    }
    try end(code)
    return false
  }

  /// Passes the integers in column 0 of all rows that are left.
  func forEachInteger(_ body: (Int64) -> Void) throws(Failure) {
    connection.pendingFailure = nil
    let monitor = connection.monitor
    var code = sqlite3_step(handle)
    while code == SQLITE_ROW {
      monitor?.countRow()
      body(sqlite3_column_int64(handle, 0))
      code = sqlite3_step(handle)
    }
    try end(code)
  }

  /// Resets the statement, which has returned all its rows or failed.
  private func end(_ code: Int32) throws(Failure) {
    if code == SQLITE_DONE {
      sqlite3_reset(handle)
      return
    }
    let failure = connection.pendingFailure ?? connection.failure(code, doing: "run \(Connection.excerpt(sql))")
    connection.pendingFailure = nil
    sqlite3_reset(handle)
    throw failure
  }

  /// Steps a statement that returns no rows, and makes it ready for new values.
  func run() throws(Failure) {
    while try step() {}
    clear()
  }

  /// Ready to be bound and stepped again; all parameters are NULL.
  func reset() {
    sqlite3_reset(handle)
    clear()
  }

  private func clear() {
    sqlite3_clear_bindings(handle)
    if !boundBytes.isEmpty { boundBytes.removeAll(keepingCapacity: true) }
    if !boundObjects.isEmpty { boundObjects.removeAll() }
  }

  /// Another statement of the same connection.
  func alongside(_ sql: String) throws(Failure) -> Statement { try connection.statement(sql) }

  /// Runs the statement for a function that the statement around it calls, with `values` for the parameters `numbers`,
  /// and returns what it selects.
  func answer(
    _ values: UnsafeBufferPointer<OpaquePointer?>, at numbers: [Int], to context: OpaquePointer
  ) throws(Failure) {
    for (value, number) in zip(values, numbers) { try check(sqlite3_bind_value(handle, parameter(number), value)) }
    defer { sqlite3_reset(handle) }
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return sqlite3_result_value(context, sqlite3_column_value(handle, 0)) }
    if code == SQLITE_DONE { return sqlite3_result_null(context) }
    throw connection.pendingFailure ?? connection.failure(code, doing: "run \(Connection.excerpt(sql))")
  }
}

// MARK: - Parameters, from 1

extension Statement {
  /// Binds as the file stores it (docs/file-format.md): booleans 0 or 1, decimals as doubles, an object as its id.
  func bind(_ value: Value, at index: Int) throws(Failure) {
    switch value {
    case .nil: try bindNull(at: index)
    case .integer(let integer): try bind(integer, at: index)
    case .boolean(let boolean): try bind(boolean ? 1 : 0, at: index)
    case .double(let double), .date(let double): try bind(double: double, at: index)
    case .float(let float): try bind(double: Double(float), at: index)
    case .decimal(let decimal): try bind(double: decimal.double, at: index)
    case .text(let text), .uri(let text): try bind(text, at: index)
    case .data(let bytes), .uuid(let bytes): try bind(bytes, at: index)
    case .external(let value): try bind(value.data(), at: index)
    case .object(let box): try bind(box.reference.id, at: index)
    case .list:
      throw Failure(
        .invalidArgument, "A list cannot be stored in a column or bound to one parameter; bind its values one by one.")
    }
  }

  func bindNull(at index: Int) throws(Failure) {
    try check(sqlite3_bind_null(handle, parameter(index)))
  }

  func bind(_ integer: Int64, at index: Int) throws(Failure) {
    try check(sqlite3_bind_int64(handle, parameter(index), integer))
  }

  /// NaN becomes NULL: SQLite has no NaN.
  func bind(double: Double, at index: Int) throws(Failure) {
    try check(sqlite3_bind_double(handle, parameter(index), double))
  }

  func bind(_ text: Text, at index: Int) throws(Failure) {
    boundBytes.append(text.bytes)
    let start = UnsafeRawPointer(text.bytes.start).assumingMemoryBound(to: CChar.self)
    try check(
      sqlite3_bind_text64(handle, parameter(index), start, UInt64(text.bytes.count), nil, UInt8(SQLITE_UTF8)))
  }

  /// Empty data stays empty data: a null pointer would be NULL, but `Bytes` always has an address.
  func bind(_ bytes: Bytes, at index: Int) throws(Failure) {
    boundBytes.append(bytes)
    try check(sqlite3_bind_blob64(handle, parameter(index), bytes.start, UInt64(bytes.count), nil))
  }

  /// An object for a function of Quire, which knows it by `type`; to SQL itself it is NULL.
  func bind(_ object: AnyObject, as type: StaticString, at index: Int) throws(Failure) {
    boundObjects.append(object)
    let type = UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)
    try check(sqlite3_bind_pointer(handle, parameter(index), Unmanaged.passUnretained(object).toOpaque(), type, nil))
  }

  var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// SQLite refuses 0, so an index that does not fit is refused like any other that the statement does not have.
  private func parameter(_ index: Int) -> Int32 { Int32(exactly: index) ?? 0 }

  private func check(_ code: Int32) throws(Failure) {
    if code != SQLITE_OK { throw connection.failure(code, doing: "bind a value of \(Connection.excerpt(sql))") }
  }
}

// MARK: - Columns of the current row, from 0

extension Statement {
  var columnCount: Int { Int(sqlite3_column_count(handle)) }

  func isNull(at column: Int) -> Bool { storage(column) == SQLITE_NULL }
  func isInteger(at column: Int) -> Bool { storage(column) == SQLITE_INTEGER }

  /// 0 for NULL. SQLite converts what is not an integer; use `value(at:as:)` where the file may hold anything.
  func integer(at column: Int) -> Int64 { sqlite3_column_int64(handle, place(column)) }

  func double(at column: Int) -> Double { sqlite3_column_double(handle, place(column)) }

  /// nil for NULL and for bytes that are not UTF-8.
  func text(at column: Int) -> Text? {
    guard let start = sqlite3_column_text(handle, place(column)) else { return nil }
    return Text(validating: UnsafeBufferPointer(start: start, count: byteCount(column)))
  }

  func holds(_ text: Text, at column: Int) -> Bool {
    guard storage(column) == SQLITE_TEXT, let start = sqlite3_column_text(handle, place(column)) else { return false }
    let count = byteCount(column)
    return count == text.bytes.count && memcmp(start, text.bytes.start, count) == 0
  }

  /// nil for NULL.
  func data(at column: Int) -> Bytes? {
    if isNull(at: column) { return nil }
    let start = sqlite3_column_blob(handle, place(column))?.assumingMemoryBound(to: UInt8.self)
    return Bytes(UnsafeBufferPointer(start: start, count: start == nil ? 0 : byteCount(column)))
  }

  /// The column as SQLite has it.
  func cell(at column: Int) -> OpaquePointer? { sqlite3_column_value(handle, place(column)) }

  func columnName(_ column: Int) -> String {
    sqlite3_column_name(handle, place(column)).map { String(cString: $0) } ?? "\(column)"
  }

  func storage(_ column: Int) -> Int32 { sqlite3_column_type(handle, place(column)) }
  func byteCount(_ column: Int) -> Int { Int(sqlite3_column_bytes(handle, place(column))) }

  /// SQLite answers NULL for a column that the row does not have.
  func place(_ column: Int) -> Int32 { Int32(exactly: column) ?? -1 }
}
