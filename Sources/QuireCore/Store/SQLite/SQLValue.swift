import CSQLite

/// Reading the arguments of SQL functions, and giving their results.
enum SQLValue {
  /// `start` is what `sqlite3_value_text` or `_blob` gave: the size is asked for after the address, as SQLite wants it.
  static func bytes(_ value: OpaquePointer?, _ start: UnsafeRawPointer?) -> UnsafeBufferPointer<UInt8> {
    let count = Int(sqlite3_value_bytes(value))
    return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
  }

  /// Text, too, as the file has it.
  static func data(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> { bytes(value, sqlite3_value_blob(value)) }

  static func text(_ value: OpaquePointer?) -> Text {
    Text(trusted: Bytes(bytes(value, sqlite3_value_text(value))))
  }

  /// Text that is valid UTF-8, where SQLite has it; nil for what is not. For files in UTF-8.
  ///
  /// Asked for as text, SQLite would copy it, to put a NUL behind its end.
  @_optimize(speed)
  static func utf8(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) == SQLITE_TEXT else { return nil }
    let bytes = bytes(value, sqlite3_value_blob(value))
    return Text.firstInvalidOffset(in: bytes) == nil ? bytes : nil
  }

  private static func text(_ value: OpaquePointer?, isUTF8: Bool) -> Text? {
    if isUTF8 { return utf8(value).flatMap { Memory.has($0.count) ? Text(trusted: Bytes($0)) : nil } }
    let text = bytes(value, sqlite3_value_text(value))
    return Memory.has(text.count) ? Text(validating: text) : nil
  }

  /// A column as a value of an attribute of that type, or as a key; nil for what the type cannot hold, or the
  /// memory, and for what may lie in a file.
  static func value(_ value: OpaquePointer?, as type: StoredType, isUTF8: Bool) -> Value? {
    let storage = sqlite3_value_type(value)
    if storage == SQLITE_NULL { return .nil }
    guard case .attribute(let type) = type else {
      guard case .object(let root) = type, storage == SQLITE_INTEGER else { return nil }
      return .object(ObjectReference(root: root, id: sqlite3_value_int64(value)))
    }
    switch (type, storage) {
    case (.integer16, SQLITE_INTEGER), (.integer32, SQLITE_INTEGER), (.integer64, SQLITE_INTEGER),
      (.undefined, SQLITE_INTEGER):
      return .integer(sqlite3_value_int64(value))
    case (.boolean, SQLITE_INTEGER): return .boolean(sqlite3_value_int64(value) != 0)
    case (.double, SQLITE_FLOAT), (.double, SQLITE_INTEGER), (.undefined, SQLITE_FLOAT):
      return .double(sqlite3_value_double(value))
    case (.float, SQLITE_FLOAT), (.float, SQLITE_INTEGER): return .float(Float(sqlite3_value_double(value)))
    // Whole seconds come back as integers: the column's affinity is NUMERIC.
    case (.date, SQLITE_FLOAT), (.date, SQLITE_INTEGER): return .date(sqlite3_value_double(value))
    case (.decimal, SQLITE_INTEGER): return .decimal(.stored(sqlite3_value_int64(value)))
    case (.decimal, SQLITE_FLOAT): return Decimal(sqlite3_value_double(value)).map { .decimal($0) }
    case (.string, SQLITE_TEXT), (.undefined, SQLITE_TEXT): return text(value, isUTF8: isUTF8).map { .text($0) }
    case (.uri, SQLITE_TEXT): return text(value, isUTF8: isUTF8).map { .uri($0) }
    case (.binary, SQLITE_BLOB), (.transformable, SQLITE_BLOB), (.undefined, SQLITE_BLOB):
      let data = bytes(value, sqlite3_value_blob(value))
      return Memory.has(data.count) ? .data(Bytes(data)) : nil
    case (.uuid, SQLITE_BLOB):
      let bytes = bytes(value, sqlite3_value_blob(value))
      return bytes.count == 16 ? .uuid(Bytes(bytes)) : nil
    default: return nil
    }
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
