/// Triggers and views of other programs, which may name what a migration takes away.
struct PartsOfOthers {
  /// The triggers that could run before.
  private let triggers: Set<String>
  /// The views that could be read before.
  private let views: Set<String>

  init(on connection: Connection) throws(Failure) {
    let objects = try connection.schemaObjects()
    var triggers: Set<String> = []
    for table in Set(objects.filter { $0.kind == .trigger }.map(\.table)) {
      for statement in try PartsOfOthers.statementsThatFire(on: table, connection) {
        triggers.formUnion(connection.triggersRun(by: statement) ?? [])
      }
    }
    self.triggers = triggers
    views = Set(
      objects.filter { $0.kind == .view && PartsOfOthers.problem(of: $0.name, on: connection) == nil }.map(\.name))
  }

  /// Makes a trigger or an index again.
  func restore(_ object: SchemaObject, on connection: Connection) throws(Failure) {
    let what = object.kind == .index ? "index" : "trigger"
    do throws(Failure) { try connection.execute(object.sql) } catch {
      if error.databaseCode & 0xFF != ResultCode.mistake { throw error }
      throw failure(of: what, object.name, error.message.string, connection)
    }
    if object.kind != .trigger || !triggers.contains(object.name) { return }
    var runs = false
    for statement in try PartsOfOthers.statementsThatFire(on: object.table, connection) {
      if let run = connection.triggersRun(by: statement) {
        runs = runs || run.contains(object.name)
      } else {
        do throws(Failure) { _ = try connection.statement(statement, isKept: false) } catch {
          throw failure(of: what, object.name, error.message.string, connection)
        }
      }
    }
    if !runs { throw failure(of: what, object.name, "It runs after updates of a column that is gone.", connection) }
  }

  /// Fails for what could be read before.
  func check(on connection: Connection) throws(Failure) {
    for view in views.sorted() {
      if let problem = PartsOfOthers.problem(of: view, on: connection) {
        throw failure(of: "view", view, problem, connection)
      }
    }
  }

  private func failure(
    of what: String, _ name: String, _ problem: String, _ connection: Connection
  ) -> Failure {
    Failure(
      .unsupported,
      "The store '\(connection.path)' cannot be migrated: the \(what) \(name) of another program names what is gone or "
        + "cannot be made again. \(problem) Remove it, and make one that fits afterwards.")
  }

  /// Why a view cannot be read; nil where it can.
  private static func problem(of view: String, on connection: Connection) -> String? {
    do throws(Failure) {
      _ = try connection.statement("SELECT * FROM \(SQLLiteral.name(view))", isKept: false)
      return nil
    } catch { return error.message.string }
  }

  /// Statements for which each trigger of a table is compiled.
  private static func statementsThatFire(on table: String, _ connection: Connection) throws(Failure) -> [String] {
    let columns = try connection.declaredColumns(of: table).filter { !$0.isCalculated }.map(\.column.name)
    let name = SQLLiteral.name(table)
    let changes = columns.map { "\(SQLLiteral.name($0)) = NULL" }.joined(separator: ", ")
    return ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(changes)", "DELETE FROM \(name)"]
  }
}
