import CSQLite
import Glibc

extension Connection {
  var closedFailure: Failure {
    Failure(.closed, "The store '\(path)' is closed. Open it again to use it.")
  }

  /// `file` is one of the files of the store.
  func movedFailure(_ file: Text) -> Failure {
    let subject = isOpening ? "Could not open '\(path)'" : "Could not write to the store '\(path)'"
    return Failure(.fileMoved, "\(subject): \(Connection.moved(file))")
  }

  /// The same for what `OpenFiles` has found out about one of the files.
  func failure(_ absence: OpenFiles.Absence) -> Failure {
    if absence.reason == 0 { return movedFailure(Text(absence.path)) }
    let subject = isOpening ? "Could not open '\(path)'" : "Could not write to the store '\(path)'"
    return Failure(.database, "\(subject): \(Connection.unseen(Text(absence.path), absence.reason))")
  }

  private static func unseen(_ file: Text, _ reason: Int32?) -> String {
    let words = reason.map { " (\(FileSystem.reason($0)))" } ?? ""
    return "the file '\(file)' cannot be looked at\(words). Nothing was written. Check the disk and the file system."
  }

  /// What an opening fails with: when the file is gone from its path, that is the reason of anything else.
  func failureOfOpening(_ failure: Failure) -> Failure {
    if path == ":memory:" || hasMoved != true { return failure }
    isOpening = true
    return movedFailure(path)
  }

  private static func moved(_ file: Text) -> String {
    "the file '\(file)' was moved, deleted or replaced while it was open. Nothing was written. Close the store. Then "
      + "open the file where it is now, if it was moved, or restore it."
  }

  /// The one place where SQLite's result codes become failures. `doing` completes "Could not ... in the store".
  func failure(_ code: Int32, doing: String) -> Failure {
    let subject = isOpening ? "Could not open '\(path)'" : "Could not \(doing) in the store '\(path)'"
    // A copy fails by the connection to its target.
    let isOwn = handle.map { sqlite3_errcode($0) != SQLITE_OK } ?? false
    let message = isOwn ? handle.flatMap { sqlite3_errmsg($0) } : nil
    let detail = message.map { String(cString: $0) } ?? Connection.standardMessage(code)
    func made(_ kind: Failure.Kind, _ reason: String) -> Failure {
      Failure(kind, "\(subject): \(reason)", databaseCode: code)
    }
    if code == quire_sqlite_readonly_moved() {
      if hasMoved == true { return made(.fileMoved, Connection.moved(path)) }
      return made(.database, Connection.unseen(path, nil))
    }
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return made(
        .busy, "another process or connection holds its lock. Try again when it is done, or raise the busy timeout.")
    case SQLITE_READONLY:
      return made(
        .readOnly,
        "it is open for reading only, or its file or folder cannot be written. Open a copy that can be written.")
    case SQLITE_CONSTRAINT:
      return made(.constraint, "a rule of its tables forbids it (\(detail)). Change the values that offend.")
    case SQLITE_CANTOPEN:
      return made(.cannotOpen, Connection.whyNotOpened(handle.map(sqlite3_system_errno) ?? errno))
    case SQLITE_PERM, SQLITE_AUTH:
      return made(.cannotOpen, "the permission is missing. Change the permissions of the file or folder.")
    case SQLITE_NOTADB:
      return made(.notAStore, "the file is not an SQLite database. Check the path.")
    case SQLITE_CORRUPT:
      return made(.database, "the file is damaged (\(detail)). Restore it from a backup.")
    case SQLITE_FULL:
      return made(.database, "the disk is full. Free some space and try again.")
    case SQLITE_IOERR:
      return made(.database, "reading or writing the file failed (\(detail)). Check the disk and the file system.")
    case SQLITE_NOMEM:
      return made(.noMemory, "there is not enough memory. Free some and try again.")
    case SQLITE_TOOBIG:
      return made(.database, "a value or the query is larger than SQLite allows. Make it smaller.")
    case SQLITE_INTERRUPT:
      return made(.database, "it was interrupted. Try again.")
    default:
      return made(.database, "SQLite says '\(detail)' (code \(code)).")
    }
  }

  /// The system's reason why SQLite could not open a file. SQLite reports too little of it.
  private static func whyNotOpened(_ reason: Int32) -> String {
    switch reason {
    case EMFILE:
      "the process has as many files open as it may have. Close some, or raise the limit (RLIMIT_NOFILE, ulimit -n)."
    case ENFILE: "the system has as many files open as it can have. Close some."
    case ENOSPC, EDQUOT: "there is no space for a file beside it. Free some space and try again."
    case EACCES, EPERM, EROFS: "a file beside it cannot be made. Change the permissions of its folder."
    default: "a file cannot be opened or made. Check that the folder exists and that you may use it."
    }
  }

  /// Of a statement that has left rows alone which it was to write: a trigger with RAISE(IGNORE) does that, and says
  /// nothing. `doing` completes "Could not ...".
  func ignoredFailure(_ table: String, doing: String) -> Failure {
    Failure(
      .database,
      "Could not \(doing): a trigger of the table \(table) in the store '\(path)' has had SQLite ignore it. "
        + "Nothing was written. Change the values so that the trigger lets them pass, or drop the trigger.",
      // SQLITE_CONSTRAINT_TRIGGER, which is a macro that Swift does not see.
      databaseCode: SQLITE_CONSTRAINT | 7 << 8)
  }

  private static func standardMessage(_ code: Int32) -> String {
    sqlite3_errstr(code).map { String(cString: $0) } ?? "no message"
  }

  /// Whether SQLite refused the last statement for its size, which only a predicate can bring about.
  var tooLargeFailure: Failure? {
    guard let handle, let message = sqlite3_errmsg(handle) else { return nil }
    let reason = String(cString: message)
    let limits = [
      "parser stack overflow", "Expression tree is too large", "tables in a join", "variable number must be",
    ]
    guard limits.contains(where: { strstr(message, $0) != nil }) else { return nil }
    return Failure(
      .unsupported,
      "The predicate is too large for SQLite, which says '\(reason)'. Nest it less, follow fewer relationships, "
        + "or put its constants in a list for IN.", databaseCode: SQLITE_ERROR)
  }
}

extension Failure {
  /// Whether damage of what a statement looked at may be the reason. Any failure of SQLite may have that reason, except
  /// those that the disk, other programs or the caller are known to cause.
  var mayBeDamage: Bool {
    switch databaseCode & 0xFF {
    case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_READONLY, SQLITE_FULL, SQLITE_IOERR, SQLITE_INTERRUPT,
      SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      false
    // A garbled size asks for any amount of memory.
    default: true
    }
  }
}
