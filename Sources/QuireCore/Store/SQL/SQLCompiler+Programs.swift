extension SQLCompiler {
  /// A term as an expression, for a program to evaluate.
  func argument(_ term: SQLTerm, _ written: String) throws(Failure) -> Expression {
    switch term {
    case .constant(let value): return .constant(value)
    case .expression(let expression): return expression
    case .column(let column):
      let kind = SQLLeaf.Kind.value(column.type)
      return lookup(SQLLeaf(expr: column.expr, kind: kind, home: column.home), written)
    case .row(let row):
      touch(row.home)
      let kind = SQLLeaf.Kind.value(.object(root: row.entity.rootNumber))
      return lookup(SQLLeaf(expr: row.key, kind: kind, home: row.home), written)
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
    guard let name = leaf.expr.name else { return self.leaf(leaf, written) }
    if let known = plainLeaves[name], known < leaves.count { return .argument(known, written) }
    plainLeaves[name] = leaves.count
    return self.leaf(leaf, written)
  }

  /// All elements of a collection as one value.
  private func packed(_ collection: SQLCollection) throws(Failure) -> SQLLeaf {
    let ((value, kind), lowest) = try enclosed(above: collection.number) {
      () throws(Failure) -> (SQLExpr, SQLLeaf.Kind) in
      switch try element(of: collection) {
      case .column(let column): return (column.expr, .value(column.type))
      case .row(let row): return (row.key, .value(.object(root: row.entity.rootNumber)))
      case .collection(let inner):
        let leaf = try packed(inner)
        return (leaf.expr, leaf.kind)
      case .constant(let value): return (try computed(.constant(value), .coded), .coded)
      case .expression(let expression): return (try computed(expression, .coded), .coded)
      }
    }
    touch(collection.home)
    let expr = fitted(packing(value, of: collection).unlessNil(collection))
    return SQLLeaf(expr: expr, kind: .list(kind), home: min(collection.home, lowest))
  }

  @inline(never)
  private func packing(_ value: SQLExpr, of collection: SQLCollection) -> SQLExpr {
    let rows = SQLTable(selects: SQLSelects(collection.select(value, as: "v", ordered: true)))
    return SQLExpr(
      .scalar(SQLSelect(value: .call(.pack, .column("", "v")), query: SQLQuery(tables: [rows]))))
  }

  // MARK: Programs

  /// A comparison that a program answers.
  func tested(_ comparison: Comparison) throws(Failure) -> SQLExpr { try tested(.comparison(comparison)) }

  /// The same of any predicate; its keys are looked up first.
  func tested(_ predicate: Predicate, _ scope: SQLScope) throws(Failure) -> SQLExpr {
    try tested(rewritten(predicate, scope))
  }

  private func tested(_ predicate: Predicate) throws(Failure) -> SQLExpr {
    let node = try PredicateNode(predicate)
    let (test, isConstant) = try call(.test, anew: .testAnew, predicate.sides) {
      SQLProgram(.predicate(node), predicate.text, $0)
    }
    // What fails is said when a row is asked about, and perhaps never.
    if isConstant {
      var scope = Scope(subject: .nil, variables: [:])
      if let holds = try? node.holds(&scope) { return .constant(holds) }
    }
    return fitted(test)
  }

  /// What a program makes of an expression.
  func computed(_ expression: Expression, _ result: SQLProgram.Result) throws(Failure) -> SQLExpr {
    let node = try ExpressionNode(expression)
    let (value, _) = try call(.compute, anew: .computeAnew, [expression]) {
      SQLProgram(.expression(node, result), expression.text, $0)
    }
    return fitted(value)
  }

  /// SQLite calls a function with at most 127 arguments, one of which is the program.
  static let mostArguments = 126

  private func call(
    _ function: SQLFunction, anew volatile: SQLFunction, _ parts: [Expression],
    _ program: ([(number: Int, kind: SQLLeaf.Kind)]) -> SQLProgram
  ) throws(Failure) -> (call: SQLExpr, isConstant: Bool) {
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
    let values = [parameter] + numbers.map { leaves[$0].expr }
    return (SQLExpr(.function(isPure ? function : volatile, values)), isPure && numbers.isEmpty)
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
