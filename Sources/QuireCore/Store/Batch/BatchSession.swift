/// One batch request under way, inside its transaction: SQL over many rows at a time. The extensions have its steps and
/// their order. In the end the file holds what changing and saving the same objects one by one would have left.
final class BatchSession: BatchWriter {
  let store: Store
  let schema: Schema
  let connection: Connection
  private(set) var change = StoreChange()
  /// Rows that the request is not about but whose relationships change with it: Z_ENT by key, by root.
  private var touched: [Int: [Int64: Int32]] = [:]
  /// Owners whose members are to be counted when all is done.
  private var uncounted: [ObjectIdentifier: (relationship: Relationship, owners: Set<Int64>)] = [:]

  init(store: Store, connection: Connection) {
    self.store = store
    schema = store.schema
    self.connection = connection
  }

  /// Checks what could not be checked before, and advances the versions of the rows around.
  func finish(updated: some Sequence<RowIdentifier>, deleted: DoomedRows) throws(Failure) {
    for (_, (relationship, owners)) in uncounted.sorted(by: { $0.value.relationship.name < $1.value.relationship.name })
    { try checkCounts(of: relationship, owners.filter { !deleted.contains(relationship.entity.rootNumber, $0) }) }
    change.updated += updated
    for row in updated {
      if let entity = entity(of: row) { touched[entity.rootNumber]?[row.id] = nil }
    }
    for (root, rows) in touched.sorted(by: { $0.key < $1.key }) {
      guard let entity = store.model.entity(numbered: root) else { continue }
      let ids = rows.keys.filter { !deleted.contains(root, $0) }.sorted()
      try run("UPDATE \(schema.table(of: entity)) SET \(BatchSession.nextVersion) WHERE Z_PK IN (\(IDList.sql))", ids)
      for id in ids { change.updated.append(RowIdentifier(id: id, entity: rows[id] ?? Int32(root))) }
    }
    change.deleted = deleted.rows
  }

  static let nextVersion = "Z_OPT = ifnull(Z_OPT, 0) + 1"

  func entity(of row: RowIdentifier) -> Entity? { store.model.entity(numbered: Int(row.entity)) }

  /// Updates derived attributes after the changes.
  func derive() throws(Failure) {
    var others = Set(try store.derivedAttributes.settle(on: connection).map(\.row))
    others.formUnion(store.affected.take().map(\.row))
    others.subtract(change.inserted)
    others.subtract(change.updated)
    others.subtract(change.deleted)
    change.updated += ContiguousArray(others)
  }

  // MARK: Notes

  func noteInserted(_ rows: ContiguousArray<RowIdentifier>) { change.inserted = rows }

  /// The row itself has changed, so that contexts that read it must learn of it.
  func touch(_ rows: [RowIdentifier]) {
    for row in rows {
      if let entity = entity(of: row) { touched[entity.rootNumber, default: [:]][row.id] = row.entity }
    }
  }

  /// A to-many relationship of these objects has gained or lost members.
  func noteMembershipChange(_ relationship: Relationship, _ owners: [RowIdentifier]) {
    if owners.isEmpty { return }
    change.membershipChanges.append((relationship, owners))
    // Where members or their order are kept with this side, its version is the notice to other writers.
    if relationship.isManyToMany || relationship.isOrdered { touch(owners) }
    if !relationship.isOptional || relationship.minimumCount > 0 || relationship.maximumCount > 0 {
      uncounted[ObjectIdentifier(relationship), default: (relationship, [])].owners.formUnion(owners.map(\.id))
    }
  }

  /// The same of objects whose rows stay as they are.
  func noteOwnersLosingMembers(_ ownersLosingMembers: [(relationship: Relationship, owners: [RowIdentifier])]) {
    change.membershipChanges += ownersLosingMembers
  }

  private func checkCounts(of relationship: Relationship, _ owners: Set<Int64>) throws(Failure) {
    let path = try RelationshipSQL(relationship, schema: schema)
    let step = path.join(from: "o.value", step: 1)
    let statement = try connection.statement(
      "SELECT o.value, count(DISTINCT \(step.key)) FROM json_each(?) o\(step.joins) GROUP BY o.value")
    try statement.bind(IDList.argument(owners), at: 1)
    var counts: [Int64: Int64] = [:]
    while try statement.step() { counts[statement.integer(at: 0)] = statement.integer(at: 1) }
    // A mandatory relationship needs one object even when no minimum is set.
    let minimum = max(relationship.minimumCount, relationship.isOptional ? 0 : 1)
    for owner in owners.sorted() {
      let count = Int(counts[owner] ?? 0)
      if count == 0, relationship.isOptional { continue }
      if count < minimum || relationship.maximumCount > 0 && count > relationship.maximumCount {
        throw Failure(
          .validation,
          "'\(relationship.qualifiedName)' of \(relationship.entity.name) \(owner) would have \(count) objects, "
            + "and \(count < minimum ? "needs at least \(minimum)" : "may have at most \(relationship.maximumCount)"). "
            + "Nothing was changed.", about: .row(owner, of: relationship.entity, relationship),
          broken: BrokenRule(count < minimum ? .tooFew : .tooMany, value: .integer(Int64(count))))
      }
    }
  }

  // MARK: SQL

  /// Runs a statement whose one parameter is a list of keys.
  func run(_ sql: String, _ ids: some Collection<Int64>) throws(Failure) {
    if ids.isEmpty { return }
    let statement = try connection.statement(sql)
    try statement.bind(IDList.argument(ids), at: 1)
    try statement.run()
  }

  /// Key and entity of the rows that a statement selects, whose first parameter is a list of keys.
  func rows(
    _ sql: String, _ ids: some Collection<Int64>, _ arguments: [Value] = []
  ) throws(Failure) -> [RowIdentifier] {
    if ids.isEmpty { return [] }
    let statement = try connection.statement(sql)
    try statement.bind(IDList.argument(ids), at: 1)
    for (place, argument) in arguments.enumerated() { try statement.bind(argument, at: place + 2) }
    var rows: [RowIdentifier] = []
    while try statement.step() {
      rows.append(
        RowIdentifier(id: statement.integer(at: 0), entity: Int32(truncatingIfNeeded: statement.integer(at: 1))))
    }
    return rows
  }

  /// The rows that a relationship of any of these rows refers to.
  func destinations(_ relationship: Relationship, of ids: some Collection<Int64>) throws(Failure) -> [RowIdentifier] {
    let path = try RelationshipSQL(relationship, schema: schema)
    let step = path.join(from: "o.value", step: 1)
    return try rows(
      "SELECT DISTINCT d.Z_PK, d.Z_ENT FROM json_each(?) o\(step.joins) JOIN \(path.table) d ON d.Z_PK = \(step.key) "
        + "ORDER BY d.Z_PK", ids)
  }

  /// To be called after a statement that was to touch all of these rows, none of which then meets the condition. A
  /// trigger may have had some ignored, or have done the same before.
  func checkIgnored(_ ids: [Int64], _ entity: Entity, _ condition: String, doing: String) throws(Failure) {
    if connection.changes >= ids.count { return }
    let table = schema.table(of: entity)
    let left = try rows("SELECT Z_PK, Z_ENT FROM \(table) WHERE Z_PK IN (\(IDList.sql)) AND \(condition)", ids)
    if let first = left.first { throw connection.ignoredFailure(table, doing: "\(doing) \(entity.name) \(first.id)") }
  }

  /// Empties a to-one relationship of these rows.
  func empty(_ relationship: Relationship, of holders: [RowIdentifier]) throws(Failure) {
    guard let first = holders.first else { return }
    if !relationship.isOptional {
      throw Failure(
        .validation,
        "'\(relationship.qualifiedName)' of \(relationship.entity.name) \(first.id) is mandatory and would be left "
          + "without a value. Nothing was changed.", about: .row(first.id, of: relationship.entity, relationship),
        broken: BrokenRule(.mandatory, value: .nil))
    }
    let columns = schema.toOne(relationship)
    let names = [columns.key, columns.destinationEntity, columns.order].compactMap(\.self)
    let assignments = names.map { "\($0) = NULL" }.joined(separator: ", ")
    try run(
      "UPDATE \(schema.table(of: relationship.entity)) SET \(assignments) WHERE Z_PK IN (\(IDList.sql))",
      holders.map(\.id))
    try checkIgnored(
      holders.map(\.id), relationship.entity, "\(columns.key) IS NOT NULL", doing: "empty '\(relationship.name)' of")
    touch(holders)
  }
}
