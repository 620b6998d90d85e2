/// What other processes have recorded.
extension ChangeJournal {
  /// The number of the last entry.
  static func last(_ form: Form, on connection: Connection) throws(Failure) -> Int64? {
    if form == .none { return nil }
    let select = try connection.statement("SELECT max(Z_PK) FROM \(form == .former ? formerTable : table)")
    defer { select.reset() }
    return try select.step() ? select.integer(at: 0) : 0
  }

  /// What was recorded after a number. Where that is not all that was changed, anything else may have changed, too.
  ///
  /// `commitCount` is how many commits there were; nil where that is not known. A journal of saves tells of a commit of
  /// another program by that alone.
  static func change(
    after number: Int64, _ form: Form, of commitCount: Int?, _ model: Model, on connection: Connection
  ) throws(Failure) -> StoreChange {
    let name = form == .former ? formerTable : table
    let ends = try connection.statement("SELECT min(Z_PK) FROM \(name) WHERE Z_PK >= 1")
    let least = try ends.step() ? ends.integer(at: 0) : 0
    ends.reset()
    guard let last = try last(form, on: connection), last >= number, least <= number || last == number else {
      return .unknown
    }
    let changes = form == .former ? "NULL" : "Z_CHANGES"
    let select = try connection.statement(
      "SELECT Z_ENT, Z_ROW, Z_KIND, Z_NAME, \(changes) FROM \(name) WHERE Z_PK > ? ORDER BY Z_PK")
    try select.bind(number, at: 1)
    defer { select.reset() }
    let gathered = ChangeInbox()
    var isUnknown = false, counted = 0
    while try select.step() {
      let kind = Kind(rawValue: select.integer(at: 2))
      if kind == .save { counted += 1 }
      if let change = entry(kind, select, model) { gathered.post(change) } else { isUnknown = true }
    }
    var change = gathered.take() ?? StoreChange()
    change.isUnknown = isUnknown || form == .saves && counted != commitCount
    return change
  }

  /// nil for what does not say which rows were changed.
  private static func entry(_ kind: Kind?, _ select: Statement, _ model: Model) -> StoreChange? {
    switch kind {
    case .insert, .update, .delete, .members: return rowEntry(kind, select, model)
    case .save, .furtherSave: return select.data(at: 4).flatMap { JournalEntry.decoded($0, model) }
    case .open, .setting, nil: return nil
    }
  }

  /// That of a trigger. A row of what the model does not have is of no concern.
  private static func rowEntry(_ kind: Kind?, _ select: Statement, _ model: Model) -> StoreChange {
    var change = StoreChange()
    guard let number = Int(exactly: select.integer(at: 0)), let entity = model.entity(numbered: number) else {
      return change
    }
    let row = RowIdentifier(id: select.integer(at: 1), entity: Int32(number))
    switch kind {
    case .insert: change.inserted = [row]
    case .update: change.updated = [row]
    case .delete: change.deleted = [row]
    default:
      if let name = select.text(at: 3), let relationship = try? entity.property(named: name.string) as? Relationship {
        change.membershipChanges = [(relationship, [row])]
      }
    }
    return change
  }
}
