import CSQLite

/// The SQL function that text indexes are filled with. No trigger or view calls it, so that any program may write.
enum TextIndexFunction {
  /// quire_search_text(text): NULL for what is not text.
  static let name = "quire_search_text"

  static func register(on connection: OpaquePointer) throws(Failure) {
    let folder = Unmanaged.passRetained(TextFolder())
    // SQLite releases the folder itself, even when this fails.
    let code = sqlite3_create_function_v2(
      connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, folder.toOpaque(),
      { context, _, arguments in
        guard let context, let value = arguments?[0], sqlite3_value_type(value) == SQLITE_TEXT,
          let start = sqlite3_value_text(value), let state = sqlite3_user_data(context)
        else { return sqlite3_result_null(context) }
        let folder = Unmanaged<TextFolder>.fromOpaque(state).takeUnretainedValue()
        folder.withSearchText(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))) { text in
          let bytes = UnsafeRawBufferPointer(text)
          bytes.withMemoryRebound(to: CChar.self) { characters in
            if let base = characters.baseAddress, !characters.isEmpty {
              quire_sqlite_result_text_copy(context, base, UInt64(characters.count))
            } else {
              sqlite3_result_null(context)
            }
          }
        }
      }, nil, nil, { Unmanaged<TextFolder>.fromOpaque($0!).release() })
    guard code == SQLITE_OK else {
      throw Failure(
        .database, "The SQL function \(name) could not be added to the connection (code \(code)).", databaseCode: code)
    }
  }
}
