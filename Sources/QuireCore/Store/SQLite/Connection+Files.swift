import CSQLite
import Glibc

extension Connection {
  /// From now on the file, which was read before, is to stay where it is. Nothing happens in memory.
  func holdFiles() throws(Failure) {
    guard let handle, memory == nil else { return }
    files?.forget()
    files = OpenFiles(of: handle)
    if files == nil { throw failure(OpenFiles.Absence(path: path.string, reason: hasMoved == true ? 0 : EIO)) }
    // A log was read, whose lock stays. Without a log, each write looks at the file itself.
    stopGuardingFile()
  }

  /// Until `keepFiles` a close leaves the log that is there as it is, and nothing beside it.
  func restoreFilesOnClose() {
    setCheckpointsOnClose(false)
    shared = SharedFiles(beside: location, mayWrite: true)
  }

  /// A close folds the log into the file, as SQLite has it.
  func keepFiles() {
    setCheckpointsOnClose(true)
    shared?.keep(at: location)
    shared = nil
  }

  /// Until `stopGuardingFile` SQLite takes no lock of a file that is not at its path any more.
  ///
  /// Before the first lock, and between two statements without a log, a deletion may take the file away. What is at the
  /// path then is another store, with a log and a journal of its own.
  func guardFile() {
    guard let handle, memory == nil else { return }
    let fileGuard = UnsafeMutablePointer<quire_sqlite_guard>.allocate(capacity: 1)
    fileGuard.initialize(to: quire_sqlite_guard())
    if quire_sqlite_guard_file(handle, fileGuard) == SQLITE_OK {
      self.fileGuard = fileGuard
    } else {
      fileGuard.deallocate()
    }
  }

  func stopGuardingFile() {
    guard let handle, let fileGuard else { return }
    quire_sqlite_stop_guarding(handle, fileGuard)
    fileGuard.deallocate()
    self.fileGuard = nil
  }

  /// Where the file is, absolute and without symbolic links; `:memory:` for none.
  var location: Text {
    guard memory == nil, let name = handle.flatMap({ sqlite3_db_filename($0, "main") }), name.pointee != 0 else {
      return path
    }
    return Text(String(cString: name))
  }

  /// Whether another file is at the path, or none; nil where SQLite cannot tell.
  var hasMoved: Bool? {
    func answer() -> Bool? {
      var hasMoved: Int32 = 0
      guard let handle, sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK else {
        return nil
      }
      return hasMoved != 0
    }
    if answer() != true { return answer() }
    // SQLite takes a file that it cannot look at for one that has moved.
    if FileIdentity(of: location.string) == nil, !FileIdentity.isNone(errno) { return nil }
    return answer()
  }

  /// The first bytes of the file; nil where it has fewer. Through SQLite: closing another descriptor would drop the
  /// locks on the file.
  func fileHeader(_ count: Int) -> [UInt8]? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard let handle, sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return read(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK ? bytes : nil
  }

  /// Writes all pages of this database over those of another.
  func copyPages(to target: Connection, doing: String) throws(Failure) {
    let backup = sqlite3_backup_init(target.handle, "main", handle, "main")
    if backup != nil { sqlite3_backup_step(backup, -1) }
    let code = backup == nil ? sqlite3_errcode(target.handle) : sqlite3_backup_finish(backup)
    if code != SQLITE_OK { throw failure(code, doing: doing) }
  }

  /// Makes the file hold all saves when its log is not beside it any more. Then it empties the log, so that no part of
  /// the log goes into another file that is there now. False where another process uses the file or the log.
  func gatherLog() -> Bool {
    guard let handle, let files, !isReadOnly, files.usesLog, files.isApart else { return true }
    if hasTransaction { return false }
    closeOthers?()
    sqlite3_busy_timeout(handle, 0)
    defer {
      quire_sqlite_share_file(handle)
      sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    }
    guard quire_sqlite_lock_file(handle) == SQLITE_OK, self.files?.logFitsFile() == true,
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    else { return false }
    self.files?.noteWrite()
    return true
  }

  /// What was saved stays in the log that `gatherLog` could not empty.
  var logIsLeft: String {
    "Something else uses the file or its log, so that what was saved last may be only in the log that was "
      + "'\(location)-wal': keep that log with the file."
  }

  /// Fails when one of the files is not the one that was opened. To be called in a write transaction, in which SQLite
  /// has its log open.
  func checkFiles() throws(Failure) {
    if let absence = files?.moved() { throw failure(absence) }
  }

  /// The same for the file alone, where there is no log. A transaction begins with a look for a journal beside the
  /// path, which SQLite would play and delete.
  func checkBeforeTransaction() throws(Failure) {
    if let files, !files.usesLog, let absence = files.movedFile() { throw failure(absence) }
  }
}
