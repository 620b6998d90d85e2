/// The tables and triggers of a file that belong to a change journal, or to the table of earlier versions.
struct JournalParts {
  /// What a file that is written by its model has. Made when it is asked for: most files have no triggers.
  struct Wanted {
    let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    var triggers: [String: String] { JournalTriggers(of: schema).all }
    var formerTriggers: [String: String] { JournalTriggers(isFormer: true, of: schema).all }
  }

  static let tableSQL =
    "CREATE TABLE \(ChangeJournal.table) (Z_PK INTEGER PRIMARY KEY, Z_KIND INTEGER, Z_ENT INTEGER, Z_ROW INTEGER, "
    + "Z_NAME VARCHAR, Z_CHANGES BLOB)"
  static let formerTableSQL =
    "CREATE TABLE \(ChangeJournal.formerTable) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_ROW INTEGER, "
    + "Z_KIND INTEGER, Z_NAME VARCHAR)"

  /// The statements that made things of these names; nil where there are none.
  private(set) var table: String?
  private(set) var formerTable: String?
  private(set) var triggers: [String: String] = [:]
  private(set) var formerTriggers: [String: String] = [:]
  private var foreignTriggers: [String] = []
  /// What the journal is to record, by its own word.
  private(set) var setting = ChangeJournal.Setting.none

  init(on connection: Connection) throws(Failure) {
    let select = try connection.statement(
      "SELECT type, name, sql FROM sqlite_master WHERE type = 'trigger' "
        + "OR upper(name) IN ('\(ChangeJournal.table)', '\(ChangeJournal.formerTable)')")
    while try select.step() {
      let name = select.text(at: 1)?.string ?? "", sql = select.text(at: 2)?.string ?? ""
      if !select.holds("trigger", at: 0) {
        if Names.upper(name) == ChangeJournal.table { table = sql } else { formerTable = sql }
      } else if name.hasPrefix(ChangeJournal.prefix) {
        triggers[name] = sql
      } else if name.hasPrefix(ChangeJournal.formerPrefix) {
        formerTriggers[name] = sql
      } else if !JournalParts.quires.contains(where: name.hasPrefix) {
        foreignTriggers.append(sql)
      }
    }
    if !hasTable { return }
    let row = try connection.statement("SELECT Z_ROW FROM \(ChangeJournal.table) WHERE Z_PK = 0")
    setting = try row.step() ? ChangeJournal.Setting(rawValue: row.integer(at: 0)) ?? .saves : .saves
    row.reset()
  }

  /// Triggers whose work a save knows: those of Quire, and those of Core Data's derived attributes and R-Trees.
  private static let quires = ["QUIRE_", "Z_DA_", "Z_RT_"]

  var hasTable: Bool { table == JournalParts.tableSQL }
  var hasFormerTable: Bool { formerTable == JournalParts.formerTableSQL }
  /// Whether something else bears the name.
  var isNameTaken: Bool { table != nil && !hasTable }

  /// Without all its triggers a journal of all changes has the saves of Quire.
  func form(_ wanted: Wanted) -> ChangeJournal.Form {
    if hasTable { return setting == .all && triggers == wanted.triggers ? .all : .saves }
    return hasFormerTable && formerTriggers == wanted.formerTriggers ? .former : .none
  }

  /// Whether a trigger of another program names a table of the model in what it does.
  func hasForeignWrites(to schema: Schema) -> Bool {
    if foreignTriggers.isEmpty { return false }
    let tables = Set(schema.tables.map { Names.upper($0.name) } + schema.joins.map { Names.upper($0.table.name) })
    return foreignTriggers.contains { sql in
      let words = Names.upper(sql).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      guard let begin = words.firstIndex(of: "BEGIN") else { return true }
      return words[begin...].contains { tables.contains(String($0)) }
    }
  }
}
