/// Triggers that record in the change journal which rows any program changes, plain SQL included.
///
/// Objects whose members change are recorded, too: the row of a member only names its new owner.
struct JournalTriggers {
  /// The statement of each, by name.
  let all: [String: String]

  /// Those of a journal record nothing while Quire saves, because the save records its rows itself. `isFormer` stands
  /// for those of the table of earlier versions, which record all.
  init(isFormer: Bool = false, of schema: Schema) {
    var triggers: [String: String] = [:]
    let journal = isFormer ? ChangeJournal.formerTable : ChangeJournal.table
    let trimming =
      "DELETE FROM \(journal) WHERE Z_PK \(isFormer ? "<=" : "BETWEEN 1 AND") (SELECT max(Z_PK) FROM \(journal)) - "
      + "\(ChangeJournal.mostKept);"
    let last = "(SELECT Z_KIND FROM \(journal) ORDER BY Z_PK DESC LIMIT 1)"
    let condition = isFormer ? "" : " WHEN \(last) IS NOT \(ChangeJournal.Kind.open.rawValue)"
    func record(
      _ kind: ChangeJournal.Kind, _ entity: String, _ row: String, named name: String? = nil,
      from source: String? = nil, where condition: String?
    ) -> String {
      "INSERT INTO \(journal) (Z_ENT, Z_ROW, Z_KIND, Z_NAME) SELECT \(entity), \(row), \(kind.rawValue), "
        + (name.flatMap { SQLLiteral.text(.text(Text($0))) } ?? "NULL") + (source.map { " FROM \($0)" } ?? "")
        + (condition.map { " WHERE \($0)" } ?? "") + ";"
    }
    func add(_ event: String, _ timing: String? = nil, of table: String, _ actions: [String]) {
      let name = "\(journal)_\(table)_\(event)"
      let body = (actions + [trimming]).joined(separator: " ")
      triggers[name] = "CREATE TRIGGER \(name) \(timing ?? "AFTER \(event)") ON \(table)\(condition) BEGIN \(body) END"
    }
    for table in schema.tables {
      let owners = JournalTriggers.owners(in: table, of: schema)
      func changes(_ row: String, _ kind: ChangeJournal.Kind, where condition: String? = nil) -> String {
        record(kind, "\(row).Z_ENT", "\(row).Z_PK", where: condition)
      }
      func members(_ row: String, where condition: (Owner) -> String?) -> [String] {
        owners.map { owner in
          let isThere = "\(row).\(owner.key) IS NOT NULL"
          return record(
            .members, "\(owner.relationship.entity.number)", "\(row).\(owner.key)", named: owner.relationship.name,
            where: condition(owner).map { "\(isThere) AND (\($0))" } ?? isThere)
        }
      }
      let name = table.name
      add("INSERT", of: name, [changes("NEW", .insert)] + members("NEW") { _ in nil })
      // A row that is replaced fires no trigger for its deletion.
      func replaced(where condition: String) -> [String] {
        [record(.delete, "o.Z_ENT", "o.Z_PK", from: "\(name) o", where: condition)]
          + owners.map { owner in
            record(
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
      func members(ofPair row: String) -> [String] {
        sides.map { relationship, column in
          record(
            .members, "\(relationship.entity.number)", "\(row).\(column)", named: relationship.name, where: nil)
        }
      }
      add("INSERT", of: join.name, members(ofPair: "NEW"))
      add("UPDATE", of: join.name, members(ofPair: "OLD") + members(ofPair: "NEW"))
      add("DELETE", of: join.name, members(ofPair: "OLD"))
    }
    all = triggers
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
}
