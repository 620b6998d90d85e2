extension Schema {
  /// The objects that lose members when these rows, by root, are deleted, and that no delete rule leads to. They are
  /// the owners in to-many relationships without inverse. Valid only while the rows are still there.
  func ownersLosingMembers(
    by ids: [Int: [Int64]], on connection: Connection
  ) throws(Failure) -> [(relationship: Relationship, owners: [RowIdentifier])] {
    var found: [(relationship: Relationship, owners: [RowIdentifier])] = []
    for relationship in model.numberedEntities.flatMap(\.ownRelationships)
    where relationship.isToMany && relationship.inverse == nil && !relationship.isTransient {
      guard let ids = ids[relationship.destination.rootNumber] else { continue }
      let key = ownerColumns(of: relationship).key
      let statement = try connection.statement(
        "SELECT DISTINCT \(key) FROM \(table(of: relationship.destination)) "
          + "WHERE Z_PK IN (\(IDList.sql)) AND \(key) NOT NULL")
      try statement.bind(IDList.argument(ids), at: 1)
      var owners: [RowIdentifier] = []
      while try statement.step() {
        owners.append(RowIdentifier(id: statement.integer(at: 0), entity: Int32(relationship.entity.number)))
      }
      if !owners.isEmpty { found.append((relationship, owners)) }
    }
    return found
  }
}
