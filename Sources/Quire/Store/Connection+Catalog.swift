extension Connection {
  /// Whether nobody has made anything in this database yet.
  func isEmpty() throws(Failure) -> Bool {
    try statement("SELECT 1 FROM sqlite_master LIMIT 1").step() == false
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
