/// Turns SQLite's word that a rule was broken into which objects disagree about what.
extension SaveSession {
  func explain(_ failure: Failure, inserting insert: SaveRequest.Insert, id: Int64) throws(Failure) -> Failure {
    if failure.kind != .constraint { return failure }
    return try explain(
      failure, entity: insert.entity, id: id, values: insert.values, subject: "the new \(insert.entity.name)")
  }

  func explain(_ failure: Failure, updating update: SaveRequest.Update) throws(Failure) -> Failure {
    if failure.kind != .constraint { return failure }
    let rows = try store.newest.rows(root: update.entity.root, ids: [update.id])
    guard let row = rows.first else { return failure }
    var values = row.values
    for change in update.changes where values.indices.contains(change.slot) { values[change.slot] = change.value }
    return try explain(
      failure, entity: update.entity, id: update.id, values: values, subject: "\(update.entity.name) \(update.id)")
  }

  private func explain(
    _ failure: Failure, entity: Entity, id: Int64, values: ContiguousArray<Value>, subject: String
  ) throws(Failure) -> Failure {
    for declaring in entity.root.subtree {
      for names in declaring.uniquenessConstraints {
        // An entity below or beside this one counts where the properties are inherited from a common ancestor.
        let columns = [declaring, entity].map { each in
          names.map { each.propertiesByName[$0].flatMap(schema.valueColumn(of:)) }
        }
        guard columns[0] == columns[1],
          let other = try holder(of: names, entity: entity, values: values, except: id)
        else { continue }
        let described = names.map { name in
          "\(name) \(describe(entity.propertiesByName[name].map { values[$0.slot] } ?? .nil))"
        }
        return Failure(
          .constraint,
          "Entity '\(declaring.name)' must be unique by \(names.joined(separator: ", ")): \(subject) "
            + "has \(described.joined(separator: ", ")), and so has \(other). Change one of them.",
          about: .row(id, of: entity, names.count == 1 ? entity.propertiesByName[names[0]] : nil),
          databaseCode: failure.databaseCode)
      }
    }
    return failure
  }

  /// The name of the row that already has these values; nil when there is none.
  private func holder(
    of names: [String], entity: Entity, values: ContiguousArray<Value>, except id: Int64
  ) throws(Failure) -> String? {
    var conditions = ["Z_PK <> ?"]
    var arguments: [Value] = [.integer(id)]
    for name in names {
      guard let property = entity.propertiesByName[name], let column = schema.valueColumn(of: property)
      else { return nil }
      var value = values[property.slot]
      if case .object(let box) = value { value = .integer(try permanent(box.reference, for: property).id) }
      if value.isNil { return nil }
      conditions.append("\(property.externalColumn?.sql(column, key: "Z_PK") ?? column) = ?")
      arguments.append(value)
    }
    let table = schema.table(of: entity)
    let statement = try connection.statement(
      "SELECT Z_PK, Z_ENT FROM \(table) WHERE \(conditions.joined(separator: " AND ")) LIMIT 1")
    for (place, argument) in arguments.enumerated() { try statement.bind(argument, at: place + 1) }
    guard try statement.step() else { return nil }
    let other = statement.integer(at: 0)
    let name = Int(exactly: statement.integer(at: 1)).flatMap { store.model.entity(numbered: $0) }?.name ?? entity.name
    let isNew = insert(at: ObjectReference(root: entity.rootNumber, id: other)) != nil
    return isNew ? "another new \(name)" : "\(name) \(other)"
  }

  private func describe(_ value: Value) -> String {
    switch value {
    case .object(let box): "\(rootName(box.reference)) \(box.reference.id)"
    default: value.written
    }
  }
}
