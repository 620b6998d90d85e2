/// Answers to fetch plans. Each is one statement, hence one state of the file.
extension SQLiteMoment {
  /// Which rows answer the plan, in its order.
  func ids(_ plan: FetchPlan) throws(Failure) -> ContiguousArray<RowIdentifier> {
    try withTextIndexes { () throws(Failure) in try ids(compiled(plan)) }
  }

  func compiled(_ plan: FetchPlan) throws(Failure) -> any CompiledFetch {
    let layout = layout(plan)
    return SQLiteCompiledFetch(try fetchSQL(plan), layout)
  }

  /// The same for a plan that was compiled before.
  func ids(_ fetch: any CompiledFetch) throws(Failure) -> ContiguousArray<RowIdentifier> {
    guard let fetch = fetch as? SQLiteCompiledFetch else {
      throw Failure(.invalidArgument, "A fetch was compiled for another kind of store.")
    }
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(fetch.select)
      try fetch.arguments.bind(to: statement)
      let rows = try fetch.layout.identifiers(from: statement)
      return fetch.isOrdered ? rows : rows.orderedByID()
    }
  }

  /// How many rows answer the plan, its limit and offset considered.
  func count(_ plan: FetchPlan) throws(Failure) -> Int {
    try withTextIndexes { () throws(Failure) in
      let sql = try fetchSQL(plan)
      return try withConnection { connection throws(Failure) in
        let statement = try connection.statement(sql.count)
        try sql.bind(to: statement)
        return try statement.step() ? Int(statement.integer(at: 0)) : 0
      }
    }
  }

  /// The rows that answer the plan, in its order.
  func rows(_ plan: FetchPlan) throws(Failure) -> [Row] {
    let layout = layout(plan)
    return try withTextIndexes { () throws(Failure) in
      let sql = try fetchSQL(plan)
      return try withConnection { connection throws(Failure) in
        let statement = try connection.statement(sql.select(layout.columns))
        try sql.bind(to: statement)
        return try layout.rows(from: statement)
      }
    }
  }

  /// Passes each row that matches the plan to `body`, in the plan's order. With it come the order of its section as
  /// data, where the plan has sections, and the values at `paths`.
  ///
  /// The array of values is reused from row to row; keeping it costs a copy. A to-one relationship yields its key, even
  /// where the row it refers to is gone. `body` may use the store.
  func scan(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], _ body: (RowIdentifier, [Value]) throws(Failure) -> Void
  ) throws(Failure) {
    let layout = layout(plan)
    var hasPassed = false
    try withTextIndexes(unless: { hasPassed }) { () throws(Failure) in
      let sql = try fetchSQL(plan, paths: paths)
      let types = sql.valueTypes
      try withConnection { connection throws(Failure) in
        let statement = try connection.statement(sql.select(layout.identifierColumns, further: sql.valueColumns))
        try sql.bind(to: statement)
        var values = [Value](repeating: .nil, count: types.count)
        while try statement.step() {
          hasPassed = true
          let row = try layout.identifier(from: statement)
          do throws(Failure) {
            for place in 0..<types.count {
              values[place] = try statement.value(at: 2 + place, as: types[place], after: values[place])
            }
          } catch {
            throw layout.located(
              error, sql.valueProperties, types, from: 2, in: statement, id: row.id, entity: Int64(row.entity))
          }
          try body(row, values)
        }
      }
    }
  }

  /// Runs `body`, which compiles and runs a statement, and once more without the text indexes that it failed for. Not
  /// so when it has passed on rows.
  func withTextIndexes<Result>(
    unless hasPassed: () -> Bool = { false }, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do throws(Failure) { return try body() } catch {
      if textIndexes.all.isEmpty || hasPassed() { throw error }
      let isReason = try withConnection { connection throws(Failure) in
        try textIndexes.distrust(after: error, on: connection)
      }
      if !isReason { throw error }
    }
    return try body()
  }

  func check(_ plan: FetchPlan) throws(Failure) { _ = try fetchSQL(plan) }

  /// The SELECT that answers a plan, with the columns of `paths` beside the plan's own.
  func fetchSQL(_ plan: FetchPlan, paths: [ResolvedKeyPath] = []) throws(Failure) -> FetchSQL {
    try FetchSQL(plan, paths: paths, schema: schema, textIndexes: textIndexSearch)
  }

  /// The SELECT that answers a plan with columns in place of rows.
  func projectionSQL(
    _ plan: FetchPlan, _ projection: Projection, aggregates: Bool = true
  ) throws(Failure) -> ProjectionSQL {
    try ProjectionSQL(plan, projection, aggregates: aggregates, schema: schema, textIndexes: textIndexSearch)
  }

  private var textIndexSearch: TextIndexSearch? { textIndexes.all.isEmpty ? nil : TextIndexSearch(moment: self) }

  func layout(_ plan: FetchPlan) -> RowLayout {
    layouts.layout(of: plan.entity, includesSubentities: plan.includesSubentities)
  }
}

/// A statement for a fetch of ids.
final class SQLiteCompiledFetch: CompiledFetch {
  fileprivate let select: String
  fileprivate let isOrdered: Bool
  fileprivate let arguments: SQLArguments
  fileprivate let layout: RowLayout

  fileprivate init(_ sql: FetchSQL, _ layout: RowLayout) {
    let keyed = sql.selectKeyed(layout.identifierColumns)
    select = keyed ?? sql.select(layout.identifierColumns)
    isOrdered = keyed == nil
    arguments = sql.arguments
    self.layout = layout
  }
}

extension ContiguousArray<RowIdentifier> {
  /// Each once, the lowest id first; they mostly are so already.
  fileprivate func orderedByID() -> ContiguousArray<RowIdentifier> {
    var isOrdered = true
    for place in indices.dropFirst() where self[place - 1].id >= self[place].id { isOrdered = false }
    if isOrdered { return self }
    var ordered: ContiguousArray<RowIdentifier> = []
    ordered.reserveCapacity(count)
    for row in sorted(by: { $0.id < $1.id }) where row.id != ordered.last?.id { ordered.append(row) }
    return ordered
  }
}
