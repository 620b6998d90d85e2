extension SQLiteMoment {
  /// The rows with these keys in the table of `root`, by key; ids without a row are left out.
  func rows(root: Entity, ids: [Int64]) throws(Failure) -> [Row] {
    guard let first = ids.first else { return [] }
    let layout = layouts.layout(of: root, includesSubentities: true)
    return try withConnection { connection throws(Failure) in
      // One statement over a list takes half the time of a statement for each id.
      let isOne = ids.count == 1
      let statement = try connection.statement(isOne ? layout.selectOne : layout.selectMany)
      if isOne { try statement.bind(first, at: 1) } else { try statement.bind(IDList.argument(ids), at: 1) }
      return try layout.rows(from: statement)
    }
  }

  /// Stands at the rows with these keys one after the other, in the order of `ids`; ids without a row are left out.
  /// False, and nothing is read, where one of the properties has no column.
  func read(
    _ properties: [Property], root: Entity, ids: [Int64], _ body: (any RowScan) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    let layout = layouts.layout(of: root, includesSubentities: true)
    var columns = "SELECT t0.Z_PK, t0.Z_ENT", types: [StoredType] = []
    for property in properties {
      guard let (name, type) = layout.column(of: property) else { return false }
      columns += ", t0.\(name)"
      types.append(type.keyed(at: 0))
    }
    if let range = ids.denseRange {
      let from = "\(layout.table) t0 WHERE t0.Z_PK BETWEEN ? AND ? ORDER BY t0.Z_PK"
      try withConnection { connection throws(Failure) in
        let statement = try connection.statement("\(columns) FROM \(from)")
        try statement.bind(range.lowerBound, at: 1)
        try statement.bind(range.upperBound, at: 2)
        var place = 0
        try SQLiteRowScan.run(statement, properties, types, layout, connection) { row throws(Failure) in
          let id = row.id
          while place < ids.count, ids[place] < id { place += 1 }
          if place == ids.count { return false }
          if ids[place] != id { return true }
          place += 1
          try body(row)
          return true
        }
      }
      return true
    }
    // In the order of the list, which takes no table of what is in it, as IN does.
    let from = "json_each(?) ids CROSS JOIN \(layout.table) t0 ON t0.Z_PK = ids.value"
    try withConnection { connection throws(Failure) in
      let statement = try connection.statement("\(columns) FROM \(from)")
      try statement.bind(IDList.argument(ids), at: 1)
      try SQLiteRowScan.run(statement, properties, types, layout, connection) { row throws(Failure) in
        try body(row)
        return true
      }
    }
    return true
  }

  /// The rows that a relationship of the saved object `id` refers to: an ordered relationship in its order, any other
  /// by primary key.
  func relatedIDs(
    _ relationship: Relationship, of id: Int64
  ) throws(Failure) -> ContiguousArray<RowIdentifier> {
    let path = try RelationshipSQL(relationship, schema: schema)
    let layout = layouts.layout(of: relationship.destination, includesSubentities: true)
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(path.destinations)
      try statement.bind(id, at: 1)
      return try layout.identifiers(from: statement)
    }
  }

  /// The same for any number of saved objects in one statement: owner by owner, with the rows themselves, each once.
  func members(
    of relationship: Relationship, owners: [Int64]
  ) throws(Failure) -> (members: [(owner: Int64, id: Int64)], rows: [Row]) {
    let path = try RelationshipSQL(relationship, schema: schema)
    let layout = layouts.layout(of: relationship.destination, includesSubentities: true)
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(path.destinationsOfMany(layout.columns))
      try statement.bind(IDList.argument(owners), at: 1)
      let last = statement.columnCount - 1
      var members: [(owner: Int64, id: Int64)] = []
      var rows: [Row] = []
      // Only in a join table a row has several owners.
      var seen: Set<Int64> = []
      while try statement.step() {
        let id = statement.integer(at: 0)
        members.append((statement.integer(at: last), id))
        if !relationship.isManyToMany || seen.insert(id).inserted { rows.append(try layout.row(from: statement)) }
      }
      return (members, rows)
    }
  }

  /// The saved rows of `entity` (and those below it) from which `keyPath` reaches one of `references`, by key.
  ///
  /// Any relationship may be in the path. Temporary references and those into other tables reach nothing.
  func ids(
    reaching references: [ObjectReference], along keyPath: [Relationship], from entity: Entity
  ) throws(Failure) -> [Int64] {
    guard let last = keyPath.last else {
      throw Failure(.invalidArgument, "A path from '\(entity.name)' to other objects needs at least one relationship.")
    }
    let root = last.destination.rootNumber
    let targets = references.filter { $0.root == root && !$0.isTemporary }.map(\.id)
    if targets.isEmpty { return [] }
    var source = "\(schema.table(of: entity)) t0", key = "t0.Z_PK"
    for (depth, relationship) in keyPath.enumerated() {
      let step = try RelationshipSQL(relationship, schema: schema).join(from: key, step: depth + 1)
      source += step.joins
      key = step.key
    }
    var conditions = ["\(key) IN (\(IDList.sql))"]
    if let condition = FetchSQL.entityCondition(entity, includesSubentities: true, "t0")?.sql {
      conditions.append(condition)
    }
    let sql = "SELECT DISTINCT t0.Z_PK FROM \(source) WHERE \(conditions.joined(separator: " AND ")) ORDER BY t0.Z_PK"
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql)
      try statement.bind(IDList.argument(targets), at: 1)
      var ids: [Int64] = []
      while try statement.step() { ids.append(statement.integer(at: 0)) }
      return ids
    }
  }

  /// The ids that rows have, in no order.
  func usedIDs(_ ids: [Int64], root: Entity) throws(Failure) -> [Int64] {
    guard let first = ids.min(), let last = ids.max() else { return [] }
    return try withConnection { connection throws(Failure) in
      let select = "SELECT Z_PK FROM \(schema.table(of: root)) WHERE Z_PK"
      // New ids follow each other; others may lie far apart, with many rows between them.
      let isDense = last &- first < Int64(ids.count) &* 4
      let statement = try connection.statement(isDense ? "\(select) BETWEEN ? AND ?" : "\(select) IN (\(IDList.sql))")
      try statement.bind(isDense ? .integer(first) : IDList.argument(ids), at: 1)
      if isDense { try statement.bind(last, at: 2) }
      var used: Set<Int64> = []
      while try statement.step() { used.insert(statement.integer(at: 0)) }
      return used.isEmpty ? [] : ids.filter(used.contains)
    }
  }

  /// The row that has these values.
  func row(with key: UniqueKey, of constraint: UniquenessConstraint) throws(Failure) -> Row? {
    let layout = layouts.layout(of: constraint.entity.root, includesSubentities: true)
    let sql = schema.select(constraint, layout)
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql)
      for (place, value) in key.values.enumerated() {
        if case .object(let box) = value {
          try statement.bind(box.reference.id, at: place + 1)
        } else {
          try statement.bind(value, at: place + 1)
        }
      }
      return try statement.step() ? try layout.row(from: statement) : nil
    }
  }
}
