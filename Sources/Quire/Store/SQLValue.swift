import CSQLite

/// Reading the arguments of SQL functions, and giving their results.
enum SQLValue {
  /// `start` is what `sqlite3_value_text` or `_blob` gave: the size is asked for after the address, as SQLite wants it.
  static func bytes(_ value: OpaquePointer?, _ start: UnsafeRawPointer?) -> UnsafeBufferPointer<UInt8> {
    let count = Int(sqlite3_value_bytes(value))
    return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }

  static func text(_ value: OpaquePointer?) -> Text {
    Text(trusted: Bytes(bytes(value, sqlite3_value_text(value))))
  }

  static func give(_ context: OpaquePointer, text: UnsafeRawBufferPointer) {
    quire_sqlite_result_text_copy(
      context, address(text).assumingMemoryBound(to: CChar.self), UInt64(text.count))
  }

  static func give(_ context: OpaquePointer, data: UnsafeRawBufferPointer) {
    quire_sqlite_result_blob_copy(context, address(data), UInt64(data.count))
  }

  /// An address even for no bytes: SQLite takes a null pointer for NULL.
  private static func address(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    bytes.baseAddress ?? UnsafeRawPointer(placeholder.start)
  }

  private static let placeholder = Bytes(count: 0) { _ in }
}
