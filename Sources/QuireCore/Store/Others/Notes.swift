/// Notes that a file has of which rows were written lately, by plain SQL triggers that any program runs.
///
/// The table has the last changes in the order in which they were made. Objects whose members have changed are noted,
/// too, because the rows of members no longer tell of their former owners.
struct Notes {
  static let table = "QUIRE_NOTES"
  /// What the names of its triggers begin with.
  static let prefix = "\(table)_"
  /// So many changes are kept. Programs that have missed some take it that anything has changed.
  static let mostKept = 10_000

  enum Kind: Int64, CaseIterable {
    case insert = 0, update = 1, delete = 2
    /// The row has other members in the relationship that is named, or another order of them.
    case members = 3
  }

  /// What it is made of, by name.
  let triggers: [String: String]

  private static let tableSQL =
    "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_ROW INTEGER, Z_KIND INTEGER, Z_NAME VARCHAR)"

  init(schema: Schema) {
    var triggers: [String: String] = [:]
    func add(_ event: String, _ timing: String? = nil, of table: String, _ actions: [String]) {
      let name = "\(Notes.prefix)\(table)_\(event)"
      let body = (actions + [Notes.trimming]).joined(separator: " ")
      triggers[name] = "CREATE TRIGGER \(name) \(timing ?? "AFTER \(event)") ON \(table) BEGIN \(body) END"
    }
    for table in schema.tables {
      let owners = Notes.owners(in: table, of: schema)
      func changes(_ row: String, _ kind: Kind, where condition: String? = nil) -> String {
        Notes.note(kind, "\(row).Z_ENT", "\(row).Z_PK", where: condition)
      }
      func members(_ row: String, where condition: (Owner) -> String?) -> [String] {
        owners.map { owner in
          let isThere = "\(row).\(owner.key) IS NOT NULL"
          return Notes.note(
            .members, "\(owner.relationship.entity.number)", "\(row).\(owner.key)", named: owner.relationship.name,
            where: condition(owner).map { "\(isThere) AND (\($0))" } ?? isThere)
        }
      }
      let name = table.name
      add("INSERT", of: name, [changes("NEW", .insert)] + members("NEW") { _ in nil })
      // A row that is replaced fires no trigger for its deletion.
      func replaced(where condition: String) -> [String] {
        [Notes.note(.delete, "o.Z_ENT", "o.Z_PK", from: "\(name) o", where: condition)]
          + owners.map { owner in
            Notes.note(
              .members, "\(owner.relationship.entity.number)", "o.\(owner.key)", named: owner.relationship.name,
              from: "\(name) o", where: "\(condition) AND o.\(owner.key) IS NOT NULL")
          }
      }
      add("REPLACE", "BEFORE INSERT", of: name, replaced(where: "o.Z_PK = NEW.Z_PK"))
      add(
        "MOVE", "BEFORE UPDATE", of: name,
        replaced(where: "NEW.Z_PK IS NOT OLD.Z_PK AND o.Z_PK = NEW.Z_PK"))
      let isOther = "OLD.Z_PK IS NOT NEW.Z_PK OR OLD.Z_ENT IS NOT NEW.Z_ENT"
      func isElsewhere(_ owner: Owner) -> String {
        ([owner.key] + [owner.order].compactMap { $0 }).map { "OLD.\($0) IS NOT NEW.\($0)" }
          .joined(separator: " OR ") + " OR \(isOther)"
      }
      add(
        "UPDATE", of: name,
        [
          changes("OLD", .delete, where: isOther), changes("NEW", .insert, where: isOther),
          changes("NEW", .update, where: "NOT (\(isOther))"),
        ] + members("OLD", where: isElsewhere) + members("NEW", where: isElsewhere))
      add("DELETE", of: name, [changes("OLD", .delete)] + members("OLD") { _ in nil })
    }
    for (relationship, join) in schema.joins {
      // Both sides of each pair; where they are of one relationship, either column may have the owner.
      var sides = [(relationship, join.ownerColumn)]
      sides.append((join.isReflexive ? relationship : relationship.inverse ?? relationship, join.destinationColumn))
      func note(_ row: String) -> [String] {
        sides.map { relationship, column in
          Notes.note(
            .members, "\(relationship.entity.number)", "\(row).\(column)", named: relationship.name, where: nil)
        }
      }
      add("INSERT", of: join.name, note("NEW"))
      add("UPDATE", of: join.name, note("OLD") + note("NEW"))
      add("DELETE", of: join.name, note("OLD"))
    }
    self.triggers = triggers
  }

  private static let trimming = "DELETE FROM \(table) WHERE Z_PK <= (SELECT max(Z_PK) FROM \(table)) - \(mostKept);"

  /// Without a choice of its own, a conflict is none: the key is always a new one.
  private static func note(
    _ kind: Kind, _ entity: String, _ row: String, named name: String? = nil, from source: String? = nil,
    where condition: String?
  ) -> String {
    "INSERT INTO \(table) (Z_ENT, Z_ROW, Z_KIND, Z_NAME) SELECT \(entity), \(row), \(kind.rawValue), "
      + (name.flatMap { SQLLiteral.text(.text(Text($0))) } ?? "NULL") + (source.map { " FROM \($0)" } ?? "")
      + (condition.map { " WHERE \($0)" } ?? "") + ";"
  }

  /// A column of a table by which its rows are members of objects.
  private struct Owner {
    let relationship: Relationship
    let key: String
    let order: String?
  }

  private static func owners(in table: Schema.Table, of schema: Schema) -> [Owner] {
    var owners: [Owner] = []
    for entity in table.entity.subtree {
      for relationship in entity.ownRelationships.sorted(by: { $0.name < $1.name })
      where !relationship.isToMany && !relationship.isTransient {
        guard let inverse = relationship.inverse, inverse.isToMany, !inverse.isTransient else { continue }
        let columns = schema.toOne(relationship)
        owners.append(Owner(relationship: inverse, key: columns.key, order: columns.order))
      }
    }
    for relationship in schema.model.numberedEntities.flatMap(\.ownRelationships)
    where relationship.isToMany && relationship.inverse == nil && !relationship.isTransient
      && relationship.destination.rootNumber == table.entity.rootNumber
    {
      let columns = schema.ownerColumns(of: relationship)
      owners.append(Owner(relationship: relationship, key: columns.key, order: columns.order))
    }
    return owners
  }

  // MARK: The file

  /// Whether the file has the table and all triggers, so that what is not noted was not changed.
  func areKept(on connection: Connection) throws(Failure) -> Bool {
    if try !Notes.isThere(on: connection) { return false }
    return try found(on: connection) == triggers
  }

  private static func isThere(on connection: Connection) throws(Failure) -> Bool {
    try connection.statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(table)'").step()
  }

  /// Has the file keep notes from now on, where it is to. What is there is made to fit the model.
  static func prepare(of schema: Schema, begins: Bool, on connection: Connection) throws(Failure) {
    let notes = Notes(schema: schema)
    func lacks() throws(Failure) -> Bool {
      if try !isThere(on: connection) { return begins }
      return try notes.found(on: connection) != notes.triggers
    }
    if try !lacks() { return }
    try connection.transaction { () throws(Failure) in
      // Another process may have done so meanwhile.
      if try !lacks() { return }
      for name in try notes.found(on: connection).keys {
        try connection.execute("DROP TRIGGER \(SQLLiteral.name(name))")
      }
      if try !isThere(on: connection) {
        try connection.execute(tableSQL)
        // One note is always there, by which the numbers go on.
        try connection.execute("INSERT INTO \(table) (Z_PK) VALUES (1)")
      }
      for (_, sql) in notes.triggers.sorted(by: { $0.key < $1.key }) { try connection.execute(sql) }
    }
  }

  private func found(on connection: Connection) throws(Failure) -> [String: String] {
    let select = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '\(Notes.table)\\_%' ESCAPE '\\'")
    var found: [String: String] = [:]
    while try select.step() {
      if let name = select.text(at: 0)?.string { found[name] = select.text(at: 1)?.string ?? "" }
    }
    return found
  }

  /// The number of the last note.
  static func last(on connection: Connection) throws(Failure) -> Int64 {
    let select = try connection.statement("SELECT max(Z_PK) FROM \(table)")
    defer { select.reset() }
    return try select.step() ? select.integer(at: 0) : 0
  }

  /// What was noted after a number; nil where some of that is not kept any more.
  static func change(after number: Int64, _ model: Model, on connection: Connection) throws(Failure) -> StoreChange? {
    let first = try connection.statement("SELECT min(Z_PK), max(Z_PK) FROM \(table)")
    let (least, last) = try first.step() ? (first.integer(at: 0), first.integer(at: 1)) : (0, 0)
    first.reset()
    if least > number + 1 || last < number { return nil }
    let select = try connection.statement(
      "SELECT Z_ENT, Z_ROW, Z_KIND, Z_NAME FROM \(table) WHERE Z_PK > ? ORDER BY Z_PK")
    try select.bind(number, at: 1)
    defer { select.reset() }
    let gathered = ChangeInbox()
    while try select.step() {
      guard let kind = Kind(rawValue: select.integer(at: 2)), let entity = Int(exactly: select.integer(at: 0)),
        let owner = model.entity(numbered: entity)
      else { continue }
      let row = RowIdentifier(id: select.integer(at: 1), entity: Int32(entity))
      var change = StoreChange()
      switch kind {
      case .insert: change.inserted = [row]
      case .update: change.updated = [row]
      case .delete: change.deleted = [row]
      case .members:
        guard let name = select.text(at: 3), let relationship = try? owner.property(named: name.string) as? Relationship
        else { continue }
        change.membershipChanges = [(relationship, [row])]
      }
      gathered.post(change)
    }
    return gathered.take() ?? StoreChange()
  }
}
