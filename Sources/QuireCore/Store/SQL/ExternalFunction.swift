import CSQLite

/// The SQL function for data that may lie in a file beside the store: `SQLFunction.external`.
enum ExternalFunction {
  static func register(on connection: Connection) throws(Failure) {
    // One that is there cannot be made anew while a statement is under way.
    if connection.hasExternalFunction { return }
    guard let handle = connection.handle else { throw connection.closedFailure }
    let code = sqlite3_create_function_v2(
      handle, SQLFunction.external.name, 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      Unmanaged.passUnretained(connection).toOpaque(),
      { context, _, arguments in
        guard let context, let arguments, let user = sqlite3_user_data(context) else { return }
        Unmanaged<Connection>.fromOpaque(user)._withUnsafeGuaranteedRef { connection in
          ExternalFunction.answer(context, arguments, connection)
        }
      }, nil, nil, nil)
    try Connection.check(code, adding: SQLFunction.external.name)
    connection.hasExternalFunction = true
  }

  private static func answer(
    _ context: OpaquePointer, _ arguments: UnsafeMutablePointer<OpaquePointer?>, _ connection: Connection
  ) {
    guard sqlite3_value_type(arguments[2]) != SQLITE_NULL, let storage = connection.external,
      let column = ExternalColumn(number: sqlite3_value_int64(arguments[0]))
    else { return sqlite3_result_null(context) }
    do throws(Failure) {
      let value = try storage.value(
        SQLValue.data(arguments[2]), of: column, row: sqlite3_value_int64(arguments[1])
      ).inPlace()
      guard case .data(let data) = value else { return sqlite3_result_null(context) }
      SQLValue.give(context, data: UnsafeRawBufferPointer(data.buffer))
    } catch {
      connection.pendingFailure = error
      sqlite3_result_error_code(context, SQLITE_ABORT)
    }
  }
}
