extension BatchSession {
  /// A column with the value that it is to get.
  private struct Assignment {
    let column: String
    let value: Value
  }

  /// Sets properties of rows of `entity` to the same values, which fit them, and others each to one of its own. Rows
  /// that have the values already are left as they are.
  func update(
    _ matched: ContiguousArray<RowIdentifier>, of entity: Entity, to changes: [(property: Property, value: Value)],
    _ computed: [ComputedValues]
  ) throws(Failure) {
    let ids = matched.map(\.id)
    var assignments: [Assignment] = [], companions: [String] = []
    var companionValues: [Value] = []
    // Each row names a file of its own.
    var external = computed.filter { $0.attribute.externalColumn != nil }
    var orders: [(relationship: Relationship, owner: ObjectReference, rows: [RowIdentifier])] = []
    for (property, value) in changes {
      guard let column = schema.valueColumn(of: property) else { continue }
      guard let relationship = property as? Relationship else {
        if property.externalColumn != nil, let attribute = property as? Attribute {
          external.append(ComputedValues(attribute: attribute, values: Array(repeating: value, count: ids.count)))
          continue
        }
        assignments.append(Assignment(column: column, value: value))
        continue
      }
      let target = try target(value, of: relationship)
      let key = Assignment(column: column, value: target.map { .integer($0.reference.id) } ?? .nil)
      let moving = try differing([key], among: ids, of: entity)
      try prepareInverse(relationship, moving: moving, to: target)
      assignments.append(key)
      let columns = schema.toOne(relationship)
      if let destinationEntity = columns.destinationEntity {
        companions.append("\(destinationEntity) = ?")
        companionValues.append(target.map { .integer(Int64($0.row.entity)) } ?? .nil)
      }
      if let order = columns.order {
        // A row that stays with its owner keeps its place; the others are put at the end below.
        companions.append("\(order) = CASE WHEN \(columns.key) IS ? THEN \(order) END")
        companionValues.append(key.value)
        if let target { orders.append((relationship, target.reference, moving)) }
      }
    }
    let changed = assignments.isEmpty ? [] : try differing(assignments, among: ids, of: entity)
    let plain = computed.filter { $0.attribute.externalColumn == nil }
    var vacated: Set<Int64>?
    do throws(Failure) { try write(assignments, companions, companionValues, to: changed, of: entity) } catch {
      // A value that is taken may be one of those that are calculated.
      if error.databaseCode != ResultCode.notUnique || plain.isEmpty { throw error }
      vacated = try vacate(plain, of: matched, of: entity)
      try write(assignments, companions, companionValues, to: changed, of: entity)
    }
    for (relationship, owner, rows) in orders { try place(rows, behind: owner, relationship) }
    var advanced = Set(changed.map(\.id)), updated = changed
    func note(_ others: [RowIdentifier]) {
      for row in others where advanced.insert(row.id).inserted { updated.append(row) }
    }
    note(try write(plain, to: matched, of: entity, advanced: advanced, vacated: vacated))
    for column in external { note(try writeData(column, to: matched, of: entity, advanced: advanced)) }
    try finish(updated: updated, deleted: DoomedRows())
  }

  /// The rows that have another value in one of the columns.
  private func differing(
    _ assignments: [Assignment], among ids: [Int64], of entity: Entity
  ) throws(Failure) -> [RowIdentifier] {
    let conditions = assignments.map { "\($0.column) IS NOT ?" }.joined(separator: " OR ")
    return try rows(
      "SELECT Z_PK, Z_ENT FROM \(schema.table(of: entity)) WHERE Z_PK IN (\(IDList.sql)) AND (\(conditions)) "
        + "ORDER BY Z_PK", ids, assignments.map(\.value))
  }

  private func write(
    _ assignments: [Assignment], _ companions: [String], _ companionValues: [Value], to rows: [RowIdentifier],
    of entity: Entity
  ) throws(Failure) {
    if rows.isEmpty { return }
    let written = ([BatchSession.nextVersion] + assignments.map { "\($0.column) = ?" } + companions)
      .joined(separator: ", ")
    let statement = try connection.statement(
      "UPDATE \(schema.table(of: entity)) SET \(written) WHERE Z_PK IN (\(IDList.sql))")
    let arguments = assignments.map(\.value) + companionValues + [IDList.argument(rows.map(\.id))]
    for (place, argument) in arguments.enumerated() { try statement.bind(argument, at: place + 1) }
    try run(statement, updating: entity)
    if connection.changes < rows.count,
      let left = try differing(assignments, among: rows.map(\.id), of: entity).first
    {
      throw connection.ignoredFailure(schema.table(of: entity), doing: "update \(entity.name) \(left.id)")
    }
  }

  // MARK: To-one relationships

  private typealias Target = (reference: ObjectReference, row: RowIdentifier)

  /// The saved object that a to-one relationship is to hold.
  private func target(_ value: Value, of relationship: Relationship) throws(Failure) -> Target? {
    guard case .object(let box) = value else { return nil }
    let reference = box.reference
    let session = SaveSession(request: SaveRequest(), store: store, connection: connection)
    let number = try session.entityNumber(of: reference, for: relationship)
    try session.throwConflicts()
    return (reference, RowIdentifier(id: reference.id, entity: Int32(truncatingIfNeeded: number)))
  }

  /// Sees to the other side of a relationship that `moving` are about to have hold `target`.
  private func prepareInverse(
    _ relationship: Relationship, moving: [RowIdentifier], to target: Target?
  ) throws(Failure) {
    guard let inverse = relationship.inverse, !inverse.isTransient, !moving.isEmpty else { return }
    let before = try destinations(relationship, of: moving.map(\.id))
    if inverse.isToMany {
      noteMembershipChange(inverse, before + (target.map { [$0.row] } ?? []))
      return
    }
    if target != nil {
      throw Failure(
        .unsupported,
        "'\(relationship.qualifiedName)' is to-one on both sides; a batch request can empty it, but not have several "
          + "objects hold one. Set it on the object.", about: .property(relationship))
    }
    try empty(inverse, of: before)
  }

  /// Puts rows at the end of an ordered list, in the order of their keys.
  private func place(
    _ rows: [RowIdentifier], behind owner: ObjectReference, _ relationship: Relationship
  ) throws(Failure) {
    guard let inverse = relationship.inverse, let order = schema.toOne(relationship).order else { return }
    let session = SaveSession(request: SaveRequest(), store: store, connection: connection)
    let path = try RelationshipSQL(inverse, schema: schema)
    let statement = try connection.statement(
      "UPDATE \(schema.table(of: relationship.entity)) SET \(order) = ? WHERE Z_PK = ?")
    for row in rows {
      try connection.mayGoOn()
      try statement.bind(try session.nextOrderKey(path, owner: owner), at: 1)
      try statement.bind(row.id, at: 2)
      try statement.run()
    }
  }
}
