import CSQLite

extension SQLValue {
  /// Puts what a cell has into a column of a page, where that takes no value in between; false where it does, and where
  /// there is no memory for a text.
  @inline(__always)
  static func append(
    _ cell: OpaquePointer?, as type: StoredType, isUTF8: Bool, to builder: inout ColumnBuilder
  ) -> Bool {
    switch (builder.kind, sqlite3_value_type(cell)) {
    // What may lie in a file is told by its type.
    case (.data, _): return false
    case (_, SQLITE_NULL): builder.appendNil()
    case (.integer, SQLITE_INTEGER), (.objectID, SQLITE_INTEGER): builder.append(integer: sqlite3_value_int64(cell))
    case (.boolean, SQLITE_INTEGER): builder.append(boolean: sqlite3_value_int64(cell) != 0)
    case (.double, SQLITE_FLOAT), (.double, SQLITE_INTEGER):
      let double = sqlite3_value_double(cell)
      if case .attribute(.float) = type {
        builder.append(double: Double(Float(double)))
      } else {
        builder.append(double: double)
      }
    case (.date, SQLITE_FLOAT), (.date, SQLITE_INTEGER): builder.append(date: sqlite3_value_double(cell))
    case (.text, SQLITE_TEXT):
      guard isUTF8, let text = SQLValue.utf8(cell), builder.hasRoom(for: text.count) else { return false }
      builder.append(text: text)
    default: return false
    }
    return true
  }
}
