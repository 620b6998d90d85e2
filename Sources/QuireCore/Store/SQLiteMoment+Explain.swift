/// The explanation of a fetch.
struct FetchExplanation {
  let sql: String
  /// In the order of their numbers.
  let arguments: [String]
  /// The steps that SQLite would take, with the indexes that it would use; those below others are indented.
  let steps: [String]
  /// What every row has to be looked at for, as it was written.
  let unindexed: [String]

  var text: String {
    var lines = [sql]
    for (place, argument) in arguments.enumerated() { lines.append("?\(place + 1) = \(argument)") }
    lines += steps.map { "plan: \($0)" }
    lines += unindexed.map { "no index: \($0)" }
    return lines.joined(separator: "\n")
  }
}

extension SQLiteMoment {
  /// Explains the statement that finds the rows of a plan, or with a projection its columns.
  func explain(_ plan: FetchPlan, _ projection: Projection? = nil) throws(Failure) -> FetchExplanation {
    try withTextIndexes { () throws(Failure) in try explanation(plan, projection) }
  }

  private func explanation(_ plan: FetchPlan, _ projection: Projection?) throws(Failure) -> FetchExplanation {
    let sql: String, arguments: SQLArguments
    if let projection {
      let compiled = try projectionSQL(plan, projection)
      (sql, arguments) = (compiled.sql, compiled.arguments)
    } else {
      let compiled = try fetchSQL(plan)
      (sql, arguments) = (
        compiled.selectKeyed(layout(plan).identifierColumns) ?? compiled.select(layout(plan).identifierColumns),
        compiled.arguments
      )
    }
    let steps = try steps(of: sql, arguments)
    var unindexed: [String] = []
    for part in plan.predicate?.conjuncts ?? [] {
      var alone = FetchPlan(entity: plan.entity, includesSubentities: plan.includesSubentities, predicate: part)
      alone.limit = nil
      let compiled = try fetchSQL(alone)
      let table = "SCAN \(RowLayout.alias)"
      let alonePlan = try self.steps(of: compiled.selectUnordered(layout(plan).identifierColumns), compiled.arguments)
      if alonePlan.contains(where: { $0.hasPrefix(table) }) { unindexed.append(part.text) }
    }
    let order = plan.sort.map(\.text) + (projection?.order.map(\.text) ?? [])
    if !order.isEmpty, steps.contains(where: { $0.hasPrefix("USE TEMP B-TREE FOR") && $0.hasSuffix("ORDER BY") }) {
      unindexed.append("the order by \(order.joined(separator: ", "))")
    }
    return FetchExplanation(
      sql: sql, arguments: arguments.all.map(\.description), steps: steps, unindexed: unindexed)
  }

  private func steps(of sql: String, _ arguments: SQLArguments) throws(Failure) -> [String] {
    try withConnection { connection throws(Failure) in
      var steps: [String] = []
      func add(_ sql: String, below: Int) throws(Failure) {
        let statement = try connection.statement("EXPLAIN QUERY PLAN \(sql)")
        try arguments.bind(to: statement)
        var depths: [Int64: Int] = [0: below]
        while try statement.step() {
          let depth = (depths[statement.integer(at: 1)] ?? below) + 1
          depths[statement.integer(at: 0)] = depth
          steps.append(String(repeating: "  ", count: depth) + (statement.text(at: 3)?.string ?? ""))
        }
      }
      try add(sql, below: -1)
      for (place, argument) in arguments.all.enumerated() {
        guard case .part(let part) = argument else { continue }
        steps.append("STATEMENT ?\(place + 1)")
        try add(part.sql, below: 0)
      }
      return steps
    }
  }
}

extension Predicate {
  /// Parts that must all hold.
  fileprivate var conjuncts: [Predicate] {
    if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
  }
}

extension SQLArguments.Argument: CustomStringConvertible {
  /// A program is the condition that it tests.
  var description: String {
    switch self {
    case .value(let value): Expression.constant(value).text
    case .program(let program): "a program for \(program.text)"
    case .matcher(let matcher): Expression.constant(.text(matcher.pattern)).text
    case .part(let part): "a statement of its own: \(part.sql)"
    case .outer: "a value of the row that the statement is run for"
    }
  }
}
