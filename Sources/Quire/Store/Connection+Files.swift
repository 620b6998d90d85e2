import CSQLite

extension Connection {
  /// From now on the file, which was read before, is to stay where it is. Nothing happens in memory.
  func holdFiles() throws(Failure) {
    guard let handle, path != ":memory:" else { return }
    files?.forget()
    files = OpenFiles(of: handle)
    if files == nil { throw movedFailure(path) }
  }

  /// Where the file is, absolute and without symbolic links; `:memory:` for none.
  var location: Text {
    guard let name = handle.flatMap({ sqlite3_db_filename($0, "main") }), name.pointee != 0 else { return path }
    return Text(String(cString: name))
  }

  /// Another connection to the same file, which reaches it in the same way.
  func another() throws(Failure) -> Connection {
    let other = try Connection(path: location, access: access, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    if case .readOnlyUnlocked = access { try other.execute("PRAGMA locking_mode = EXCLUSIVE") }
    other.isOpening = false
    return other
  }

  /// Fails when one of the files is not the one that was opened. To be called in a write transaction, in which SQLite
  /// has its log open.
  func checkFiles() throws(Failure) {
    if let moved = files?.moved() { throw movedFailure(Text(moved)) }
  }

  /// The same of the file alone, where there is no log: a transaction begins with a look for a journal beside the path,
  /// which SQLite would play and delete.
  func checkBeforeTransaction() throws(Failure) {
    if let files, !files.usesLog, let moved = files.movedFile() { throw movedFailure(Text(moved)) }
  }
}
