extension SaveSession {
  /// Assigns a key to every inserted object that has none: by table, the oldest temporary id first.
  func allocate() throws(Failure) {
    var byRoot: [Int: ContiguousArray<SaveRequest.Insert>] = [:]
    var early: [Int: ContiguousArray<SaveRequest.Insert>] = [:]
    var isOfOneEntity = true
    for insert in request.inserts {
      if insert.entity.isAbstract {
        throw Failure(
          .invalidArgument,
          "Entity '\(insert.entity.name)' is abstract and has no objects. Insert one of an entity under it.",
          about: .entity(insert.entity))
      }
      guard insert.id != 0, insert.values.count == insert.entity.properties.count else {
        throw Failure(
          .invalidArgument,
          "An inserted \(insert.entity.name) needs an id other than 0 and \(insert.entity.properties.count) values; "
            + "it has id \(insert.id) and \(insert.values.count).")
      }
      if insert.id > 0 || insert.entity !== request.inserts[0].entity { isOfOneEntity = false }
    }
    if isOfOneEntity, let first = request.inserts.first {
      // Shared, since a copy of many rows takes a while.
      byRoot[first.entity.rootNumber] = request.inserts
    } else {
      for insert in request.inserts {
        if insert.id > 0 {
          early[insert.entity.rootNumber, default: []].append(insert)
        } else {
          byRoot[insert.entity.rootNumber, default: []].append(insert)
        }
      }
    }
    for (root, rows) in early { prenumbered[root] = try sorted(rows, by: <) }
    for (root, unsorted) in byRoot.sorted(by: { $0.key < $1.key }) {
      let rows = try sorted(unsorted, by: >)
      guard let entity = store.model.entity(numbered: root) else { continue }
      let first = try store.allocateIDs(root: entity, count: rows.count, on: connection)
      permanentIDs.add(root: root, temporary: ContiguousArray(rows.map(\.id)), first: first)
      numbered[root] = (first, rows)
    }
  }

  /// Keys are taken from the file before they are used, so only programs that count for themselves get in between.
  func checkReservedIDs() throws(Failure) {
    for (_, rows) in prenumbered.sorted(by: { $0.key < $1.key }) {
      guard let first = rows.first,
        let used = try store.newest.usedIDs(rows.map(\.id), root: first.entity.root).first
      else { continue }
      throw Failure(
        .conflict,
        "Could not insert \(first.entity.root.name) \(used): another program has given that key to a row, although it "
          + "was taken in Z_PRIMARYKEY. Have new objects obtain other permanent ids, and save again.",
        about: .row(used, of: first.entity),
        report: SaveConflict.taken(ObjectReference(root: first.entity.rootNumber, id: used)))
    }
  }

  /// By id, which mostly is the order that they come in.
  private func sorted(
    _ inserts: ContiguousArray<SaveRequest.Insert>, by isBefore: (Int64, Int64) -> Bool
  ) throws(Failure) -> ContiguousArray<SaveRequest.Insert> {
    var rows = inserts
    if !rows.indices.dropFirst().allSatisfy({ isBefore(rows[$0 - 1].id, rows[$0].id) }) {
      rows.sort { isBefore($0.id, $1.id) }
    }
    for place in rows.indices.dropFirst() where rows[place].id == rows[place - 1].id {
      let insert = rows[place]
      throw Failure(
        .invalidArgument, "\(insert.entity.name) \(insert.id) is inserted twice in one save. Insert it once.",
        about: .row(insert.id, of: insert.entity))
    }
    return rows
  }

  // MARK: Deletes

  /// The owners of what is to be deleted that no delete rule reaches.
  func ownersLosingMembersByDeletions() throws(Failure) -> [(relationship: Relationship, owners: [RowIdentifier])] {
    if request.deletes.isEmpty { return [] }
    let ids = Dictionary(grouping: request.deletes, by: \.entity.rootNumber).mapValues { $0.map(\.id) }
    return try schema.ownersLosingMembers(by: ids, on: connection)
  }

  /// The history keeps values of what is to be deleted.
  func noteDeletions() throws(Failure) {
    if !store.history.isKept || request.deletes.isEmpty { return }
    for (_, deletes) in Dictionary(grouping: request.deletes, by: \.entity.number) {
      guard let entity = deletes.first?.entity else { continue }
      try store.history.noteDeletion(of: deletes.map(\.id), entity, on: connection)
    }
  }

  /// In the order of the keys, which is that of the tables.
  func deleteRows() throws(Failure) {
    var current: (entity: Entity, statement: Statement, detachments: [Statement])?
    let order = request.deletes.enumerated().map { (entity: $1.entity.number, id: $1.id, place: $0) }.sorted(by: <)
    for (_, _, place) in order {
      let delete = request.deletes[place]
      if current?.entity !== delete.entity {
        let writer = try store.layouts.writer(of: delete.entity)
        current = (
          delete.entity, try connection.statement(writer.deleteSQL),
          try writer.detachments.map { sql throws(Failure) in try connection.statement(sql) }
        )
      }
      guard let (_, statement, detachments) = current else { continue }
      try statement.bind(delete.id, at: 1)
      try statement.bind(delete.expectedVersion, at: 2)
      try statement.run()
      if connection.changes == 0 {
        try noteConflict(delete.entity, id: delete.id, expected: delete.expectedVersion, doing: "delete")
        continue
      }
      for statement in detachments {
        try statement.bind(delete.id, at: 1)
        try statement.run()
      }
    }
  }

  /// No row may refer to a deleted row where a delete rule should have cleared the reference. A row that still does was
  /// added or changed by another writer after the rules were applied.
  func checkDeletedAreFree() throws(Failure) {
    var deleted: [Int: (entity: Entity, ids: [Int64])] = [:]
    for delete in request.deletes { deleted[delete.entity.number, default: (delete.entity, [])].ids.append(delete.id) }
    for (_, (entity, ids)) in deleted.sorted(by: { $0.key < $1.key }) {
      for relationship in entity.relationships where relationship.deleteRule != .noAction {
        guard let inverse = relationship.inverse, !inverse.isToMany, let key = schema.valueColumn(of: inverse) else {
          continue
        }
        let statement = try connection.statement(
          "SELECT Z_PK, \(key), Z_ENT FROM \(schema.table(of: inverse.entity)) WHERE \(key) IN (\(IDList.sql))")
        try statement.bind(IDList.argument(ids), at: 1)
        while try statement.step() {
          let id = statement.integer(at: 1), holder = statement.integer(at: 0)
          let failure = Failure(
            .conflict,
            "Could not delete \(entity.name) \(id): another writer has had "
              + "\(inverse.entity.name) \(holder) refer to it by '\(inverse.name)'. "
              + "Roll back to read what is stored now, and delete it again.",
            about: .row(id, of: entity),
            report: SaveConflict.referred(
              ObjectReference(root: entity.rootNumber, id: id),
              by: RowIdentifier(id: holder, entity: Int32(truncatingIfNeeded: statement.integer(at: 2))), relationship))
          note(failure)
        }
      }
    }
  }

  // MARK: Updates

  func updateRows() throws(Failure) {
    try vacateUniqueValues()
    // Reported only when no row has another version, because a merge has to know of those first.
    var constraintFailure: Failure?
    var slots: [Int] = []
    var current: (entity: Entity, statement: Statement)?
    for update in request.updates {
      try connection.mayGoOn(isWritten: true)
      let changes = update.changes.count < 2 ? update.changes : update.changes.sorted { $0.slot < $1.slot }
      let writer = try store.layouts.writer(of: update.entity)
      // Updates in a row mostly change the same properties of the same entity.
      if current?.entity !== update.entity || !slots.elementsEqual(changes.lazy.map(\.slot)) {
        slots = changes.map(\.slot)
        current = (update.entity, try connection.statement(try writer.updateSQL(slots: slots)))
      }
      guard let statement = current?.statement else { continue }
      var index = 1
      try statement.bind(update.savedVersion, at: index)
      for change in changes {
        guard let column = writer.column(inSlot: change.slot) else { continue }
        try bind(change.value, to: column, of: statement, at: &index, isUpdate: true)
      }
      try statement.bind(update.id, at: index + 1)
      try statement.bind(update.expectedVersion, at: index + 2)
      do throws(Failure) { try statement.run() } catch {
        if error.kind != .constraint { throw error }
        if constraintFailure == nil { constraintFailure = try explain(error, updating: update) }
        continue
      }
      if connection.changes == 0 {
        try noteConflict(update.entity, id: update.id, expected: update.expectedVersion, doing: "update")
      }
    }
    try throwConflicts()
    if let constraintFailure { throw constraintFailure }
  }

  /// Two updates may exchange a unique value, and SQLite checks row by row. All rows that are about to get new unique
  /// values therefore lose their old ones first.
  private func vacateUniqueValues() throws(Failure) {
    var affected: [Int: [(update: SaveRequest.Update, columns: [String])]] = [:]
    for update in request.updates {
      let writer = try store.layouts.writer(of: update.entity)
      if writer.constrainedSlots.isEmpty { continue }
      let columns = update.changes.filter { writer.constrainedSlots.contains($0.slot) }
        .compactMap { writer.column(inSlot: $0.slot)?.name }.sorted()
      if !columns.isEmpty { affected[update.entity.rootNumber, default: []].append((update, columns)) }
    }
    for updates in affected.values where updates.count > 1 {
      for (update, columns) in updates {
        let assignments = columns.map { "\($0) = NULL" }.joined(separator: ", ")
        let table = schema.table(of: update.entity)
        let statement = try connection.statement("UPDATE \(table) SET \(assignments) WHERE Z_PK = ?")
        try statement.bind(update.id, at: 1)
        try statement.run()
      }
    }
  }

  // MARK: Inserts

  func insertRows() throws(Failure) {
    for (_, rows) in prenumbered.sorted(by: { $0.key < $1.key }) {
      try insertRows(rows) { place in rows[place].id }
    }
    for (_, (first, rows)) in numbered.sorted(by: { $0.key < $1.key }) {
      try insertRows(rows) { place in first &+ Int64(place) }
    }
  }

  private func insertRows(_ rows: ContiguousArray<SaveRequest.Insert>, id: (Int) -> Int64) throws(Failure) {
    var current: (entity: Entity, writer: RowWriter, statement: Statement)?
    for (place, insert) in rows.enumerated() {
      try connection.mayGoOn(isWritten: true)
      if current?.entity !== insert.entity {
        let writer = try store.layouts.writer(of: insert.entity)
        current = (insert.entity, writer, try connection.statement(writer.insertSQL))
      }
      guard let (_, writer, statement) = current else { continue }
      var index = 1
      try statement.bind(id(place), at: index)
      for column in writer.columns {
        if let derived = column.derived {
          let value = derived.initialValue(of: insert.values, now: store.derivedAttributes.now)
          index += 1
          try statement.bind(value, at: index)
          if !value.isIdentical(to: insert.values[column.slot]) {
            let row = RowIdentifier(id: id(place), entity: Int32(truncatingIfNeeded: insert.entity.number))
            store.derivedAttributes.note(DerivedValue(row: row, slot: column.slot, value: value))
          }
          continue
        }
        try bind(insert.values[column.slot], to: column, of: statement, at: &index, isUpdate: false)
      }
      do throws(Failure) { try statement.run() } catch {
        throw try explain(error, inserting: insert, id: id(place))
      }
      if connection.changes == 0 { try checkIsThere(insert.entity, id: id(place)) }
    }
  }

  /// A trigger may have had the row ignored, or have written it itself.
  private func checkIsThere(_ entity: Entity, id: Int64) throws(Failure) {
    let table = schema.table(of: entity)
    let statement = try connection.statement("SELECT 1 FROM \(table) WHERE Z_PK = ?")
    try statement.bind(id, at: 1)
    if try !statement.step() { throw connection.ignoredFailure(table, doing: "insert \(entity.name) \(id)") }
  }

  // MARK: Values

  /// Binds one property to the parameters after `index`, as `RowWriter` laid them out.
  private func bind(
    _ value: Value, to column: RowWriter.Column, of statement: Statement, at index: inout Int, isUpdate: Bool
  ) throws(Failure) {
    if let toOne = column.toOne { return try bind(value, to: toOne, of: statement, at: &index, isUpdate: isUpdate) }
    index += 1
    // Not one call with either value, which would copy the common one.
    if column.isExternal {
      try statement.bind(store.external.stored(value), at: index)
    } else {
      try statement.bind(value, at: index)
    }
  }

  private func bind(
    _ value: Value, to toOne: RowWriter.ToOne, of statement: Statement, at index: inout Int, isUpdate: Bool
  ) throws(Failure) {
    var destination: ObjectReference?
    switch value {
    case .nil: break
    case .object(let box): destination = try permanent(box.reference, for: toOne.relationship)
    default:
      throw Failure(
        .invalidArgument,
        "'\(toOne.relationship.qualifiedName)' is a relationship and cannot hold \(value.kindName). "
          + "Give an object or none.", about: .property(toOne.relationship))
    }
    let key: Value = destination.map { .integer($0.id) } ?? .nil
    let number = try destination.map { reference throws(Failure) in
      try entityNumber(of: reference, for: toOne.relationship)
    }
    index += 1
    try statement.bind(key, at: index)
    if toOne.columns.destinationEntity != nil {
      index += 1
      try statement.bind(number.map { .integer(Int64($0)) } ?? .nil, at: index)
    }
    if toOne.columns.order != nil, let list = toOne.orderedInverse {
      if isUpdate {
        index += 1
        try statement.bind(key, at: index)
      }
      index += 1
      let order = try destination.map { owner throws(Failure) in try nextOrderKey(list, owner: owner) }
      try statement.bind(order.map { .integer($0) } ?? .nil, at: index)
    }
  }
}
