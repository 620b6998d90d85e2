/// What follows from several objects: members, orders, and whether references lead to objects that are there.
extension XMLStoreReader {
  func relate() throws(Failure) {
    for list in members.values.sorted(by: { $0.relationship.qualifiedName < $1.relationship.qualifiedName }) {
      let relationship = list.relationship
      let storage = try RelationshipSQL(relationship, schema: schema).storage
      switch storage {
      case .owner: break
      case .destination(let key, let order): try relate(list, key: key, order: order)
      case .pairs(let pairs): try pair(list, pairs)
      }
    }
    for entity in schema.model.numberedEntities {
      for relationship in entity.ownRelationships where !relationship.isTransient && !relationship.isToMany {
        try complete(relationship)
      }
    }
  }

  private func described(_ owner: Int64, _ relationship: Relationship) -> String {
    "'\(relationship.qualifiedName)' of the object 'z\(owner)'"
  }

  /// Fails where a member is not there, or is of another entity.
  private func checkMember(
    _ member: Int64, of owner: Int64, _ element: Int32, _ relationship: Relationship
  ) throws(Failure) {
    if try exists(member, relationship.destination) { return }
    throw scanner.damaged(
      "\(described(owner, relationship)) leads to 'z\(member)', which is no \(relationship.destination.name) in the "
        + "file",
      at: Int(element))
  }

  private func exists(_ id: Int64, _ entity: Entity) throws(Failure) -> Bool {
    let select = try connection.statement(
      "SELECT 1 FROM \(schema.table(of: entity)) WHERE Z_PK = ? "
        + "AND Z_ENT BETWEEN \(entity.number) AND \(entity.lastNumber)"
    )
    defer { select.reset() }
    try select.bind(id, at: 1)
    return try select.step()
  }

  /// The row of a member has the key of its owner. Where the member names its owner itself, both must say the same.
  private func relate(_ list: Members, key: String, order: String?) throws(Failure) {
    let relationship = list.relationship, destination = relationship.destination
    let place = order.map { ", \($0) = ?3" } ?? ""
    let update = try connection.statement(
      "UPDATE \(schema.table(of: destination)) SET \(key) = ?1\(place) "
        + "WHERE Z_PK = ?2 AND Z_ENT BETWEEN \(destination.number) AND \(destination.lastNumber) "
        + "AND ifnull(\(key), ?1) = ?1", isKept: false)
    for (owner, element, range) in list.owners {
      for (place, member) in list.members[range].enumerated() {
        try update.bind(owner, at: 1)
        try update.bind(member, at: 2)
        if order != nil { try update.bind(Int64(place + 1) * OrderKeys.spacing, at: 3) }
        do throws(Failure) { try update.run() } catch {
          if error.kind != .constraint { throw error }
          throw scanner.damaged(
            "'z\(member)' has values that are to be unique, and that another object has", at: Int(element))
        }
        if connection.changes > 0 { continue }
        try checkMember(member, of: owner, element, relationship)
        if relationship.inverse == nil {
          throw Failure(
            .unsupported,
            "The XML store '\(path)' cannot be opened: line \(scanner.line(of: Int(element))): "
              + "\(described(owner, relationship)) leads to 'z\(member)', to which another object leads as "
              + "well. In this version an object has one owner by a relationship without inverse.",
            about: .property(relationship))
        }
        throw scanner.damaged(
          "\(described(owner, relationship)) leads to 'z\(member)', which belongs to another object", at: Int(element))
      }
    }
  }

  private func pair(_ list: Members, _ pairs: Schema.JoinTable) throws(Failure) {
    let relationship = list.relationship
    for (owner, element, range) in list.owners {
      for (place, member) in list.members[range].enumerated() {
        try checkMember(member, of: owner, element, relationship)
        let key = Int64(place + 1) * OrderKeys.spacing
        // One that is its own inverse has each pair once.
        let isTurned = pairs.isReflexive && member < owner
        var columns = [pairs.ownerColumn, pairs.destinationColumn]
        var values = isTurned ? [member, owner] : [owner, member]
        if let order = isTurned ? pairs.inverseOrderColumn : pairs.orderColumn {
          columns.append(order)
          values.append(key)
        }
        if pairs.isReflexive, owner == member, let order = pairs.inverseOrderColumn {
          columns.append(order)
          values.append(key)
        }
        let orders = columns.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let insert = try connection.statement(
          "INSERT INTO \(pairs.name) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", "))) "
            + "ON CONFLICT (\(columns[0]), \(columns[1])) DO \(orders.isEmpty ? "NOTHING" : "UPDATE SET \(orders)")")
        for (place, value) in values.enumerated() { try insert.bind(value, at: place + 1) }
        try insert.run()
      }
    }
  }

  /// A to-one relationship leads to an object that is there. Its row has the number of that object's entity, where
  /// there may be several.
  private func complete(_ relationship: Relationship) throws(Failure) {
    let columns = schema.toOne(relationship), destination = relationship.destination
    let table = schema.table(of: relationship.entity)
    let select = try connection.statement(
      "SELECT o.Z_PK, o.\(columns.key) FROM \(table) o WHERE o.\(columns.key) IS NOT NULL AND NOT EXISTS "
        + "(SELECT 1 FROM \(schema.table(of: destination)) d WHERE d.Z_PK = o.\(columns.key) "
        + "AND d.Z_ENT BETWEEN \(destination.number) AND \(destination.lastNumber)) LIMIT 1", isKept: false)
    if try select.step() {
      let owner = select.integer(at: 0)
      throw damaged(
        "\(described(owner, relationship)) leads to 'z\(select.integer(at: 1))', which is no \(destination.name) in "
          + "the file", object: owner)
    }
    if let number = columns.destinationEntity {
      try connection.execute(
        "UPDATE \(table) SET \(number) = (SELECT d.Z_ENT FROM \(schema.table(of: destination)) d "
          + "WHERE d.Z_PK = \(table).\(columns.key)) WHERE \(columns.key) IS NOT NULL")
    }
  }
}
