extension Connection {
  private static let tablesWithRows = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// A database in memory with the schema of this one and what a file says of itself, and without objects.
  ///
  /// What cannot be made there, as it needs a module, a function or an order of another program, is left out.
  func emptyCopy() throws(Failure) -> Connection {
    let copy = try Connection.opened(
      path: path, access: .readWrite(mayCreate: true), busyTimeoutMilliseconds: 0, memory: MemoryFiles())
    do throws(Failure) {
      try copy.execute("PRAGMA foreign_keys = OFF")
      try copy.execute("PRAGMA encoding = 'UTF-8'")
      copy.isUTF8 = true
      try copy.transaction { () throws(Failure) in
        for object in try schemaObjects() where !Names.upper(object.name).hasPrefix("SQLITE_") {
          do throws(Failure) { try copy.execute(object.sql) } catch {
            if object.kind == .table, !object.isVirtual, try !copy.hasTable(object.name) { throw error }
          }
        }
        for table in Connection.tablesWithRows { try copyRows(of: table, to: copy) }
      }
      return copy
    } catch {
      copy.close()
      throw error
    }
  }

  /// A virtual table has made its own by then.
  private func hasTable(_ name: String) throws(Failure) -> Bool {
    let select = try statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    try select.bind(Text(name), at: 1)
    return try select.step()
  }

  private func copyRows(of table: String, to copy: Connection) throws(Failure) {
    let columns = try declaredColumns(of: table).filter { !$0.isCalculated }.map { SQLLiteral.name($0.column.name) }
    if columns.isEmpty { return }
    let values = columns.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
    let select = try statement("SELECT \(values) FROM \(table)", isKept: false)
    while try select.step() {
      guard let row = select.text(at: 0)?.string else { continue }
      try copy.execute("INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(row))")
    }
  }
}
