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

  /// The ordinary tables with the names of their columns. Virtual tables are left out: an application's own may need
  /// a module that is not here.
  func tables() throws(Failure) -> [String: Set<String>] {
    let select = try statement(
      """
      SELECT entry.name, field.name FROM sqlite_master AS entry, pragma_table_info(entry.name) AS field
      WHERE entry.type = 'table' AND entry.sql NOT LIKE 'CREATE VIRTUAL%'
      """)
    var tables: [String: Set<String>] = [:]
    while try select.step() {
      if let table = select.text(at: 0), let column = select.text(at: 1) {
        tables[table.string, default: []].insert(column.string)
      }
    }
    return tables
  }
}
