import CSQLite

/// What the schema of a file may do. A file may come from anywhere, so that its triggers are not trusted at first.
extension Connection {
  /// Lets triggers write to the R-Trees of fetch indexes, which SQLite allows only where it trusts the whole schema.
  /// Returns whether they may.
  ///
  /// It is trusted when all that its triggers, checks and expressions do is known to be harmless. They may use tables,
  /// R-Trees with the names that Core Data gives them, and functions that SQLite runs without trust.
  func trustTriggersOfIndexes() throws(Failure) -> Bool {
    guard let handle, try hasTriggersOfIndexes() else { return true }
    let examination = TriggerExamination(functions: try harmlessFunctions(), tables: try harmlessTables())
    let statements = try statementsWithTriggers()
    _ = quire_sqlite_set_trusted_schema(handle, 1)
    sqlite3_set_authorizer(
      handle,
      { examination, action, table, function, _, trigger in
        guard let examination else { return SQLITE_DENY }
        let kept = Unmanaged<TriggerExamination>.fromOpaque(examination).takeUnretainedValue()
        return kept.allows(action, table, function, trigger) ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(examination).toOpaque())
    var isHarmless = true
    for sql in statements {
      var prepared: OpaquePointer?
      // What cannot be compiled cannot be looked through, and may become possible later.
      if sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) != SQLITE_OK { isHarmless = false }
      sqlite3_finalize(prepared)
    }
    withExtendedLifetime(examination) { _ = sqlite3_set_authorizer(handle, nil, nil) }
    if !isHarmless { _ = quire_sqlite_set_trusted_schema(handle, 0) }
    return isHarmless
  }

  /// The tables in which triggers change rows when `statements` run, in upper case: those whose rows they write, or
  /// those whose rows they delete. What cannot be compiled changes none.
  func tablesChangedByTriggers(of statements: [String], deleting: Bool) -> Set<String> {
    guard let handle else { return [] }
    let record = ChangedTables(actions: deleting ? [SQLITE_DELETE] : [SQLITE_INSERT, SQLITE_UPDATE])
    sqlite3_set_authorizer(
      handle,
      { record, action, table, _, _, trigger in
        guard let record, let table, trigger != nil else { return SQLITE_OK }
        Unmanaged<ChangedTables>.fromOpaque(record).takeUnretainedValue().note(action, table)
        return SQLITE_OK
      }, Unmanaged.passUnretained(record).toOpaque())
    for sql in statements {
      var prepared: OpaquePointer?
      _ = sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
      sqlite3_finalize(prepared)
    }
    withExtendedLifetime(record) { _ = sqlite3_set_authorizer(handle, nil, nil) }
    return record.names
  }

  /// The triggers that may run when a statement runs; nil for one that cannot be compiled.
  func triggersRun(by sql: String) -> Set<String>? {
    guard let handle else { return nil }
    let record = NamedTriggers()
    sqlite3_set_authorizer(
      handle,
      { record, _, _, _, _, trigger in
        if let record, let trigger {
          Unmanaged<NamedTriggers>.fromOpaque(record).takeUnretainedValue().names.insert(String(cString: trigger))
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(record).toOpaque())
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
    sqlite3_finalize(prepared)
    withExtendedLifetime(record) { _ = sqlite3_set_authorizer(handle, nil, nil) }
    return code == SQLITE_OK ? record.names : nil
  }

  private func hasTriggersOfIndexes() throws(Failure) -> Bool {
    try statement(
      """
      SELECT 1 FROM (SELECT type, sql FROM sqlite_master UNION ALL SELECT type, sql FROM sqlite_temp_master)
      WHERE type = 'trigger' AND sql LIKE '%Z\\_RT\\_%' ESCAPE '\\' LIMIT 1
      """
    ).step()
  }

  /// Those that SQLite runs in a schema that it does not trust. Core Data's trigger functions are among them.
  private func harmlessFunctions() throws(Failure) -> Set<String> {
    let select = try statement("SELECT name, min(flags & \(SQLITE_INNOCUOUS)) FROM pragma_function_list GROUP BY name")
    var names: Set<String> = []
    while try select.step() {
      if select.integer(at: 1) != 0, let name = select.text(at: 0) { names.insert(name.string) }
    }
    return names
  }

  /// The tables of the file, whose own rows are all that they reach, and the R-Trees of fetch indexes. Other virtual
  /// tables are not among them, nor those that are there without a word in the schema, such as `pragma_table_info`.
  private func harmlessTables() throws(Failure) -> Set<String> {
    let select = try statement(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow', 'view')")
    var names = Set(try rTreesOfIndexes().map { Names.upper($0.name) })
    while try select.step() { if let name = select.text(at: 0) { names.insert(Names.upper(name.string)) } }
    return names
  }

  /// The R-Trees with names of fetch indexes, and the statements that declare them.
  ///
  /// What the statement of an R-Tree says is what it is called: a name without quotes has nothing else in it.
  func rTreesOfIndexes() throws(Failure) -> [(name: String, declaration: String)] {
    let unplain = "'*[^A-Za-z0-9_\u{80}-\u{10FFFF}]*'"
    let select = try statement(
      """
      SELECT name, sql FROM sqlite_master
      JOIN (SELECT ' USING RTREE (' AS module UNION ALL SELECT ' USING RTREE(')
      WHERE type = 'table' AND name GLOB 'Z_RT_*' AND NOT instr(name, '"') AND (
        instr(sql, 'CREATE VIRTUAL TABLE "' || name || '"' || module) = 1
        OR NOT name GLOB \(unplain) AND instr(sql, 'CREATE VIRTUAL TABLE ' || name || module) = 1)
      """)
    var found: [(String, String)] = []
    while try select.step() {
      if let name = select.text(at: 0), let sql = select.text(at: 1) { found.append((name.string, sql.string)) }
    }
    return found
  }

  /// Statements that run every trigger there is.
  private func statementsWithTriggers() throws(Failure) -> [String] {
    let select = try statement(
      """
      SELECT DISTINCT '"' || replace(trigger.tbl_name, '"', '""') || '"', (
        SELECT group_concat('"' || replace(field.name, '"', '""') || '" = NULL')
        FROM pragma_table_info(trigger.tbl_name) AS field)
      FROM sqlite_master AS trigger JOIN sqlite_master AS subject ON subject.name = trigger.tbl_name
      WHERE trigger.type = 'trigger' AND subject.type = 'table'
      """)
    var statements: [String] = []
    while try select.step() {
      guard let table = select.text(at: 0), let changes = select.text(at: 1) else { continue }
      statements += ["INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(changes)", "DELETE FROM \(table)"]
    }
    return statements
  }
}

private final class ChangedTables {
  private let actions: [Int32]
  private(set) var names: Set<String> = []

  init(actions: [Int32]) { self.actions = actions }

  func note(_ action: Int32, _ table: UnsafePointer<CChar>) {
    if actions.contains(action) { names.insert(Names.upper(String(cString: table))) }
  }
}

private final class NamedTriggers {
  var names: Set<String> = []
}

/// What statements may do while it is found out what the triggers of a file do.
private final class TriggerExamination {
  private let functions: Set<String>
  /// In upper case: SQLite tells some names as the trigger has them.
  private let tables: Set<String>

  init(functions: Set<String>, tables: Set<String>) {
    self.functions = functions
    self.tables = tables
  }

  /// Both names are SQLite's; `trigger` is the innermost one, or a view.
  func allows(
    _ action: Int32, _ table: UnsafePointer<CChar>?, _ function: UnsafePointer<CChar>?, _ trigger: UnsafePointer<CChar>?
  ) -> Bool {
    switch action {
    case SQLITE_FUNCTION:
      guard let function else { return false }
      return functions.contains(String(cString: function))
    case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      guard trigger != nil, let table else { return true }
      return tables.contains(Names.upper(String(cString: table)))
    case SQLITE_SELECT, SQLITE_RECURSIVE: return true
    default: return false
    }
  }
}
