import CSQLite

/// Answers of SQLite that other rooms know.
enum ResultCode {
  static let ok = SQLITE_OK
  /// A statement that is wrong, as one that names what is not there.
  static let mistake = SQLITE_ERROR
  static let corrupt = SQLITE_CORRUPT
  /// Opened for reading only, where something has to be taken back first.
  static let readOnlyRollback = quire_sqlite_readonly_rollback()
}
