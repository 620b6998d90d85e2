extension BatchSession {
  /// Deletes rows by the delete rules of their relationships.
  func delete(_ rows: ContiguousArray<RowIdentifier>) throws(Failure) {
    let doomed = try withCascades(rows)
    let groups = groups(doomed.rows)
    for (entity, ids) in groups { try checkDeny(entity, ids, doomed) }
    for (entity, ids) in groups { try release(entity, ids, doomed) }
    try releaseUnknowing(doomed)
    noteOwnersLosingMembers(
      try schema.ownersLosingMembers(
        by: Dictionary(uniqueKeysWithValues: doomed.roots.map { ($0, doomed.ids(root: $0)) }), on: connection))
    for (entity, ids) in groups {
      try store.noteReplacedFiles(of: ids, entity: entity, entity.properties, on: connection)
      try store.history.noteDeletion(of: ids, entity, on: connection)
    }
    for root in doomed.roots {
      guard let entity = store.model.entity(numbered: root) else { continue }
      let ids = doomed.ids(root: root)
      try run("DELETE FROM \(schema.table(of: entity)) WHERE Z_PK IN (\(IDList.sql))", ids)
      try checkIgnored(ids, entity, "1", doing: "delete")
    }
    for (entity, ids) in groups {
      for relationship in entity.relationships where relationship.isToMany && !relationship.isTransient {
        for sql in try RelationshipSQL(relationship, schema: schema).detachments(many: true) { try run(sql, ids) }
      }
    }
    try finish(updated: EmptyCollection(), deleted: doomed)
  }

  /// The rows with all that their relationships take along.
  private func withCascades(_ rows: ContiguousArray<RowIdentifier>) throws(Failure) -> DoomedRows {
    var doomed = DoomedRows()
    var found = rows
    while !found.isEmpty {
      var fresh: ContiguousArray<RowIdentifier> = []
      for row in found {
        if let entity = entity(of: row), doomed.insert(row, root: entity.rootNumber) { fresh.append(row) }
      }
      found = []
      for (entity, ids) in groups(fresh) {
        for relationship in entity.relationships
        where relationship.deleteRule == .cascade && !relationship.isTransient {
          found += try destinations(relationship, of: ids)
        }
      }
    }
    return doomed
  }

  private func groups(_ rows: ContiguousArray<RowIdentifier>) -> [(entity: Entity, ids: [Int64])] {
    var ids: [Int32: [Int64]] = [:]
    for row in rows { ids[row.entity, default: []].append(row.id) }
    return ids.sorted { $0.key < $1.key }.compactMap { number, ids in
      store.model.entity(numbered: Int(number)).map { ($0, ids) }
    }
  }

  /// The remaining destinations of a relationship.
  private func remaining(
    _ relationship: Relationship, of ids: [Int64], _ doomed: DoomedRows
  ) throws(Failure) -> [RowIdentifier] {
    let root = relationship.destination.rootNumber
    return try destinations(relationship, of: ids).filter { !doomed.contains(root, $0.id) }
  }

  private func checkDeny(_ entity: Entity, _ ids: [Int64], _ doomed: DoomedRows) throws(Failure) {
    for relationship in entity.relationships where relationship.deleteRule == .deny && !relationship.isTransient {
      let others = try remaining(relationship, of: ids, doomed)
      guard let other = others.first else { continue }
      throw Failure(
        .validation,
        "'\(relationship.qualifiedName)' denies the deletion of what holds objects that stay, such as "
          + "\(relationship.destination.name) \(other.id). Nothing was deleted.", about: .property(relationship),
        broken: BrokenRule(.denied, value: .integer(Int64(others.count))))
    }
  }

  /// Empties references of remaining rows to these rows where the rule is to nullify.
  private func release(_ entity: Entity, _ ids: [Int64], _ doomed: DoomedRows) throws(Failure) {
    for relationship in entity.relationships where relationship.deleteRule == .nullify && !relationship.isTransient {
      guard let inverse = relationship.inverse, !inverse.isTransient else { continue }
      let others = try remaining(relationship, of: ids, doomed)
      if inverse.isToMany { noteMembershipChange(inverse, others) } else { try empty(inverse, of: others) }
    }
  }

  /// To-one relationships without inverse, of which the deleted objects know nothing.
  private func releaseUnknowing(_ doomed: DoomedRows) throws(Failure) {
    let roots = Set(doomed.roots)
    for relationship in store.model.numberedEntities.flatMap(\.ownRelationships)
    where !relationship.isToMany && !relationship.isTransient && relationship.isOptional
      && relationship.inverse == nil && roots.contains(relationship.destination.rootNumber)
    {
      let root = relationship.entity.rootNumber
      let key = schema.toOne(relationship).key
      let holders = try rows(
        "SELECT Z_PK, Z_ENT FROM \(schema.table(of: relationship.entity)) WHERE \(key) IN (\(IDList.sql))",
        doomed.ids(root: relationship.destination.rootNumber))
      try empty(relationship, of: holders.filter { !doomed.contains(root, $0.id) })
    }
  }
}
