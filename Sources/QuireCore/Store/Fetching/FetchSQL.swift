/// The parts of the SELECT that answers a fetch plan, and its arguments.
struct FetchSQL {
  private let source: String
  private let conditions: String
  private let order: String
  private let window: String
  /// FROM and WHERE of each part of `selectKeyed`.
  private let keyed: [String]?
  private let isWholeTable: Bool
  let arguments = SQLArguments()
  /// The column that orders by section.
  let sections: String?
  /// The columns of the key paths that were asked for beside the plan's own.
  let columns: [KeyPathResolver.Column]
  /// Those of the plan's expressions.
  let values: [(sql: String, kind: SQLLeaf.Kind)]

  init(_ plan: FetchPlan, keyPaths: [[String]] = [], schema: Schema) throws(Failure) {
    try FetchSQL.checkWindow(plan)
    let alias = RowLayout.alias
    let compiler = SQLCompiler(schema: schema, arguments: arguments)
    let row = SQLCompiler.mainRow(plan.entity, alias: alias)
    let resolver = KeyPathResolver(compiler: compiler, row: row)
    var restrictions = FetchSQL.restrictions(plan, arguments)
    let fragment = try FetchSQL.fragment(plan, row, compiler)
    var order: [String] = []
    var place = PlaceSQL(plan.after, key: "\(alias).Z_PK", arguments)
    sections = try plan.sections.map { (sections) throws(Failure) in try compiler.order(of: sections, row) }
    if let sections {
      order.append(sections)
      place.add(sections, isAscending: true) { $0 }
    }
    for descriptor in plan.sort {
      let column = try resolver.column(descriptor.keyPath, for: .sort)
      let kind = descriptor.textOrder.kind
      let isBinary = descriptor.textOrder == .binary
      let locale = isBinary ? "" : arguments.parameter(.text(descriptor.textOrder.locale))
      func ordered(_ text: String) -> String {
        isBinary ? text : PredicateFunctions.ordered(text, kind, locale)
      }
      order.append(descriptor.isAscending ? ordered(column.sql) : "\(ordered(column.sql)) DESC")
      place.add(column.sql, isAscending: descriptor.isAscending, ordered)
    }
    restrictions += place.conditions()
    conditions = FetchSQL.conditions(restrictions, fragment)
    order.append("\(alias).Z_PK")
    var columns: [KeyPathResolver.Column] = []
    for keyPath in keyPaths { columns.append(try resolver.column(keyPath, for: .fetchedProperty)) }

    var values: [(sql: String, kind: SQLLeaf.Kind)] = []
    for expression in plan.values { values.append(try compiler.value(expression, of: row)) }
    self.values = values

    window = FetchSQL.window(plan, arguments)
    source = " FROM \(schema.table(of: plan.entity)) \(alias)\(row.joins?.sql ?? "")"
    if let search = fragment?.keyed, search.key == "\(alias).Z_PK", plan.sort.isEmpty, columns.isEmpty, window.isEmpty,
      plan.isRestrictedTo == nil
    {
      let table = schema.table(of: plan.entity)
      let conditions = (restrictions + [search.test]).joined(separator: " AND ")
      // Each list of keys on its own: from all of them together SQLite would take the keys by a detour.
      keyed = search.keys.map {
        " FROM (\($0)) found CROSS JOIN \(table) \(alias) ON \(search.key) = found.Z_PK WHERE \(conditions)"
      }
    } else {
      keyed = nil
    }
    isWholeTable = conditions.isEmpty && window.isEmpty && sections == nil && row.joins?.sql.isEmpty ?? true
    self.order = " ORDER BY " + order.joined(separator: ", ")
    self.columns = columns
  }

  func select(_ columns: String) -> String { "SELECT \(columns)\(source)\(conditions)\(order)\(window)" }

  /// The same rows in any order and some perhaps twice, where that is a faster way to them; otherwise nil.
  ///
  /// SQLite would put the keys into a tree first, to have each once and in order; they mostly are.
  func selectKeyed(_ columns: String) -> String? {
    keyed.map { $0.map { "SELECT \(columns)\($0)" }.joined(separator: " UNION ALL ") }
  }

  /// Calls `function` for each row, where all rows of a table are wanted and nothing but them; nil otherwise. SQLite
  /// looks at conditions in an order of its own, so that there must be no others.
  func selectPassing(_ function: String) -> String? {
    isWholeTable ? "SELECT 1\(source) WHERE \(function)\(order)" : nil
  }

  /// What the columns behind the key hold: the order of the section, and `columns`.
  var valueTypes: [StoredType] { (sections == nil ? [] : [.attribute(.binary)]) + columns.map(\.type) }

  /// The same rows in any order, for a look at how they are found.
  func selectUnordered(_ columns: String) -> String { "SELECT \(columns)\(source)\(conditions)" }

  /// Counts what `select` would yield; the order matters only to which rows a window holds, not to their number.
  var count: String {
    window.isEmpty
      ? "SELECT count(*)\(source)\(conditions)"
      : "SELECT count(*) FROM (SELECT 1\(source)\(conditions)\(window))"
  }

  func bind(to statement: Statement) throws(Failure) {
    try arguments.bind(to: statement)
  }

  /// Which of the rows in a table are of `entity`; nil when all are.
  ///
  /// SQLite has no statistics by default, and takes any equality for a rare one. The likelihood keeps it from
  /// preferring the index on Z_ENT to one that the predicate or the sort could use.
  static func entityCondition(_ entity: Entity, includesSubentities: Bool, _ alias: String) -> String? {
    let isWhole = includesSubentities || !entity.hasChildren
    if isWhole, entity.parent == nil { return nil }
    if !isWhole || !entity.hasChildren { return "likelihood(\(alias).Z_ENT = \(entity.number), 0.25)" }
    return "\(alias).Z_ENT BETWEEN \(entity.number) AND \(entity.lastNumber)"
  }

  /// The WHERE clause.
  static func conditions(_ plan: FetchPlan, _ row: SQLRow, _ compiler: SQLCompiler) throws(Failure) -> String {
    conditions(restrictions(plan, compiler.arguments), try fragment(plan, row, compiler))
  }

  private static func conditions(_ restrictions: [String], _ fragment: SQLFragment?) -> String {
    let conditions = restrictions + (fragment.map { ["(\($0.sql))"] } ?? [])
    return conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
  }

  /// Conditions that leave rows out come first. SQLite asks in this order, and the predicate may fail on values of rows
  /// that take no part.
  private static func restrictions(_ plan: FetchPlan, _ arguments: SQLArguments) -> [String] {
    let alias = RowLayout.alias
    var conditions: [String] = []
    if let condition = FetchSQL.entityCondition(plan.entity, includesSubentities: plan.includesSubentities, alias) {
      conditions.append(condition)
    }
    if !plan.excluded.isEmpty {
      conditions.append("\(alias).Z_PK NOT IN (\(IDList.sql(plan.excluded, arguments)))")
    }
    if let ids = plan.isRestrictedTo {
      conditions.append("\(alias).Z_PK IN (\(IDList.sql(ids, arguments)))")
    }
    return conditions
  }

  /// The predicate; nil where there is none that leaves rows out.
  private static func fragment(
    _ plan: FetchPlan, _ row: SQLRow, _ compiler: SQLCompiler
  ) throws(Failure) -> SQLFragment? {
    guard let predicate = plan.predicate else { return nil }
    let fragment = try compiler.inParts { () throws(Failure) in
      try compiler.fragment(predicate, SQLScope(subject: row))
    }
    return fragment.isTrue ? nil : fragment
  }

  /// LIMIT and OFFSET, where the plan has them.
  static func window(_ plan: FetchPlan, _ arguments: SQLArguments) -> String {
    if plan.limit == nil, plan.offset == 0 { return "" }
    let limit = arguments.parameter(.integer(Int64(plan.limit ?? -1)))
    return " LIMIT \(limit) OFFSET \(arguments.parameter(.integer(Int64(plan.offset))))"
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
