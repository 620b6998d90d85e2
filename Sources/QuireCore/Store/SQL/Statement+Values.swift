import CSQLite

/// Columns of the current row, from 0, as values of a type.
extension Statement {
  /// The column as a value of an attribute of that type. What the type cannot hold is a failure that names the column.
  func value(at column: Int, as type: AttributeType) throws(Failure) -> Value {
    try value(at: column, as: .attribute(type))
  }

  /// Puts the column into one of a page; what the column has as SQLite does without a value in between.
  @_optimize(speed)
  func append(_ column: Int, as type: StoredType, to builder: inout ColumnBuilder) throws(Failure) {
    if SQLValue.append(cell(at: column), as: type, isUTF8: connection.isUTF8, to: &builder) { return }
    if case .attribute(.string) = type, let text = SQLValue.utf8(cell(at: column)) {
      try requireRoom(text.count, column, in: builder)
    }
    let value = try value(at: column, as: type).inPlace()
    if case .data(let data) = value { try requireRoom(data.count, column, in: builder) }
    builder.append(value)
  }

  private func requireRoom(_ count: Int, _ column: Int, in builder: ColumnBuilder) throws(Failure) {
    if builder.hasRoom(for: count) { return }
    throw Memory.failure(builder.room(for: count), for: "a page of \(described(column))")
  }

  private func described(_ column: Int) -> String { "values of column '\(columnName(column))'" }

  func value(at column: Int, as type: StoredType) throws(Failure) -> Value {
    if let value = SQLValue.value(cell(at: column), as: type, isUTF8: connection.isUTF8) { return value }
    if case .external(let external) = type { return try value(at: column, of: external) }
    if byteCount(column) > Memory.sure { try Memory.require(byteCount(column), for: described(column)) }
    var expected = AttributeType.integer64
    if case .attribute(let type) = type { expected = type }
    let storage = storage(column)
    switch (expected, storage) {
    case (.decimal, SQLITE_FLOAT):
      throw unreadable(column, "the number \(double(at: column)), which no decimal holds")
    case (.string, SQLITE_TEXT), (.uri, SQLITE_TEXT), (.undefined, SQLITE_TEXT):
      throw unreadable(column, "text that is not valid UTF-8")
    case (.uuid, SQLITE_BLOB): throw unreadable(column, "\(byteCount(column)) bytes where a UUID has 16")
    default:
      throw unreadable(column, "\(Statement.storageName(storage)) where \(expected.name) is expected")
    }
  }

  /// Whether the column, in the row at which the statement stands, has what the type can hold.
  func canRead(_ column: Int, as type: StoredType) -> Bool { (try? value(at: column, as: type)) != nil }

  /// What an expression of the statement gave.
  func item(at column: Int, as kind: SQLLeaf.Kind) throws(Failure) -> Item {
    func bytes(_ start: UnsafeRawPointer?) -> UnsafeBufferPointer<UInt8> {
      let count = byteCount(column)
      return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
    }
    let stored: StoredValue
    switch storage(column) {
    case SQLITE_NULL: stored = .null
    case SQLITE_INTEGER: stored = .integer(integer(at: column))
    case SQLITE_FLOAT: stored = .real(double(at: column))
    case SQLITE_TEXT: stored = .text(bytes(sqlite3_column_text(handle, place(column))))
    default: stored = .data(bytes(sqlite3_column_blob(handle, place(column))))
    }
    return try stored.item(as: kind)
  }

  private func value(at column: Int, of external: ExternalColumn) throws(Failure) -> Value {
    guard let storage = connection.external else { throw unreadable(column, "a value that may lie in a file") }
    // The size is asked for after the address, as SQLite wants it.
    let start = sqlite3_column_blob(handle, place(column))?.assumingMemoryBound(to: UInt8.self)
    let bytes = UnsafeBufferPointer(start: start, count: start == nil ? 0 : byteCount(column))
    return try storage.value(bytes, of: external, row: integer(at: Int(external.key)))
  }

  private func unreadable(_ column: Int, _ found: String) -> Failure {
    Failure(
      .database,
      "Column '\(columnName(column))' of the store '\(connection.path)' holds \(found). "
        + "The file was changed by other means, or is damaged.",
      databaseCode: SQLITE_MISMATCH)
  }

  private static func storageName(_ storage: Int32) -> String {
    switch storage {
    case SQLITE_INTEGER: "an integer"
    case SQLITE_FLOAT: "a floating-point number"
    case SQLITE_TEXT: "text"
    case SQLITE_BLOB: "data"
    default: "NULL"
    }
  }
}
