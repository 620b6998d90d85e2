extension SQLCompiler {
  /// A term as an expression, for a program to evaluate.
  func argument(_ term: SQLTerm, _ written: String) throws(Failure) -> Expression {
    switch term {
    case .constant(let value): return .constant(value)
    case .expression(let expression): return expression
    case .column(let column):
      let kind = SQLLeaf.Kind.value(column.type)
      return lookup(SQLLeaf(sql: column.sql, kind: kind, home: column.home, stack: column.stack), written)
    case .row(let row):
      touch(row.home)
      let kind = SQLLeaf.Kind.value(.object(root: row.entity.rootNumber))
      return lookup(SQLLeaf(sql: row.key, kind: kind, home: row.home, stack: row.keyStack), written)
    case .collection(let collection):
      if let (operation, left, right) = collection.set, collection.steps.isEmpty { return .set(operation, left, right) }
      return leaf(try packed(collection), written)
    }
  }

  func leaf(_ leaf: SQLLeaf, _ written: String) -> Expression {
    leaves.append(leaf)
    return .argument(leaves.count - 1, written)
  }

  /// The same for a value of a row, which a program is given once, however often it asks for it.
  private func lookup(_ leaf: SQLLeaf, _ written: String) -> Expression {
    guard leaf.stack == SQLColumn.plainStack else { return self.leaf(leaf, written) }
    if let known = plainLeaves[leaf.sql], known < leaves.count { return .argument(known, written) }
    plainLeaves[leaf.sql] = leaves.count
    return self.leaf(leaf, written)
  }

  /// All elements of a collection as one value.
  private func packed(_ collection: SQLCollection) throws(Failure) -> SQLLeaf {
    let ((value, kind, stack), lowest) = try enclosed(above: collection.number) {
      () throws(Failure) -> (String, SQLLeaf.Kind, Int) in
      switch try element(of: collection) {
      case .column(let column): return (column.sql, .value(column.type), column.stack)
      case .row(let row): return (row.key, .value(.object(root: row.entity.rootNumber)), row.keyStack)
      case .collection(let inner):
        let leaf = try packed(inner)
        return (leaf.sql, leaf.kind, leaf.stack)
      case .constant(let value):
        let (sql, stack) = try computed(.constant(value), .coded)
        return (sql, .coded, stack)
      case .expression(let expression):
        let (sql, stack) = try computed(expression, .coded)
        return (sql, .coded, stack)
      }
    }
    touch(collection.home)
    var sql = "(SELECT \(ProgramFunctions.pack)(v) FROM (\(collection.select("\(value) AS v", ordered: true))))"
    var depth = 7 + collection.stack(stack, ordered: true)
    if let key = collection.nilKey {
      sql = "CASE WHEN \(key) IS NOT NULL THEN \(sql) END"
      depth = max(3 + collection.ownerStack, 5 + depth)
    }
    let fitting = fitted(sql, stack: depth)
    return SQLLeaf(sql: fitting.sql, kind: .list(kind), home: min(collection.home, lowest), stack: fitting.stack)
  }

  // MARK: Programs

  /// A comparison that a program answers.
  func tested(_ comparison: Comparison) throws(Failure) -> SQLFragment { try tested(.comparison(comparison)) }

  /// The same of any predicate; its keys are looked up first.
  func tested(_ predicate: Predicate, _ scope: SQLScope) throws(Failure) -> SQLFragment {
    try tested(rewritten(predicate, scope))
  }

  private func tested(_ predicate: Predicate) throws(Failure) -> SQLFragment {
    let node = try PredicateNode(predicate)
    let (sql, stack, isConstant) = try call(ProgramFunctions.test, predicate.sides) {
      SQLProgram(.predicate(node), predicate.text, $0)
    }
    // What fails is said when a row is asked about, and perhaps never.
    if isConstant {
      var scope = Scope(subject: .nil, variables: [:])
      if let holds = try? node.holds(&scope) { return .constant(holds) }
    }
    return fitted(SQLFragment(sql: sql, isExact: true, stack: stack))
  }

  /// What a program makes of an expression.
  func computed(
    _ expression: Expression, _ result: SQLProgram.Result
  ) throws(Failure) -> (sql: String, stack: Int) {
    let node = try ExpressionNode(expression)
    let (sql, stack, _) = try call(ProgramFunctions.compute, [expression]) {
      SQLProgram(.expression(node, result), expression.text, $0)
    }
    return fitted(sql, stack: stack)
  }

  /// SQLite calls a function with at most 127 arguments, one of which is the program.
  static let mostArguments = 126

  private func call(
    _ function: String, _ parts: [Expression], _ program: ([(number: Int, kind: SQLLeaf.Kind)]) -> SQLProgram
  ) throws(Failure) -> (sql: String, stack: Int, isConstant: Bool) {
    var numbers: [Int] = []
    var isPure = true
    func collect(_ expression: Expression) {
      if case .argument(let number, _) = expression, !numbers.contains(number) { numbers.append(number) }
      if case .function(let name, _) = expression, !FunctionTable.isPure(name) { isPure = false }
      for part in expression.parts { collect(part) }
    }
    for part in parts { collect(part) }
    for number in numbers { touch(leaves[number].home) }
    if numbers.count > SQLCompiler.mostArguments {
      throw Failure(
        .unsupported,
        "\(parts.map(\.text).joined(separator: " and ")) looks up \(numbers.count) values of each row at once. SQLite "
          + "hands over \(SQLCompiler.mostArguments) at most; divide it into several conditions with OR or AND.")
    }
    let parameter = arguments.parameter(program(numbers.map { ($0, leaves[$0].kind) }))
    let name = isPure ? function : function + ProgramFunctions.volatileSuffix
    let list = ([parameter] + numbers.map { leaves[$0].sql }).joined(separator: ", ")
    let stack = 6 + (numbers.map { leaves[$0].stack }.max() ?? 0)
    return ("\(name)(\(list))", stack, isPure && numbers.isEmpty)
  }

  /// A predicate inside an expression: its comparisons stay with the program, what they look up does not.
  func rewritten(_ predicate: Predicate, _ scope: SQLScope) throws(Failure) -> Predicate {
    switch predicate {
    case .constant: return predicate
    case .not(let part): return .not(try rewritten(part, scope))
    case .and(let parts): return .and(try rewritten(Predicate.gathered(and: parts), scope))
    case .or(let parts): return .or(try rewritten(Predicate.gathered(or: parts), scope))
    case .comparison(let comparison): return .comparison(try rewritten(comparison, scope))
    }
  }

  @inline(never)
  private func rewritten(_ comparison: Comparison, _ scope: SQLScope) throws(Failure) -> Comparison {
    var comparison = comparison
    comparison.left = try argument(comparison.left, scope)
    comparison.right = try argument(comparison.right, scope)
    return comparison
  }

  @inline(never)
  private func rewritten(_ parts: [Predicate], _ scope: SQLScope) throws(Failure) -> [Predicate] {
    var results: [Predicate] = []
    for part in parts { results.append(try rewritten(part, scope)) }
    return results
  }
}
