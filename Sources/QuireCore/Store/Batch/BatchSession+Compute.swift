extension BatchSession {
  /// The values of expressions for the rows that match a plan, column by column, in the order of `Store.ids`.
  func values(of columns: [Projection.Column], _ plan: FetchPlan) throws(Failure) -> [[Value]] {
    var projection = Projection()
    projection.columns = columns
    return try store.newestMoment.columns(plan, projection, aggregates: false).map(\.values)
  }

  /// Writes values that differ from row to row. Returns the rows that had others; the versions of those in `advanced`
  /// have been advanced already.
  func write(
    _ computed: [ComputedValues], to rows: ContiguousArray<RowIdentifier>, of entity: Entity, advanced: Set<Int64>
  ) throws(Failure) -> [RowIdentifier] {
    let columns = computed.compactMap { schema.valueColumn(of: $0.attribute) }
    if columns.isEmpty { return [] }
    // Numbered, because each value is both written and compared: SET has what WHERE asks about.
    let numbered = columns.enumerated().map { (place: $0 + 3, column: $1) }
    let written = numbered.map { "\($0.column) = ?\($0.place)" }.joined(separator: ", ")
    let differs = numbered.map { "\($0.column) IS NOT ?\($0.place)" }.joined(separator: " OR ")
    let statement = try connection.statement(
      "UPDATE \(schema.table(of: entity)) SET Z_OPT = ifnull(Z_OPT, 0) + ?2, \(written) "
        + "WHERE Z_PK = ?1 AND (\(differs))")
    var changed: [RowIdentifier] = []
    for (index, row) in rows.enumerated() {
      try connection.mayGoOn()
      try statement.bind(row.id, at: 1)
      try statement.bind(advanced.contains(row.id) ? 0 : 1, at: 2)
      for (place, column) in computed.enumerated() { try statement.bind(column.values[index], at: place + 3) }
      try run(statement, updating: entity)
      if connection.changes > 0 { changed.append(row) }
    }
    return changed
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
