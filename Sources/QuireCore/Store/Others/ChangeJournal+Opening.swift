/// Which journal a file keeps.
extension ChangeJournal {
  /// Has the file keep what is wanted from now on; nil for what it has. What is there is made to fit the model. The
  /// table of earlier versions is replaced by a journal of all changes.
  static func prepare(of schema: Schema, _ wanted: Setting?, on connection: Connection) throws(Failure) {
    let parts = JournalParts.Wanted(schema)
    func isPrepared(_ found: JournalParts) -> Bool {
      if found.hasFormerTable || found.hasTable != (target(wanted, found) != .none) { return false }
      switch target(wanted, found) {
      case .none: return found.triggers.isEmpty
      case .saves: return found.setting == .saves && found.triggers.isEmpty
      case .all: return found.setting == .all && found.triggers == parts.triggers
      }
    }
    func check(_ found: JournalParts) throws(Failure) {
      if !found.isNameTaken || wanted == nil && !found.hasFormerTable { return }
      throw Failure(
        .unsupported,
        "The store '\(connection.path)' has a \(table) that is not made by this version of Quire, so that it cannot "
          + "keep a change journal of its own. Rename what another program has made, or use the version that made it.")
    }
    let found = try JournalParts(on: connection)
    try check(found)
    if isPrepared(found) { return }
    try connection.transaction { () throws(Failure) in
      // Another process may have done so meanwhile.
      let found = try JournalParts(on: connection)
      try check(found)
      if isPrepared(found) { return }
      for name in (Array(found.triggers.keys) + found.formerTriggers.keys).sorted() {
        try connection.execute("DROP TRIGGER \(SQLLiteral.name(name))")
      }
      if found.hasFormerTable { try connection.execute("DROP TABLE \(formerTable)") }
      let target = target(wanted, found)
      if target == .none {
        if found.hasTable { try connection.execute("DROP TABLE \(table)") }
        return
      }
      if !found.hasTable { try connection.execute(JournalParts.tableSQL) }
      try create(target, parts, on: connection)
    }
  }

  private static func target(_ wanted: Setting?, _ found: JournalParts) -> Setting {
    wanted ?? (found.hasTable ? found.setting : found.hasFormerTable ? .all : .none)
  }

  /// Makes that of a new file, in the transaction that makes its tables.
  static func create(_ setting: Setting, of schema: Schema, on connection: Connection) throws(Failure) {
    if setting == .none { return }
    try connection.execute(JournalParts.tableSQL)
    try create(setting, JournalParts.Wanted(schema), on: connection)
  }

  private static func create(
    _ setting: Setting, _ parts: JournalParts.Wanted, on connection: Connection
  ) throws(Failure) {
    try connection.execute(
      "INSERT OR REPLACE INTO \(table) (Z_PK, Z_KIND, Z_ROW) "
        + "VALUES (0, \(Kind.setting.rawValue), \(setting.rawValue))")
    // One entry is always there, by which the numbers go on.
    try connection.execute("INSERT INTO \(table) (Z_KIND, Z_CHANGES) VALUES (\(Kind.furtherSave.rawValue), x'')")
    if setting != .all { return }
    for (_, sql) in parts.triggers.sorted(by: { $0.key < $1.key }) { try connection.execute(sql) }
  }
}
