/// What rows of new values come to, by the uniqueness constraints of their entity.
struct Upsert {
  fileprivate(set) var inserts: [(row: Int, values: ContiguousArray<Value>)] = []
  fileprivate var updates: [(row: Row, values: ContiguousArray<Value>)] = []
  /// For each row of the table.
  fileprivate var places: [Place] = []

  fileprivate enum Place {
    case insert(Int)
    case update(Int)
  }
}

extension BatchSession {
  /// Finds for each row of values the one in the store, or before it, that has the same unique values. Where there is
  /// one, it is to get the values of the `given` properties; otherwise a row is to be inserted.
  func upsert(
    _ rows: [ContiguousArray<Value>], of entity: Entity, given: [Property]
  ) throws(Failure) -> Upsert {
    let constraints = store.uniquenessConstraints(of: entity)
    if constraints.isEmpty {
      throw Failure(
        .invalidArgument,
        "Entity '\(entity.name)' has no uniqueness constraint, by which rows to update could be found. "
          + "Insert without updating, or add a constraint to the model.", about: .entity(entity))
    }
    var upsert = Upsert()
    var known: [UniqueKey: Upsert.Place] = [:]
    var updates: [Int64: Int] = [:]
    for (number, values) in rows.enumerated() {
      try connection.mayGoOn()
      var place: Upsert.Place?
      for constraint in constraints where place == nil {
        guard let key = UniqueKey(constraint, of: values) else { continue }
        place = known[key]
        if place != nil { continue }
        guard let row = try store.newest.row(with: key, of: constraint) else { continue }
        if let index = updates[row.id] {
          // Unless a row before has set other values.
          if UniqueKey(constraint, of: upsert.updates[index].values) == key { place = .update(index) }
          continue
        }
        guard row.entity.isKind(of: entity) else {
          throw Failure(
            .constraint,
            "Row \(number), counted from 0, has the unique values of \(row.entity.name) \(row.id), which is no "
              + "'\(entity.name)' and cannot be updated as one. Change one of them.",
            about: Offender(entityName: entity.nameText, row: number))
        }
        place = .update(upsert.updates.count)
        updates[row.id] = upsert.updates.count
        upsert.updates.append((row, row.values))
      }
      let result: ContiguousArray<Value>
      switch place {
      case .insert(let index):
        for property in given { upsert.inserts[index].values[property.slot] = values[property.slot] }
        result = upsert.inserts[index].values
      case .update(let index):
        for property in given { upsert.updates[index].values[property.slot] = values[property.slot] }
        result = upsert.updates[index].values
      case nil:
        place = .insert(upsert.inserts.count)
        upsert.inserts.append((number, values))
        result = values
      }
      guard let place else { continue }
      upsert.places.append(place)
      for constraint in constraints {
        if let key = UniqueKey(constraint, of: result) { known[key] = place }
      }
    }
    return upsert
  }

  /// Writes it, and returns the row of each row of values.
  func run(_ upsert: Upsert, of entity: Entity) throws(Failure) -> ContiguousArray<RowIdentifier> {
    var request = SaveRequest()
    for (place, insert) in upsert.inserts.enumerated() {
      request.inserts.append(SaveRequest.Insert(entity: entity, id: -1 - Int64(place), values: insert.values))
    }
    var updated: [RowIdentifier] = []
    for (row, values) in upsert.updates {
      var changes: [(slot: Int, value: Value)] = []
      for attribute in entity.attributes where !attribute.isTransient {
        let slot = attribute.slot
        if !values[slot].isIdentical(to: row.values[slot]) { changes.append((slot, values[slot])) }
      }
      if changes.isEmpty { continue }
      request.updates.append(
        SaveRequest.Update(entity: row.entity, id: row.id, expectedVersion: row.version, changes: changes))
      updated.append(RowIdentifier(id: row.id, entity: Int32(row.entity.number)))
    }
    let result = try SaveSession(request: request, store: store, connection: connection).run()
    var inserted: ContiguousArray<RowIdentifier> = []
    for insert in request.inserts {
      guard let id = result.permanentIDs[insert.reference] else { continue }
      inserted.append(RowIdentifier(id: id, entity: Int32(entity.number)))
    }
    noteInserted(inserted)
    try finish(updated: updated, deleted: DoomedRows())
    return ContiguousArray(
      upsert.places.map { place in
        switch place {
        case .insert(let index): inserted[index]
        case .update(let index):
          RowIdentifier(id: upsert.updates[index].row.id, entity: Int32(upsert.updates[index].row.entity.number))
        }
      })
  }
}
