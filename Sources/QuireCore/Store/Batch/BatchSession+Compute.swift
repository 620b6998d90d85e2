extension BatchSession {
  /// The values of expressions for the rows that match a plan, column by column, in the order of `Store.ids`.
  func values(of columns: [Projection.Column], _ plan: FetchPlan) throws(Failure) -> [[Value]] {
    var projection = Projection()
    projection.columns = columns
    return try store.newestMoment.columns(plan, projection, aggregates: false).map(\.values)
  }

  /// Writes values that differ from row to row. Returns the rows that had others; the versions of those in `advanced`
  /// have been advanced already.
  ///
  /// Rows may take unique values from each other, and SQLite compares each row when it is written. At the first value
  /// that is taken, the remaining rows give up theirs. `vacated` are the rows that have done so before.
  func write(
    _ computed: [ComputedValues], to rows: ContiguousArray<RowIdentifier>, of entity: Entity, advanced: Set<Int64>,
    vacated: Set<Int64>?
  ) throws(Failure) -> [RowIdentifier] {
    guard let update = ComputedUpdate(computed, of: entity, schema) else { return [] }
    var writing = try connection.statement(vacated == nil ? update.writing : update.rewriting)
    var vacated = vacated
    var changed: [RowIdentifier] = []
    for (index, row) in rows.enumerated() {
      try connection.mayGoOn()
      if let vacated, !vacated.contains(row.id) { continue }
      try update.bind(row.id, index, advances: !advanced.contains(row.id), to: writing)
      do throws(Failure) { try run(writing, updating: entity) } catch {
        if vacated != nil || error.databaseCode != ResultCode.notUnique { throw error }
        vacated = try vacate(computed, of: rows, from: index, of: entity)
        writing = try connection.statement(update.rewriting)
        try update.bind(row.id, index, advances: !advanced.contains(row.id), to: writing)
        try run(writing, updating: entity)
      }
      if vacated != nil, connection.changes == 0 {
        // The row would be left without the values that it has given up.
        throw connection.ignoredFailure(schema.table(of: entity), doing: "update \(entity.name) \(row.id)")
      }
      if connection.changes > 0 { changed.append(row) }
    }
    return changed
  }

  /// Empties the unique columns of those rows, from a place on, that are to get other values. Returns these rows.
  func vacate(
    _ computed: [ComputedValues], of rows: ContiguousArray<RowIdentifier>, from start: Int = 0, of entity: Entity
  ) throws(Failure) -> Set<Int64> {
    guard let update = ComputedUpdate(computed, of: entity, schema) else { return [] }
    let comparing = try connection.statement(update.comparing)
    var differing: [Int64] = []
    for index in start..<rows.count {
      try connection.mayGoOn()
      try update.bind(rows[index].id, index, advances: nil, to: comparing)
      if try comparing.step() { differing.append(rows[index].id) }
      comparing.reset()
    }
    let constrained = try store.layouts.writer(of: entity).constrainedSlots
    let emptied = computed.filter { constrained.contains($0.attribute.slot) }
      .compactMap { schema.valueColumn(of: $0.attribute) }
    if !emptied.isEmpty {
      let assignments = emptied.map { "\($0) = NULL" }.joined(separator: ", ")
      try run("UPDATE \(schema.table(of: entity)) SET \(assignments) WHERE Z_PK IN (\(IDList.sql))", differing)
    }
    return Set(differing)
  }

  /// The same for an attribute whose values may lie in files.
  func writeData(
    _ computed: ComputedValues, to rows: ContiguousArray<RowIdentifier>, of entity: Entity, advanced: Set<Int64>
  ) throws(Failure) -> [RowIdentifier] {
    let attribute = computed.attribute
    guard let column = schema.valueColumn(of: attribute) else { return [] }
    let table = schema.table(of: entity)
    let select = try connection.statement("SELECT Z_PK, \(column) FROM \(table) WHERE Z_PK = ?")
    let statement = try connection.statement(
      "UPDATE \(table) SET Z_OPT = ifnull(Z_OPT, 0) + ?2, \(column) = ?3 WHERE Z_PK = ?1")
    var changed: [RowIdentifier] = []
    for (row, value) in zip(rows, computed.values) {
      try connection.mayGoOn()
      try select.bind(row.id, at: 1)
      let isSame =
        try select.step() ? select.value(at: 1, as: StoredType(of: attribute)).isIdentical(to: value) : true
      if !isSame, let present = select.data(at: 1) { store.external.noteReplaced(present) }
      select.reset()
      if isSame { continue }
      try statement.bind(row.id, at: 1)
      try statement.bind(advanced.contains(row.id) ? 0 : 1, at: 2)
      try statement.bind(store.external.stored(value), at: 3)
      try run(statement, updating: entity)
      // The row would go on naming the file that is to go.
      if connection.changes == 0 {
        throw connection.ignoredFailure(table, doing: "update \(entity.name) \(row.id)")
      }
      changed.append(row)
    }
    return changed
  }

  /// Runs an UPDATE, and says in the request's terms that values came to be shared which must not be.
  func run(_ statement: Statement, updating entity: Entity) throws(Failure) {
    do throws(Failure) { try statement.run() } catch {
      if error.kind != .constraint { throw error }
      throw Failure(
        .constraint,
        "The batch update would have several objects of '\(entity.name)' share values that must be unique: "
          + "\(error.message) Nothing was changed.", about: .entity(entity), databaseCode: error.databaseCode)
    }
  }
}

/// The statements that give rows values of their own. Parameters: the key, by how much the version advances, and then
/// the values, numbered because each is both written and compared.
private struct ComputedUpdate {
  /// Writes a row that has other values.
  let writing: String
  /// Writes a row that has given up its unique values.
  let rewriting: String
  /// Selects a row that has other values.
  let comparing: String
  private let computed: [ComputedValues]

  init?(_ computed: [ComputedValues], of entity: Entity, _ schema: Schema) {
    let columns = computed.compactMap { schema.valueColumn(of: $0.attribute) }
    if columns.isEmpty { return nil }
    self.computed = computed
    let numbered = columns.enumerated().map { (place: $0 + 3, column: $1) }
    let written = numbered.map { "\($0.column) = ?\($0.place)" }.joined(separator: ", ")
    let differs = numbered.map { "\($0.column) IS NOT ?\($0.place)" }.joined(separator: " OR ")
    let table = schema.table(of: entity)
    rewriting = "UPDATE \(table) SET Z_OPT = ifnull(Z_OPT, 0) + ?2, \(written) WHERE Z_PK = ?1"
    writing = "\(rewriting) AND (\(differs))"
    comparing = "SELECT 1 FROM \(table) WHERE Z_PK = ?1 AND (\(differs))"
  }

  /// `advances` is nil for the statement that compares.
  func bind(_ id: Int64, _ index: Int, advances: Bool?, to statement: Statement) throws(Failure) {
    try statement.bind(id, at: 1)
    if let advances { try statement.bind(advances ? 1 : 0, at: 2) }
    for (place, column) in computed.enumerated() { try statement.bind(column.values[index], at: place + 3) }
  }
}
