import CSQLite

/// Answers of SQLite that other rooms know.
enum ResultCode {
  static let ok = SQLITE_OK
  /// A statement that is wrong, as one that names what is not there.
  static let mistake = SQLITE_ERROR
  static let corrupt = SQLITE_CORRUPT
  /// A row with the values of another one in a unique index: SQLITE_CONSTRAINT_UNIQUE, a macro that Swift does not see.
  static let notUnique = SQLITE_CONSTRAINT | 8 << 8
  /// Opened for reading only, where something has to be taken back first.
  static let readOnlyRollback = quire_sqlite_readonly_rollback()
}
