/// The SELECT that answers a plan with columns in place of rows.
struct ProjectionSQL {
  /// Where the values of a column come from, and what they are.
  enum Source {
    case constant(Value)
    case column(Int, SQLLeaf.Kind)
    /// As it is declared, so that what does not fit is said.
    case property(Int, Property)
  }

  let sources: [Source]
  let sql: String
  /// How many rows there are.
  var count: String { "SELECT count(*) FROM (\(sql))" }
  let arguments = SQLArguments()

  /// The columns, with what each is called, must be in `projection`: none are added. Without `aggregates` there is a
  /// row for each of the table whatever the functions, which then look at the values of that row alone.
  init(
    _ plan: FetchPlan, _ projection: Projection, aggregates: Bool, schema: Schema, textIndexes: TextIndexSearch?
  ) throws(Failure) {
    try FetchSQL.checkWindow(plan)
    let compiler = SQLCompiler(schema: schema, textIndexes: textIndexes, arguments: arguments)
    let row = SQLCompiler.mainRow(plan.entity, alias: RowLayout.alias)
    let conditions = try FetchSQL.conditions(plan, row, compiler)
    let resolver = KeyPathResolver(compiler: compiler, row: row)
    let aggregation = SQLAggregation()
    var scope = SQLScope(subject: row)
    if aggregates { scope.aggregation = aggregation }

    var groups: [SQLExpr] = []
    for names in projection.groups {
      groups.append(try resolver.column(ResolvedKeyPath(names, of: plan.entity, for: .group)).expr)
    }
    var builder = Columns(
      compiler: compiler, resolver: resolver, scope: scope, isDistinct: projection.isDistinct)
    for column in projection.columns { try builder.add(column) }
    let isAggregated = !groups.isEmpty || !aggregation.arguments.isEmpty
    if isAggregated {
      for column in projection.columns {
        guard let key = aggregation.loose(column.expression, groups: projection.groups) else { continue }
        throw Failure(
          .invalidArgument,
          "Column '\(column.name)' takes '\(key)' of a group of rows, which need not have it in common. "
            + "Group by it, or put it into an aggregate such as max:(\(key)).")
      }
    }
    var having: SQLExpr?
    if let predicate = projection.having {
      if groups.isEmpty {
        throw Failure(.invalidState, "The request has a condition for groups and no key to group by. Add one.")
      }
      having = try builder.having(predicate, projection, aggregation)
    }
    var order: [SQLOrder] = []
    for sort in plan.sort {
      let key = builder.ordered(try resolver.column(sort.path).expr, sort.textOrder)
      order.append(SQLOrder(value: key, isDescending: !sort.isAscending))
    }
    for descriptor in projection.order {
      let key = try builder.order(descriptor, projection, isRegrouped: isAggregated || projection.isDistinct)
      order.append(SQLOrder(value: key, isDescending: !descriptor.isAscending))
    }
    if projection.isDistinct {
      order += builder.ordering.map { SQLOrder(value: $0) }
    } else if isAggregated {
      order += groups.map { SQLOrder(value: $0) }
    } else {
      order.append(SQLOrder(value: row.key))
    }
    sources = builder.sources
    var writer = SQLWriter()
    writer.put(projection.isDistinct ? "SELECT DISTINCT " : "SELECT ")
    // At least one column, so that rows can be counted.
    writer.put(builder.selected.isEmpty ? [.constant(true)] : builder.selected, ", ")
    writer.put(
      SQLQuery(
        tables: [.named(schema.table(of: plan.entity), RowLayout.alias)] + (row.joins?.tables ?? []),
        conditions: conditions, groups: groups, having: having, order: order,
        window: FetchSQL.window(plan, arguments)))
    sql = writer.text
  }

  private struct Columns {
    let compiler: SQLCompiler
    let resolver: KeyPathResolver
    let scope: SQLScope
    let isDistinct: Bool
    var sources: [Source] = []
    var selected: [SQLExpr] = []
    /// The same in the order of their values.
    var ordering: [SQLExpr] = []
    private var terms: [String: (term: SQLTerm, expr: SQLExpr?)] = [:]
    private var expressions: [String: Expression] = [:]

    init(compiler: SQLCompiler, resolver: KeyPathResolver, scope: SQLScope, isDistinct: Bool) {
      self.compiler = compiler
      self.resolver = resolver
      self.scope = scope
      self.isDistinct = isDistinct
    }

    mutating func add(_ column: Projection.Column) throws(Failure) {
      if let known = expressions.updateValue(column.expression, forKey: column.name), known != column.expression {
        throw Failure(.invalidArgument, "Two columns are called '\(column.name)'. Give each a name of its own.")
      }
      if case .keyPath(let keys) = column.expression, !keys.contains(where: \.isOperator) {
        let path = try ResolvedKeyPath(keys.names, of: scope.subject.entity, for: .fetchedProperty)
        let found = try resolver.column(path)
        add(found.expr, .property(selected.count, found.property))
        terms[column.name] = (try compiler.term(.keyPath(path.keys), scope), found.expr)
        return
      }
      _ = try ExpressionNode(column.expression)
      let (compiler, scope) = (compiler, scope)
      let term = try compiler.inParts { () throws(Failure) in try compiler.term(column.expression, scope) }
      var expr: SQLExpr?
      switch term {
      case .constant(.list), .collection:
        throw Failure(
          .invalidArgument,
          "Column '\(column.name)' has many values in each row (\(column.expression.text)). "
            + "Use one of them, their number or another calculation.")
      case .constant(let value): sources.append(.constant(value))
      case .column(let found):
        add(found.expr, .column(selected.count, .value(found.type)))
        expr = found.expr
      case .row(let row):
        add(row.key, .column(selected.count, .value(.object(root: row.entity.rootNumber))))
        expr = row.key
      case .expression(.argument(let number, _)):
        let leaf = compiler.leaves[number]
        expr = leaf.order ?? leaf.expr
        add(leaf.expr, .column(selected.count, leaf.kind), order: expr)
      case .expression(let expression):
        let result: SQLProgram.Result = isDistinct ? .canonical : .coded
        add(try compiler.computed(expression, result), .column(selected.count, .coded))
      }
      terms[column.name] = (term, expr)
    }

    private mutating func add(_ expr: SQLExpr, _ source: Source, order: SQLExpr? = nil) {
      sources.append(source)
      selected.append(expr)
      ordering.append(order ?? expr)
    }

    /// A column may be named by its name, as a key or as a variable.
    func having(
      _ predicate: Predicate, _ projection: Projection, _ aggregation: SQLAggregation
    ) throws(Failure) -> SQLExpr? {
      var scope = scope
      for (name, known) in terms {
        scope.variables[name] = .term(known.term)
        scope.names[name] = known.term
      }
      let names = Set(terms.keys)
      let (compiler, complete) = (compiler, scope)
      let condition = try compiler.inParts { () throws(Failure) in try compiler.condition(predicate, complete) }
      for side in predicate.sides {
        guard let key = aggregation.loose(side, groups: projection.groups + names.map { [$0] }) else { continue }
        throw Failure(
          .invalidArgument,
          "The condition for groups takes '\(key)' of a group of rows, which need not have it in common. "
            + "Group by it, or put it into an aggregate such as max:(\(key)).")
      }
      return condition.isTrue ? nil : condition
    }

    func order(
      _ descriptor: SortDescriptor, _ projection: Projection, isRegrouped: Bool
    ) throws(Failure) -> SQLExpr {
      let name = descriptor.keyPath.joined(separator: ".")
      let key: SQLExpr
      var isText = false
      if let known = terms[name] {
        guard let expr = known.expr else {
          throw Failure(
            .invalidArgument,
            "The result cannot be ordered by column '\(name)', whose type is known only row by row. Order by a key.")
        }
        key = expr
        if case .column(let column) = known.term { isText = column.type.comparisonClass == .text }
      } else {
        let isKnown = projection.isDistinct ? false : projection.groups.contains(descriptor.keyPath)
        guard !isRegrouped || isKnown else {
          throw Failure(
            .invalidArgument,
            "Sort key '\(name)' is no column of the result, whose rows stand for several of the table. Add it.")
        }
        let path = try ResolvedKeyPath(descriptor.keyPath, of: scope.subject.entity, for: .sort)
        key = try resolver.column(path).expr
        isText = path.holdsText
      }
      if descriptor.textOrder != .binary {
        guard isText else {
          throw Failure(
            .invalidArgument,
            "Sort key '\(name)' has an order for text, which it does not hold. Sort it in binary order.")
        }
      }
      return ordered(key, descriptor.textOrder)
    }

    func ordered(_ key: SQLExpr, _ order: TextOrder) -> SQLExpr {
      key.ordered(order, FetchSQL.locale(of: order, compiler.arguments))
    }
  }
}

extension SQLiteMoment {
  /// The columns, with their values row by row, and the property of each that is one.
  func columns(
    _ plan: FetchPlan, _ projection: Projection
  ) throws(Failure) -> [(property: Property?, values: [Value])] {
    try columns(plan, projection, aggregates: true)
  }

  /// The same; without `aggregates` a function of that name is one of each row.
  func columns(
    _ plan: FetchPlan, _ projection: Projection, aggregates: Bool
  ) throws(Failure) -> [(property: Property?, values: [Value])] {
    try withTextIndexes { () throws(Failure) in
      try compiledColumns(plan, projection, aggregates: aggregates)
    }
  }

  /// The same failure to read a value, with a row that has such a value where one is found.
  private func located(_ failure: Failure, _ property: Property, _ plan: FetchPlan) -> Failure {
    if plan.entity.declares(property),
      let path = try? ResolvedKeyPath([property.name], of: plan.entity, for: .column)
    {
      do throws(Failure) { try scan(plan, paths: [path]) { _, _ in } } catch {
        if error.offender?.object != nil { return error }
      }
    }
    return failure.about(.property(property))
  }

  private func compiledColumns(
    _ plan: FetchPlan, _ projection: Projection, aggregates: Bool
  ) throws(Failure) -> [(property: Property?, values: [Value])] {
    let sql = try projectionSQL(plan, projection, aggregates: aggregates)
    return try withConnection { connection throws(Failure) in
      let statement = try connection.statement(sql.sql)
      try sql.arguments.bind(to: statement)
      var columns: [[Value]] = Array(repeating: [], count: sql.sources.count)
      while try statement.step() {
        for (place, source) in sql.sources.enumerated() {
          switch source {
          case .constant(let value): columns[place].append(value)
          case .property(let column, let property):
            do throws(Failure) {
              columns[place].append(try statement.value(at: column, as: StoredType(ofValuesOf: property)))
            } catch { throw located(error, property, plan) }
          case .column(let column, let kind):
            guard let value = try statement.item(at: column, as: kind).scalar else {
              throw Failure(
                .invalidArgument,
                "Column '\(projection.columns[place].name)' gives a list, which is no value for a row.")
            }
            columns[place].append(value)
          }
        }
      }
      return zip(sql.sources, columns).map { source, values in
        if case .property(_, let property) = source { (property, values) } else { (nil, values) }
      }
    }
  }

  /// How many rows the result has.
  func count(_ plan: FetchPlan, _ projection: Projection) throws(Failure) -> Int {
    try withTextIndexes { () throws(Failure) in
      let sql = try projectionSQL(plan, projection)
      return try withConnection { connection throws(Failure) in
        let statement = try connection.statement(sql.count)
        try sql.arguments.bind(to: statement)
        return try statement.step() ? Int(statement.integer(at: 0)) : 0
      }
    }
  }
}
