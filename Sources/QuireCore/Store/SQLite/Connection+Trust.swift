import CSQLite

/// What the schema of a file may do. A file may come from anywhere, so that its triggers are not trusted at first.
extension Connection {
  /// Lets the triggers of the file write to the R-Trees of fetch indexes, which SQLite allows only where it trusts the
  /// whole schema.
  ///
  /// It is trusted when all that its triggers, checks and expressions do is known to be harmless. They may use tables,
  /// R-Trees with the names that Core Data gives them, and functions that SQLite runs without trust.
  func trustTriggersOfIndexes() throws(Failure) {
    guard let handle, try hasTriggersOfIndexes() else { return }
    let examination = TriggerExamination(functions: try harmlessFunctions(), unknownTables: try unknownTables())
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
  }

  private func hasTriggersOfIndexes() throws(Failure) -> Bool {
    try statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%Z\\_RT\\_%' ESCAPE '\\' LIMIT 1"
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

  /// Virtual tables that are no R-Trees of fetch indexes.
  private func unknownTables() throws(Failure) -> Set<String> {
    let select = try statement(
      """
      SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'
      AND NOT (name LIKE 'Z\\_RT\\_%' ESCAPE '\\' AND sql LIKE '%USING RTREE%')
      """)
    var names: Set<String> = []
    while try select.step() { if let name = select.text(at: 0) { names.insert(name.string) } }
    return names
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

/// What statements may do while it is found out what the triggers of a file do.
private final class TriggerExamination {
  private let functions: Set<String>
  private let unknownTables: Set<String>

  init(functions: Set<String>, unknownTables: Set<String>) {
    self.functions = functions
    self.unknownTables = unknownTables
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
      return !unknownTables.contains(String(cString: table))
    case SQLITE_SELECT, SQLITE_RECURSIVE: return true
    default: return false
    }
  }
}
