import CSQLite

extension Connection {
  /// Whether this database has nothing in it yet.
  func isEmpty() throws(Failure) -> Bool {
    try statement("SELECT 1 FROM sqlite_master LIMIT 1").step() == false
  }

  /// Whether the file has its first page, and with it the settings that only a new file takes.
  func hasPages() throws(Failure) -> Bool {
    let count = try statement("PRAGMA page_count")
    return try count.step() && count.integer(at: 0) > 0
  }

  /// In bytes.
  func pageSize() throws(Failure) -> Int {
    let size = try statement("PRAGMA page_size")
    return try size.step() ? Int(size.integer(at: 0)) : 4096
  }

  /// The value of `auto_vacuum` with which free pages can be given back to the file system.
  static let incrementalVacuum = 2

  /// What a pragma says, which is a number.
  func number(of pragma: String) throws(Failure) -> Int {
    let statement = try statement("PRAGMA \(pragma)")
    defer { statement.reset() }
    return try statement.step() ? Int(statement.integer(at: 0)) : 0
  }

  /// The number that SQLite advances with each change of the schema, by any program.
  func schemaNumber() throws(Failure) -> Int64 {
    let statement = try statement("PRAGMA schema_version")
    return try statement.step() ? statement.integer(at: 0) : 0
  }

  /// Whether some connection is in a transaction that will write to the file, not to its log.
  var isBeingWritten: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var isReserved: Int32 = 0
    guard let handle, sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let check = file.pointee.pMethods?.pointee.xCheckReservedLock
    else { return false }
    return check(file, &isReserved) == SQLITE_OK && isReserved != 0
  }

  /// The files beside the store that rows of any table name, by what they look like: no model is known here.
  func namedFiles() throws(Failure) -> Set<ExternalFile> {
    var files: Set<ExternalFile> = []
    for (table, columns) in try tables() {
      for column in columns {
        let name = "\"\(column)\""
        let select = try statement(
          "SELECT \(name) FROM \"\(table)\" "
            + "WHERE typeof(\(name)) = 'blob' AND length(\(name)) = \(ExternalStorage.referenceLength)")
        while try select.step() {
          if let file = select.data(at: 0).flatMap({ ExternalStorage.file(named: $0.buffer) }) { files.insert(file) }
        }
      }
    }
    return files
  }

  /// The ordinary tables with the names of their columns.
  func tables() throws(Failure) -> [String: Set<String>] { try catalog().tables }

  /// What the file has now.
  func catalog() throws(Failure) -> Catalog {
    let select = try statement("SELECT type, name, substr(sql, 1, 14) FROM sqlite_master")
    var catalog = Catalog(), names: [String] = []
    while try select.step() {
      catalog.isEmpty = false
      guard let type = select.text(at: 0)?.string, let name = select.text(at: 1)?.string else { continue }
      // SQLite takes letters of either case for the same.
      let lowercased = name.lowercased()
      if lowercased.hasPrefix("quire_change_journal") || lowercased.hasPrefix("quire_notes") {
        catalog.mayHaveChangeJournal = true
      } else if lowercased.hasPrefix("quire_") || type == "trigger" && lowercased.hasPrefix("z_da_") {
        catalog.mayHavePartsOfQuire = true
      }
      if type == "table", select.text(at: 2)?.string.uppercased() != "CREATE VIRTUAL" { names.append(name) }
    }
    for name in names {
      let quoted = SQLLiteral.name(name)
      let columns = try statement("PRAGMA table_info(\(quoted))", isKept: false)
      while try columns.step() {
        if let column = columns.text(at: 1) { catalog.tables[name, default: []].insert(column.string) }
      }
    }
    return catalog
  }
}

/// What is in a file.
struct Catalog {
  var isEmpty = true
  /// The ordinary tables with the names of their columns. Virtual tables are left out: an application's own may need
  /// a module that is not here.
  var tables: [String: Set<String>] = [:]
  /// Whether something bears a name like those of text indexes and of what derives attributes.
  var mayHavePartsOfQuire = false
  /// Whether something bears a name like those of a change journal, or of the table of earlier versions.
  var mayHaveChangeJournal = false
}
