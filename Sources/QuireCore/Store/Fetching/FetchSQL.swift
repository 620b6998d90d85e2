/// The parts of the SELECT that answers a fetch plan, and its arguments.
struct FetchSQL {
  private let query: SQLQuery
  /// Each part of `selectKeyed`.
  private let keyed: [SQLQuery]?
  let arguments = SQLArguments()
  /// The column that orders by section.
  let sections: SQLExpr?
  /// The columns of the paths that were asked for beside the plan's own.
  let columns: [KeyPathResolver.Column]
  /// Those of the plan's expressions.
  let values: [(expr: SQLExpr, kind: SQLLeaf.Kind)]

  /// `paths` lead to the columns that are selected beside the plan's own.
  init(
    _ plan: FetchPlan, paths: [ResolvedKeyPath], schema: Schema, textIndexes: TextIndexSearch?
  ) throws(Failure) {
    try FetchSQL.checkWindow(plan)
    let alias = RowLayout.alias
    let compiler = SQLCompiler(schema: schema, textIndexes: textIndexes, arguments: arguments)
    let row = SQLCompiler.mainRow(plan.entity, alias: alias)
    let resolver = KeyPathResolver(compiler: compiler, row: row)
    var restrictions = FetchSQL.restrictions(plan, row, arguments)
    let predicate = try FetchSQL.predicate(plan, row, compiler)
    var order: [SQLOrder] = []
    var place = PlaceSQL(plan.after, key: row.key, arguments)
    sections = try plan.sections.map { (sections) throws(Failure) in try compiler.order(of: sections, row) }
    if let sections {
      order.append(SQLOrder(value: sections))
      place.add(sections, isAscending: true) { $0 }
    }
    for sort in plan.sort {
      let column = try resolver.column(sort.path)
      let locale = FetchSQL.locale(of: sort.textOrder, arguments)
      func ordered(_ text: SQLExpr) -> SQLExpr { text.ordered(sort.textOrder, locale) }
      order.append(SQLOrder(value: ordered(column.expr), isDescending: !sort.isAscending))
      place.add(column.expr, isAscending: sort.isAscending, ordered)
    }
    restrictions += place.conditions()
    order.append(SQLOrder(value: row.key))
    var columns: [KeyPathResolver.Column] = []
    for path in paths { columns.append(try resolver.column(path)) }
    self.columns = columns

    var values: [(expr: SQLExpr, kind: SQLLeaf.Kind)] = []
    for expression in plan.values { values.append(try compiler.value(expression, of: row)) }
    self.values = values

    let window = FetchSQL.window(plan, arguments)
    let table = schema.table(of: plan.entity)
    var tables = [SQLTable.named(table, alias)], conditions = restrictions
    if let joined = row.joins?.tables, !joined.isEmpty { tables += joined }
    if let predicate { conditions.append(SQLExpr(.group(predicate))) }
    query = SQLQuery(tables: tables, conditions: conditions, order: order, window: window)
    if let search = predicate?.keyedSearch, search.key.name == row.key.name, plan.sort.isEmpty, columns.isEmpty,
      window == nil, plan.isRestrictedTo == nil
    {
      // Each list of keys on its own: from all of them together SQLite would take the keys by a detour.
      keyed = search.keys.all.map { keys in
        let isFound = SQLExpr.compare(search.key, .equal, .column("found", "Z_PK"))
        let tables = [
          SQLTable(selects: SQLSelects(keys), alias: "found"),
          SQLTable(name: table, alias: alias, join: .cross, condition: isFound),
        ]
        return SQLQuery(tables: tables, conditions: restrictions + [search.test])
      }
    } else {
      keyed = nil
    }
  }

  /// `columns` are of the main table; `further` come behind them.
  func select(_ columns: String, further: [SQLExpr] = []) -> String { FetchSQL.select(columns, further, from: query) }

  private static func select(_ columns: String, _ further: [SQLExpr] = [], from query: SQLQuery) -> String {
    var writer = SQLWriter()
    writer.put("SELECT ")
    writer.put(columns, further)
    writer.put(query)
    return writer.text
  }

  /// The same rows in any order and some perhaps twice, where that is a faster way to them; otherwise nil.
  ///
  /// SQLite would put the keys into a tree first, to have each once and in order; they mostly are.
  func selectKeyed(_ columns: String) -> String? {
    keyed.map { $0.map { FetchSQL.select(columns, from: $0) }.joined(separator: " UNION ALL ") }
  }

  /// Calls `function` for each row with these columns, where all rows of a table are wanted and nothing but them; nil
  /// otherwise. SQLite looks at conditions in an order of its own, so that there must be no others.
  func selectPassing(_ function: String, _ columns: String, further: [SQLExpr]) -> String? {
    if !query.conditions.isEmpty || query.window != nil || query.tables.count > 1 || sections != nil { return nil }
    var writer = SQLWriter()
    writer.put("SELECT 1")
    writer.put(query.tables)
    writer.put(" WHERE ")
    writer.put(name: function)
    writer.put("(")
    writer.put(columns, further)
    writer.put(")")
    writer.put(query.order)
    return writer.text
  }

  /// What the columns behind the key hold: the order of the section, and `columns`.
  var valueTypes: [StoredType] { (sections == nil ? [] : [.attribute(.binary)]) + columns.map(\.type) }

  /// Their properties; none for the order of sections.
  var valueProperties: [Property?] { (sections == nil ? [] : [nil]) + columns.map(\.property) }

  /// These columns.
  var valueColumns: [SQLExpr] { (sections.map { [$0] } ?? []) + columns.map(\.expr) }

  /// The same rows in any order, for a look at how they are found.
  func selectUnordered(_ columns: String) -> String {
    var writer = SQLWriter()
    writer.put("SELECT ")
    writer.put(name: columns)
    writer.put(query.tables)
    writer.put(query.conditions)
    return writer.text
  }

  /// Counts what `select` would yield; the order matters only to which rows a window holds, not to their number.
  var count: String {
    var writer = SQLWriter()
    writer.put(query.window == nil ? "SELECT count(*)" : "SELECT count(*) FROM (SELECT 1")
    writer.put(query.tables)
    writer.put(query.conditions)
    if query.window != nil {
      writer.put(query.window)
      writer.put(")")
    }
    return writer.text
  }

  func bind(to statement: Statement) throws(Failure) {
    try arguments.bind(to: statement)
  }

  /// Which of the rows in a table are of `entity`; nil when all are.
  ///
  /// SQLite has no statistics by default, and takes any equality for a rare one. The likelihood keeps it from
  /// preferring the index on Z_ENT to one that the predicate or the sort could use.
  static func entityCondition(_ entity: Entity, includesSubentities: Bool, _ alias: String) -> SQLExpr? {
    let isWhole = includesSubentities || !entity.hasChildren
    if isWhole, entity.parent == nil { return nil }
    let number = SQLExpr.column(alias, "Z_ENT")
    if !isWhole || !entity.hasChildren {
      return SQLExpr(.likely(.compare(number, .equal, SQLExpr(.integer(Int64(entity.number))))))
    }
    return SQLExpr(.between(number, entity.number, entity.lastNumber))
  }

  /// What a WHERE clause asks.
  static func conditions(_ plan: FetchPlan, _ row: SQLRow, _ compiler: SQLCompiler) throws(Failure) -> [SQLExpr] {
    let restrictions = restrictions(plan, row, compiler.arguments)
    return restrictions + (try predicate(plan, row, compiler).map { [SQLExpr(.group($0))] } ?? [])
  }

  /// Conditions that leave rows out come first. SQLite asks in this order, and the predicate may fail on values of rows
  /// that take no part.
  private static func restrictions(_ plan: FetchPlan, _ row: SQLRow, _ arguments: SQLArguments) -> [SQLExpr] {
    var conditions: [SQLExpr] = []
    if let condition = FetchSQL.entityCondition(
      plan.entity, includesSubentities: plan.includesSubentities, RowLayout.alias)
    {
      conditions.append(condition)
    }
    if !plan.excluded.isEmpty {
      let list = IDList.list(plan.excluded, arguments)
      conditions.append(SQLExpr(.membership(row.key, list, isNegated: true)))
    }
    if let ids = plan.isRestrictedTo { conditions.append(.member(row.key, of: IDList.list(ids, arguments))) }
    return conditions
  }

  /// The predicate; nil where there is none that leaves rows out.
  private static func predicate(
    _ plan: FetchPlan, _ row: SQLRow, _ compiler: SQLCompiler
  ) throws(Failure) -> SQLExpr? {
    guard let predicate = plan.predicate else { return nil }
    let condition = try compiler.inParts { () throws(Failure) in
      try compiler.condition(predicate, SQLScope(subject: row))
    }
    return condition.isTrue ? nil : condition
  }

  /// The argument of an order that asks for one.
  static func locale(of order: TextOrder, _ arguments: SQLArguments) -> SQLExpr? {
    order == .binary ? nil : arguments.parameter(.text(order.locale))
  }

  /// LIMIT and OFFSET, where the plan has them.
  static func window(_ plan: FetchPlan, _ arguments: SQLArguments) -> SQLQuery.Window? {
    if plan.limit == nil, plan.offset == 0 { return nil }
    let limit = arguments.parameter(.integer(Int64(plan.limit ?? -1)))
    return .parameters(limit: limit, offset: arguments.parameter(.integer(Int64(plan.offset))))
  }

  static func checkWindow(_ plan: FetchPlan) throws(Failure) {
    if let limit = plan.limit, limit < 0 {
      throw Failure(
        .invalidArgument, "A fetch of '\(plan.entity.name)' has the limit \(limit). Use 0 or more, or no limit.")
    }
    if plan.offset < 0 {
      throw Failure(.invalidArgument, "A fetch of '\(plan.entity.name)' has the offset \(plan.offset). Use 0 or more.")
    }
  }
}

extension SQLWriter {
  fileprivate mutating func put(_ columns: String, _ further: [SQLExpr]) {
    put(name: columns)
    for column in further {
      put(", ")
      put(column)
    }
  }
}

extension SQLExpr {
  /// What texts are ordered by; `locale` is nil where the texts themselves are.
  func ordered(_ order: TextOrder, _ locale: SQLExpr?) -> SQLExpr {
    guard let locale else { return self }
    return .call(.order, SQLExpr(.integer(Int64(order.kind.rawValue))), self, locale)
  }
}
