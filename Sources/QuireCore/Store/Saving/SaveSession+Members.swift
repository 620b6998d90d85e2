/// Members of to-many relationships that rows do not name themselves: pairs, owner keys and order.
extension SaveSession {
  func removeMembers() throws(Failure) {
    for change in request.toManyChanges where !change.removed.isEmpty {
      guard let path = try path(change), !change.owner.isTemporary else { continue }
      let statements = path.removals
      for member in change.removed where !member.isTemporary {
        for sql in statements {
          let statement = try connection.statement(sql)
          try statement.bind(change.owner.id, at: 1)
          try statement.bind(member.id, at: 2)
          try statement.run()
        }
        guard case .pairs(let pairs) = path.storage else { continue }
        if try exists(change.owner, member, path) {
          throw connection.ignoredFailure(
            pairs.name,
            doing: "take \(change.relationship.destination.name) \(member.id) out of "
              + "'\(change.relationship.qualifiedName)'")
        }
      }
    }
  }

  /// Whether the pair is in the join table of a relationship.
  private func exists(
    _ owner: ObjectReference, _ member: ObjectReference, _ path: RelationshipSQL
  ) throws(Failure) -> Bool {
    let exists = try connection.statement(path.pairExists)
    try exists.bind(owner.id, at: 1)
    try exists.bind(member.id, at: 2)
    return try exists.step()
  }

  func addMembers() throws(Failure) {
    for change in request.toManyChanges where !change.added.isEmpty {
      guard let path = try path(change) else { continue }
      let owner = try permanent(change.owner, for: change.relationship)
      try checkOwner(owner, of: change.relationship)
      for reference in change.added {
        let member = try permanent(reference, for: change.relationship)
        _ = try entityNumber(of: member, for: change.relationship)
        switch path.storage {
        case .owner: break
        case .destination(let key, let order):
          if change.relationship.inverse == nil { try adopt(member, by: owner, path, key: key, order: order) }
        case .pairs(let pairs): try pair(owner, member, path, pairs)
        }
      }
    }
  }

  func writeOrders() throws(Failure) {
    for change in request.toManyChanges {
      guard let order = change.order, let path = try path(change) else { continue }
      guard change.relationship.isOrdered else {
        throw Failure(
          .invalidArgument,
          "Relationship '\(change.relationship.qualifiedName)' is not ordered, so that its members cannot be put in "
            + "order.",
          about: .property(change.relationship))
      }
      let owner = try permanent(change.owner, for: change.relationship)
      var wanted: [Int64] = []
      for reference in order { wanted.append(try permanent(reference, for: change.relationship).id) }
      try write(wanted, orderOf: path, owner: owner)
    }
  }

  /// nil for a transient relationship, of which nothing is stored.
  private func path(_ change: SaveRequest.ToManyChange) throws(Failure) -> RelationshipSQL? {
    let relationship = change.relationship
    guard relationship.isToMany else {
      throw Failure(
        .invalidArgument,
        "Relationship '\(relationship.qualifiedName)' is to-one: "
          + "its value belongs to the row of the object that has it.", about: .property(relationship))
    }
    guard change.owner.root == relationship.entity.rootNumber else {
      throw Failure(
        .invalidArgument,
        "Relationship '\(relationship.qualifiedName)' belongs to objects of '\(relationship.entity.name)', "
          + "not of '\(rootName(change.owner))'.", about: .property(relationship))
    }
    return relationship.isTransient ? nil : try RelationshipSQL(relationship, schema: schema)
  }

  private func checkOwner(_ owner: ObjectReference, of relationship: Relationship) throws(Failure) {
    if try entityNumber(of: owner) < 0 {
      throw Failure(
        .conflict,
        "\(relationship.entity.name) \(owner.id), whose '\(relationship.name)' changed, "
          + "is no longer in the store. Refresh it.", about: .row(owner.id, of: relationship.entity, relationship))
    }
  }

  private func adopt(
    _ member: ObjectReference, by owner: ObjectReference, _ path: RelationshipSQL, key: String, order: String?
  ) throws(Failure) {
    let former = try connection.statement("SELECT \(key) FROM \(path.table) WHERE Z_PK = ?1 AND \(key) <> ?2")
    try former.bind(member.id, at: 1)
    try former.bind(owner.id, at: 2)
    if try former.step() {
      let row = RowIdentifier(id: former.integer(at: 0), entity: Int32(path.relationship.entity.number))
      ownersLosingMembers.append((path.relationship, [row]))
    }
    // A row that stays with its owner keeps its place.
    let place = order.map { ", \($0) = CASE WHEN \(key) = ?1 THEN \($0) ELSE ?3 END" } ?? ""
    let statement = try connection.statement("UPDATE \(path.table) SET \(key) = ?1\(place) WHERE Z_PK = ?2")
    try statement.bind(owner.id, at: 1)
    try statement.bind(member.id, at: 2)
    if order != nil { try statement.bind(try nextOrderKey(path, owner: owner), at: 3) }
    try statement.run()
    // A row that is gone has been noted as missing.
    if connection.changes == 0, try entityNumber(of: member) >= 0 { throw ignored(member, path, path.table) }
  }

  private func ignored(_ member: ObjectReference, _ path: RelationshipSQL, _ table: String) -> Failure {
    let relationship = path.relationship
    return connection.ignoredFailure(
      table, doing: "put \(relationship.destination.name) \(member.id) into '\(relationship.qualifiedName)'")
  }

  private func pair(
    _ owner: ObjectReference, _ member: ObjectReference, _ path: RelationshipSQL, _ pairs: Schema.JoinTable
  ) throws(Failure) {
    if try exists(owner, member, path) { return }
    var names = [pairs.ownerColumn, pairs.destinationColumn]
    var keys = [owner.id, member.id]
    if let order = pairs.orderColumn {
      names.append(order)
      keys.append(try nextOrderKey(path, owner: owner))
    }
    if let order = pairs.inverseOrderColumn, let inverse = path.relationship.inverse {
      names.append(order)
      keys.append(try nextOrderKey(try RelationshipSQL(inverse, schema: schema), owner: member))
    }
    let parameters = names.map { _ in "?" }.joined(separator: ", ")
    let statement = try connection.statement(
      "INSERT INTO \(pairs.name) (\(names.joined(separator: ", "))) VALUES (\(parameters))")
    for (place, key) in keys.enumerated() { try statement.bind(key, at: place + 1) }
    try statement.run()
    if connection.changes == 0, try !exists(owner, member, path) { throw ignored(member, path, pairs.name) }
  }

  /// Rewrites as few order keys as the wanted order allows. Members that it does not name, which another writer may
  /// have added, follow in the order they have.
  private func write(_ wanted: [Int64], orderOf path: RelationshipSQL, owner: ObjectReference) throws(Failure) {
    var keys: [Int64: Int64?] = [:]
    var stored: [Int64] = []
    let statement = try connection.statement("\(path.places) ORDER BY place, id")
    try statement.bind(owner.id, at: 1)
    while try statement.step() {
      let id = statement.integer(at: 0)
      keys[id] = .some(statement.isNull(at: 1) ? nil : statement.integer(at: 1))
      stored.append(id)
    }
    var placed: Set<Int64> = []
    let members = (wanted + stored).filter { keys[$0] != nil && placed.insert($0).inserted }
    let changes = OrderKeys.assign(current: members.map { keys[$0] ?? nil })
    if changes.isEmpty { return }
    for sql in path.reorderings {
      let statement = try connection.statement(sql)
      for (place, key) in changes {
        try statement.bind(owner.id, at: 1)
        try statement.bind(members[place], at: 2)
        try statement.bind(key, at: 3)
        try statement.run()
      }
    }
  }
}
