import Glibc

extension Store {
  /// Writes what is saved, as of one moment, into a new file at `path`. While others write; threads that use this store
  /// wait only if it is in memory.
  func copy(to path: Text) throws(Failure) {
    if path == ":memory:" {
      throw Failure(.invalidArgument, "A store cannot be copied to ':memory:'. Give the path of a file.")
    }
    let target = try StoreFile(path: path)
    if xml != nil { return try withConnection { _ throws(Failure) in try copyXML(to: target) } }
    let (other, mode) = try connectionForCopy()
    defer { other?.close() }
    try checkIsNotInUse(target: path)
    try target.checkIsFree()
    try checkHasOtherFolder(target: path)
    // Readable by the same people, from its first byte on.
    let temporary = try target.makeTemporary(mode: mode)
    var files = CopiedFiles(to: ExternalFolder(of: path))
    do throws(Failure) {
      for _ in 0..<Store.triesToCopy {
        var named: Set<ExternalFile> = []
        if let other {
          named = try copy(other, to: temporary, for: path)
        } else {
          named = try withConnection { connection throws(Failure) in
            if connection.isInTransaction {
              throw Failure(
                .invalidState, "The store '\(self.path)' cannot be copied while it reads or saves. Copy it afterwards.")
            }
            return try copy(connection, to: temporary, for: path)
          }
        }
        let missing = try files.take(named, from: external)
        // One that others have replaced meanwhile takes a copy of a later state. One that the store itself lacks does
        // not.
        if missing.isEmpty { break }
        let present = try withConnection { connection throws(Failure) in try namedFiles(on: connection) }
        if present.isSuperset(of: missing) { break }
      }
      // SQLite has ended with it, and may have failed to delete it.
      unlink(temporary + "-journal")
      try target.place(temporary)
    } catch {
      for ending in ["", "-journal", "-wal"] { unlink(temporary + ending) }
      files.remove()
      throw error
    }
  }

  private static let triesToCopy = 10

  /// The files that the rows of a database name, which has the tables of this store.
  private func namedFiles(on connection: Connection) throws(Failure) -> Set<ExternalFile> {
    var files: Set<ExternalFile> = []
    if !external.isUsed { return files }
    for attribute in model.entities.flatMap(\.ownAttributes) where attribute.externalColumn != nil {
      let column = schema.column(of: attribute)
      let select = try connection.statement(
        "SELECT \(column) FROM \(schema.table(of: attribute.entity)) "
          + "WHERE length(\(column)) = \(ExternalStorage.referenceLength)")
      while try select.step() {
        if let file = select.data(at: 0).flatMap({ ExternalStorage.file(named: $0.buffer) }) { files.insert(file) }
      }
    }
    return files
  }

  /// The files of a copy, as they come.
  private struct CopiedFiles {
    private let folder: ExternalFolder
    private var copied: Set<ExternalFile> = []
    /// Of these, the ones that were not there before.
    private var created: Set<ExternalFile> = []

    init(to folder: ExternalFolder) { self.folder = folder }

    /// Brings the files to what a state of the store names. Returns those that are not there.
    mutating func take(
      _ named: Set<ExternalFile>, from storage: ExternalStorage
    ) throws(Failure) -> Set<ExternalFile> {
      folder.remove(created.subtracting(named))
      created.formIntersection(named)
      copied.formIntersection(named)
      var missing: Set<ExternalFile> = []
      for file in named.subtracting(copied) {
        guard let data = try storage.data(in: file) else {
          missing.insert(file)
          continue
        }
        if try folder.write(data, to: file, replacing: false) {
          created.insert(file)
        } else {
          try checkIsLeftOver(file)
          try folder.write(data, to: file)
        }
        copied.insert(file)
      }
      return missing
    }

    /// A store that was deleted by other means leaves its files.
    private func checkIsLeftOver(_ file: ExternalFile) throws(Failure) {
      if let others = folder.filesOfNeighbours(), !others.contains(file) { return }
      throw Failure(
        .cannotOpen,
        "The copy needs the file '\(folder.path(of: file))', which another store beside it has. Choose another folder, "
          + "or a name that differs in more than what follows its last dot.")
    }

    func remove() { if !created.isEmpty { folder.delete(created.map(folder.path)) } }
  }

  /// Another connection to the same file, and its mode. nil where there can be one only: in memory, and when the file
  /// is not where it was.
  private func connectionForCopy() throws(Failure) -> (Connection?, mode_t?) {
    try withConnection { connection throws(Failure) in
      let mode = connection.files?.mode
      if path == ":memory:" || connection.files?.moved() != nil { return (nil, mode) }
      let other = try connection.another()
      other.setLog(connection.trace?.log)
      return (other, mode)
    }
  }

  /// Refuses a copy that would meet a file of an open store, which must not be deleted to make room.
  private func checkIsNotInUse(target path: Text) throws(Failure) {
    let own = Store.endings.compactMap { self.path == ":memory:" ? nil : FileIdentity(of: location.string + $0) }
    for ending in Store.endings {
      let name = path.string + ending
      guard let file = FileIdentity(of: name) else { continue }
      if own.contains(file) {
        throw Failure(
          .cannotOpen,
          "The store '\(self.path)' cannot be copied to '\(path)': '\(name)' is a file of its own. "
            + "Choose another path.")
      }
      if OpenFiles.isOpen(name) {
        throw Failure(
          .cannotOpen,
          "The store '\(self.path)' cannot be copied to '\(path)': '\(name)' is a store that this process has open. "
            + "Choose another path.")
      }
    }
  }

  /// Refuses a copy that would have its large values in the files of this store. Each of the two would delete those of
  /// the other.
  private func checkHasOtherFolder(target path: Text) throws(Failure) {
    if !external.isUsed || self.path == ":memory:" { return }
    let folder = ExternalFolder(of: location)
    if folder.isSame(as: ExternalFolder(of: path)) {
      throw Failure(
        .invalidArgument,
        "The store '\(self.path)' cannot be copied to '\(path)': both would keep their large values in the folder "
          + "'\(folder.name)'. Choose another folder, or a name that differs in more than what follows its last dot.")
    }
  }

  /// The file itself, and what SQLite adds to its name for what it keeps beside it.
  private static let endings = ["", "-wal", "-shm", "-journal"]

  /// Returns the files that the rows of the copy name. `finish` may write more into it.
  func copy(
    _ source: Connection, to temporary: String, for path: Text,
    finish: (Connection) throws(Failure) -> Void = { _ throws(Failure) in }
  ) throws(Failure) -> Set<ExternalFile> {
    let target = try Connection.opened(
      path: Text(temporary), access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    defer { target.close() }
    // Without an index of the log: no other connection shares the copy.
    try target.execute("PRAGMA locking_mode = EXCLUSIVE")
    return try source.snapshot { () throws(Failure) in
      // By it text indexes know that no program has changed the tables.
      let version = try source.schemaNumber()
      try source.copyPages(to: target, doing: "write the copy '\(path)' of what is")
      // No connection has the copy open yet, so the file is the whole store.
      try target.execute("PRAGMA journal_mode = DELETE")
      // What is in memory has none, and the copy is a file.
      if source.memory != nil { try ChangeJournal.create(.saves, of: schema, on: target) }
      try target.execute("PRAGMA schema_version = \(version)")
      try finish(target)
      return try namedFiles(on: target)
    }
  }

  /// Deletes the store at `path` with all its files, unless it is in use.
  static func delete(path: Text) throws(Failure) {
    // When another deletion was faster, there is no file now, or a new store.
    for _ in 0..<triesToDelete {
      do throws(Failure) { return try deletions.withLock { () throws(Failure) in try deleteOnce(path: path) } } catch {
        if error.kind != .fileMoved { throw error }
      }
    }
    throw Failure(.busy, "The store '\(path)' cannot be deleted: others delete and make it all the time. Try again.")
  }

  private static let triesToDelete = 10
  /// One at a time: two that met in one process would take each other for openings.
  private static let deletions = RecursiveLock()

  /// Fails with `fileMoved` when the file goes before it is locked.
  private static func deleteOnce(path: Text) throws(Failure) {
    if path == ":memory:" {
      throw Failure(.invalidArgument, "A store in memory has no files. It goes when it is closed.")
    }
    let file = try StoreFile(path: path)
    let inUse = "The store '\(path)' cannot be deleted"
    try checkMayDelete(path, inUse)
    try file.check(isReadOnly: false, mustExist: true)
    // Before the question below: a child counts what its parent had open among its own, and cannot close it.
    try FileClaim.checkNotInherited(path)
    if OpenFiles.isOpen(path.string) {
      throw Failure(.invalidState, "\(inUse): this process has it open. Close it first.")
    }
    // Before anything is locked: an opening that waits for the lock, as long as deletions come again and again, would
    // not get it.
    if FileClaim.isClaimed(path) {
      throw Failure(.busy, "\(inUse): this process is opening it. Try again when it is open, and close it first.")
    }
    if file.isEmpty { throw notAStore(path) }
    let connection = try Connection.opened(
      path: path, access: .readWrite(mayCreate: false), busyTimeoutMilliseconds: 0)
    defer { connection.close() }
    connection.setCheckpointsOnClose(false)
    do throws(Failure) {
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
      try connection.execute("BEGIN EXCLUSIVE")
      let tables = try connection.tables()
      if tables.isEmpty, FileClaim.isShared(path) {
        throw Failure(.busy, "\(inUse): this process is making it. Try again when it is open, and close it first.")
      }
      if tables["Z_METADATA"] == nil || tables["Z_PRIMARYKEY"] == nil { throw notAStore(path) }
      try connection.execute("COMMIT")
    } catch {
      if error.kind == .busy, error.databaseCode != ResultCode.ok {
        throw Failure(
          .busy, "\(inUse): another process uses it. Close it there first.", databaseCode: error.databaseCode)
      }
      throw error
    }
    let location = connection.location
    try CacheFile.deleteAll(of: location)
    // With its log folded into it, the file is the whole store until it goes. Where that cannot be done, as on a full
    // disk, it goes all the same.
    try? connection.execute("PRAGMA journal_mode = DELETE")
    // Under this lock SQLite keeps the journal of that change, and would delete it by its name when the connection is
    // closed. By then a new store may have a journal of that name.
    try? connection.execute("PRAGMA journal_mode = OFF")
    try connection.execute("BEGIN EXCLUSIVE")
    let folder = ExternalFolder(of: location)
    guard var files = folder.all else {
      let reason = errno
      throw Failure(
        reason == EACCES ? .readOnly : .database,
        "\(inUse): the folder of its large values '\(folder.name)' cannot be read (\(FileSystem.reason(reason))). "
          + "Change the permissions of the folder, or check the disk.")
    }
    // Of a folder that belongs to two stores those go that this one alone names.
    if !files.isEmpty, folder.neighbours?.isEmpty != true { files = try filesOfOne(connection, in: folder) }
    try file.delete(at: location.string)
    // A store that came back after a power cut would lack these.
    if !files.isEmpty { _ = FileSystem.synchronize(folder: FileSystem.folder(of: location.string)) }
    folder.delete(files)
  }

  private static func filesOfOne(_ connection: Connection, in folder: ExternalFolder) throws(Failure) -> [String] {
    guard let others = folder.filesOfNeighbours() else { return [] }
    return try connection.namedFiles().subtracting(others).map(folder.path)
  }

  private static func notAStore(_ path: Text) -> Failure {
    Failure(.notAStore, "'\(path)' is not a store: it lacks the tables of one. Nothing was deleted. Check the path.")
  }

  /// Says in words about a deletion what an opening would say in words about opening.
  private static func checkMayDelete(_ path: Text, _ refusal: String) throws(Failure) {
    let name = path.string
    var status = stat()
    if stat(name, &status) != 0 {
      if errno == ENOENT { throw Failure(.cannotOpen, "\(refusal): there is no such file. Check the path.") }
      return
    }
    if status.st_mode & S_IFMT != S_IFREG { return }
    func mayWrite(_ name: String, _ mode: Int32) -> Bool {
      faccessat(AT_FDCWD, name, mode, AT_EACCESS) == 0 || ![EACCES, EPERM, EROFS].contains(errno)
    }
    for ending in endings where !mayWrite(name + ending, ending.isEmpty ? W_OK : R_OK | W_OK) {
      throw Failure(
        .readOnly,
        "\(refusal): the file '\(name + ending)' cannot be written. Change the permissions and the owner of that file.")
    }
    let slash = name.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { $0 == name.utf8.startIndex ? "/" : String(name[..<$0]) } ?? "."
    if !mayWrite(folder, W_OK) {
      throw Failure(
        .readOnly, "\(refusal): its folder cannot be written. Change the permissions of '\(folder)'.")
    }
  }
}
