import CSQLite

/// Functions and hooks that SQLite calls.
extension Connection {
  /// Receives what a trigger has changed: the number of the entity and the key of the row, the name of the property or
  /// its column, and the new value as SQLite has it.
  typealias AffectedBody = (_ entity: Int64, _ row: Int64, _ name: Text, _ cell: OpaquePointer?) -> Void

  /// Adds a function that triggers call with a table, an entity, a key, a name and a value. It answers NULL. What
  /// cannot be added is left out.
  func registerTriggerFunction(_ name: String) {
    sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, Unmanaged.passUnretained(self).toOpaque(),
      { context, count, arguments in
        if count == 5, let arguments, let connection = sqlite3_user_data(context),
          sqlite3_value_type(arguments[3]) == SQLITE_TEXT
        {
          let noteAffected = Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().noteAffected
          noteAffected?(
            sqlite3_value_int64(arguments[1]), sqlite3_value_int64(arguments[2]), SQLValue.text(arguments[3]),
            arguments[4])
        }
        sqlite3_result_null(context)
      }, nil, nil, nil)
  }

  /// A function of one text; `give` takes the text that it answers with, none for NULL.
  typealias TextBody = (_ text: UnsafeBufferPointer<UInt8>, _ give: (UnsafeBufferPointer<UInt8>) -> Void) -> Void

  /// Adds a function of one text. It answers NULL to what is no text. No trigger and no view may call it.
  func registerTextFunction(_ name: String, _ body: @escaping TextBody) throws(Failure) {
    let kept = Unmanaged.passRetained(TextFunction(body))
    // SQLite releases the body itself, even when this fails.
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, kept.toOpaque(),
      { context, _, arguments in
        guard let context, let value = arguments?[0], sqlite3_value_type(value) == SQLITE_TEXT,
          let start = sqlite3_value_text(value), let kept = sqlite3_user_data(context)
        else { return sqlite3_result_null(context) }
        let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        Unmanaged<TextFunction>.fromOpaque(kept).takeUnretainedValue().body(text) { result in
          UnsafeRawBufferPointer(result).withMemoryRebound(to: CChar.self) { characters in
            if let base = characters.baseAddress, !characters.isEmpty {
              quire_sqlite_result_text_copy(context, base, UInt64(characters.count))
            } else {
              sqlite3_result_null(context)
            }
          }
        }
      }, nil, nil, { Unmanaged<TextFunction>.fromOpaque($0!).release() })
    try Connection.check(code, adding: name)
  }

  private final class TextFunction {
    let body: TextBody
    init(_ body: @escaping TextBody) { self.body = body }
  }

  /// Throws when a function could not be added.
  static func check(_ code: Int32, adding name: String) throws(Failure) {
    guard code == SQLITE_OK else {
      throw Failure(
        .database, "The SQL function \(name) could not be added to the connection (code \(code)).", databaseCode: code)
    }
  }

  /// Runs `body`, and passes the key of each row of a table that it writes to `note`.
  func noteWrites(
    to table: String, _ note: @escaping (Int64) -> Void, by body: () throws(Failure) -> Void
  ) throws(Failure) {
    guard let handle else { throw closedFailure }
    let hook = WriteHook(table, note)
    sqlite3_update_hook(
      handle,
      { hook, _, _, table, key in
        guard let hook, let table else { return }
        let kept = Unmanaged<WriteHook>.fromOpaque(hook).takeUnretainedValue()
        if kept.table == String(cString: table) { kept.note(key) }
      }, Unmanaged.passUnretained(hook).toOpaque())
    defer { withExtendedLifetime(hook) { _ = sqlite3_update_hook(handle, nil, nil) } }
    try body()
  }

  private final class WriteHook {
    let table: String
    let note: (Int64) -> Void

    init(_ table: String, _ note: @escaping (Int64) -> Void) {
      self.table = table
      self.note = note
    }
  }

  /// What the program is linked with.
  static var version: (number: Int32, text: String) {
    (sqlite3_libversion_number(), String(cString: sqlite3_libversion()))
  }

  static func pause(milliseconds: Int32) { sqlite3_sleep(milliseconds) }
}
