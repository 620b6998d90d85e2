/// Trees are as deep as the parser allows, and the compilation of one level has to leave room for all others in a small
/// stack. Hence a function for each kind of expression, kept apart. A level takes the stack that its own kind needs.
/// Calls that do not go deeper have returned before the next level begins.
extension SQLCompiler {
  /// What an expression is in SQL, with its keys looked up.
  func term(_ expression: Expression, _ scope: SQLScope) throws(Failure) -> SQLTerm {
    if let constant = try folded(expression) { return constant }
    switch expression {
    case .path: return try path(expression, scope)
    case .function(let name, let parts): return try function(name, parts, expression, scope)
    case .list(let parts): return .expression(.list(try arguments(parts, scope)))
    case .index(let base, let index, let isGrouped): return try self.index(base, index, isGrouped, expression, scope)
    case .subquery(let collection, let variable, let condition):
      return try subquery(collection, variable, condition, scope)
    case .conditional(let condition, let first, let second): return try conditional(condition, first, second, scope)
    case .set(let operation, let left, let right): return try set(operation, left, right, scope)
    default: return try leaf(expression, scope)
    }
  }

  @inline(never)
  private func folded(_ expression: Expression) throws(Failure) -> SQLTerm? {
    try Arithmetic.fold(expression).map { .constant($0) }
  }

  /// Of an expression without parts.
  @inline(never)
  private func leaf(_ expression: Expression, _ scope: SQLScope) throws(Failure) -> SQLTerm {
    switch expression {
    case .constant(let constant): return .constant(constant.value)
    case .selfObject:
      touch(scope.subject.home)
      return .row(scope.subject)
    case .variable(let name): return try variable(name, scope)
    case .keyPath(let keys):
      if keys.count == 1, let named = scope.names[keys[0].name] { return named }
      return try walk(.row(scope.subject), keys, expression)
    case .argument: return .expression(expression)
    case .variableKey(_, let name):
      throw Failure(
        .invalidPredicate,
        "\(expression.text) has a key that is not known before there is a value for $\(name). "
          + "Substitute one.")
    default: throw Failure(.unsupported, "\(expression.text) is not supported in a fetch.")
    }
  }

  /// The same as an expression whose parts are looked up by SQL.
  func argument(_ expression: Expression, _ scope: SQLScope) throws(Failure) -> Expression {
    try argument(term(expression, scope), of: expression)
  }

  @inline(never)
  func argument(_ term: SQLTerm, of expression: Expression) throws(Failure) -> Expression {
    try argument(term, expression.text)
  }

  @inline(never)
  private func arguments(_ parts: [Expression], _ scope: SQLScope) throws(Failure) -> [Expression] {
    var arguments: [Expression] = []
    for part in parts { arguments.append(try argument(part, scope)) }
    return arguments
  }

  private func variable(_ name: String, _ scope: SQLScope) throws(Failure) -> SQLTerm {
    switch scope.variables[name] {
    case .element(let collection): return try element(of: collection)
    case .term(let term): return term
    case .program: return .expression(.variable(name))
    case nil:
      throw Failure(.invalidPredicate, "The variable $\(name) has no value; substitute one for it.")
    }
  }

  @inline(never)
  private func path(_ expression: Expression, _ scope: SQLScope) throws(Failure) -> SQLTerm {
    guard case .path(let base, let keys) = expression else { return try leaf(expression, scope) }
    if case .conditional(let condition, let first, let second) = base {
      return try conditional(condition, .path(first, keys), .path(second, keys), scope)
    }
    return try walk(term(base, scope), keys, expression)
  }

  @inline(never)
  private func conditional(
    _ condition: Predicate, _ first: Expression, _ second: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    let condition = try rewritten(condition, scope)
    let first = try argument(first, scope)
    return .expression(.conditional(condition, first, try argument(second, scope)))
  }

  // MARK: Keys

  /// Follows keys and collection operators. `written` is what a failure names.
  @inline(never)
  func walk(_ start: SQLTerm, _ keys: [Key], _ written: Expression) throws(Failure) -> SQLTerm {
    var term = start
    for (place, key) in keys.enumerated() {
      if key.isOperator {
        return try walk(term, operator: key, Array(keys[(place + 1)...]), written)
      }
      switch term {
      case .row(let row): term = try value(of: key, in: row)
      case .collection(let collection): term = .collection(collection.mapping(.keys([key])))
      case .column(let column):
        guard key.isSelf || column.type.hasLength && key.name == "length" else {
          let value = column.attribute.map { "'\($0.qualifiedName)', which is an attribute" } ?? "a value"
          throw Failure(
            .invalidArgument,
            "Key path '\(written.text)' goes on after \(value), with '\(key.name)'. "
              + "End it there, or step through a relationship.", about: column.attribute.map { .property($0) })
        }
        if !key.isSelf { term = .expression(.path(try argument(term, written.text), [key])) }
      case .constant, .expression: term = .expression(.path(try argument(term, written.text), [key]))
      }
    }
    return term
  }

  private func walk(
    _ term: SQLTerm, operator key: Key, _ rest: [Key], _ written: Expression
  ) throws(Failure) -> SQLTerm {
    guard case .collection(let collection) = term, let operation = CollectionOperator(rawValue: key.name) else {
      // What is wrong with it, the program says.
      return .expression(.path(try argument(term, written.text), [key] + rest))
    }
    if operation == .count { return try walk(count(collection), rest, written) }
    let values = rest.isEmpty ? collection : collection.mapping(.keys(rest))
    if operation == .minimum || operation == .maximum, case .column(let column) = try element(of: values),
      column.type.comparisonClass.hasOrder
    {
      touch(values.home)
      let extreme = SQLExpr.call(operation == .minimum ? .minimum : .maximum, column.expr)
      let found = fitted(SQLExpr(.scalar(values.select(extreme))))
      return .column(SQLColumn(expr: found, type: column.type, home: values.home))
    }
    return .expression(.path(try argument(.collection(values), written.text), [key]))
  }

  /// What is taken of the row of a collection.
  func element(of collection: SQLCollection) throws(Failure) -> SQLTerm {
    touch(collection.number)
    return try following(collection.steps, from: collection.row)
  }

  private func following(_ steps: [SQLCollection.Step], from row: SQLRow) throws(Failure) -> SQLTerm {
    var term = SQLTerm.row(row)
    for step in steps {
      switch step {
      case .keys(let keys): term = try walk(term, keys, .keyPath(keys))
      case .indexed(let key, let index):
        if case .collection(let inner) = term {
          term = .collection(inner.mapping(step))
        } else {
          term = try self.index(walk(term, [key], .keyPath([key])), index, .keyPath([key]))
        }
      }
    }
    return term
  }

  func count(_ collection: SQLCollection) -> SQLTerm {
    touch(collection.home)
    let count = SQLExpr(.scalar(collection.select(SQLExpr(.rows))))
    return .column(SQLColumn(expr: fitted(count.unlessNil(collection)), type: .integer, home: collection.home))
  }

  // MARK: Indexes

  @inline(never)
  private func index(
    _ base: Expression, _ index: Expression.Index, _ isGrouped: Bool, _ written: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    let index = try place(index, written, scope)
    if !isGrouped, let (owner, key) = base.splitAtLastKey, base.isPathOfKeys {
      let owners = try term(owner, scope)
      if case .collection(let rows) = owners { return .collection(rows.mapping(.indexed(key, index))) }
      return try self.index(walk(owners, [key], base), index, base)
    }
    return try self.index(term(base, scope), index, base)
  }

  /// An index whose keys are looked up.
  @inline(never)
  private func place(
    _ index: Expression.Index, _ written: Expression, _ scope: SQLScope
  ) throws(Failure) -> Expression.Index {
    guard case .expression(let expression) = index else { return index }
    let found = try term(expression, scope)
    switch found {
    case .collection: throw Failure(.invalidPredicate, "\(written.text) has a list for an index into a list.")
    case .constant: return index
    default: return .expression(try argument(found, of: expression))
    }
  }

  /// `index` has been looked up itself; `written` is what it is an index of.
  @inline(never)
  private func index(
    _ term: SQLTerm, _ index: Expression.Index, _ written: Expression
  ) throws(Failure) -> SQLTerm {
    var place: Int?
    if case .expression(let expression) = index, let value = try Arithmetic.fold(expression) {
      if let key = value.comparableText, case .row = term { return try walk(term, [Key(key.string)], written) }
      place = value.number.flatMap { Int(exactly: $0.double) }
    }
    let program = Expression.index(try argument(term, written.text), index, isGrouped: true)
    guard case .collection(let collection) = term else { return .expression(program) }
    if case .size = index { return count(collection) }
    let (element, _) = try enclosed(above: collection.number) { () throws(Failure) -> SQLTerm in
      try self.element(of: collection)
    }
    var order: [SQLOrder]?
    var offset: Int?
    switch index {
    case .first: order = collection.order
    case .last: order = collection.order.map(\.reversed)
    case .size: break
    case .expression:
      if let place, place >= 0 {
        order = collection.order
        offset = place
      }
    }
    touch(collection.home)
    func select(_ value: SQLExpr) -> SQLExpr? {
      guard let order else { return nil }
      var select = collection.select(value)
      select.query.order = order
      select.query.window = .one(offset: offset)
      return fitted(SQLExpr(.scalar(select)))
    }
    switch element {
    case .column(let column):
      guard let selected = select(column.expr) else { break }
      return .column(SQLColumn(expr: selected, type: column.type, home: collection.home))
    case .row(let row):
      let key = if let selected = select(row.key) { selected } else { try computed(program, .objectID) }
      return .row(SQLRow(entity: row.entity, key: key, home: collection.home, joins: nil))
    case .collection:
      // Of a list of lists, one is what the steps lead to from one row.
      guard let key = select(collection.row.key) else { break }
      let row = SQLRow(entity: collection.row.entity, key: key, home: collection.home, joins: nil)
      return try following(collection.steps, from: row)
    default: break
    }
    return .expression(program)
  }

  // MARK: Collections

  @inline(never)
  private func subquery(
    _ collection: Expression, _ variable: String, _ condition: Predicate, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    let found = try term(collection, scope)
    let inner = self.scope(inside: found, variable, scope)
    guard let number = found.collectionNumber else {
      let condition = try rewritten(condition, inner)
      return .expression(.subquery(try argument(found, of: collection), variable: variable, condition))
    }
    let outer = enter()
    let isMet = try self.condition(condition, inner)
    return filtered(found, isMet, lowest: leave(outer, above: number))
  }

  @inline(never)
  private func scope(inside found: SQLTerm, _ variable: String, _ scope: SQLScope) -> SQLScope {
    var inner = scope
    guard case .collection(let collection) = found else {
      inner.variables[variable] = .program
      return inner
    }
    inner.variables[variable] = .element(collection)
    // Inside, rows are looked at one by one.
    inner.aggregation = nil
    inner.names = [:]
    return inner
  }

  @inline(never)
  private func filtered(_ rows: SQLTerm, _ condition: SQLExpr, lowest: Int) -> SQLTerm {
    guard case .collection(var found) = rows else { return rows }
    found.conditions.append(condition)
    // Nothing is found in nil, which is not nil.
    found.nilKey = nil
    found.home = min(found.home, lowest)
    found.set = nil
    return .collection(found)
  }

  @inline(never)
  private func set(
    _ operation: Expression.SetOperation, _ left: Expression, _ right: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    let leftTerm = try term(left, scope)
    return try set(operation, left, leftTerm, right, term(right, scope))
  }

  @inline(never)
  private func set(
    _ operation: Expression.SetOperation, _ left: Expression, _ leftTerm: SQLTerm, _ right: Expression,
    _ rightTerm: SQLTerm
  ) throws(Failure) -> SQLTerm {
    let leftItems = try argument(leftTerm, left.text), rightItems = try argument(rightTerm, right.text)
    if case .collection(let leftRows) = leftTerm, case .collection(let rightRows) = rightTerm,
      var both = try combined(operation, leftRows, rightRows)
    {
      both.set = (operation, leftItems, rightItems)
      return .collection(both)
    }
    return .expression(.set(operation, leftItems, rightItems))
  }

  // MARK: Functions

  @inline(never)
  private func function(
    _ name: String, _ parts: [Expression], _ written: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    if name == "objectFrom:withIndex:", parts.count == 2 {
      return try index(parts[0], Expression.Index(argument: parts[1]), true, written, scope)
    }
    let before = scope.aggregation?.arguments.count ?? 0
    var terms: [SQLTerm] = []
    for part in parts { terms.append(try term(part, scope)) }
    return try function(name, parts, terms, before: before, written, scope)
  }

  @inline(never)
  private func function(
    _ name: String, _ parts: [Expression], _ terms: [SQLTerm], before: Int, _ written: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm {
    if parts.count == 1,
      let aggregate = try aggregate(name, parts[0], terms[0], before: before, written, scope)
    {
      return aggregate
    }
    switch (name, parts.count) {
    case ("count:", 1):
      if case .collection(let collection) = terms[0] { return count(collection) }
    case ("noindex:", 1):
      guard case .column(var column) = terms[0] else { return terms[0] }
      column.expr = SQLExpr(.unindexed(column.expr))
      column.textIndex = nil
      return .column(column)
    case ("now", 0):
      // One moment for the whole statement, so that an index may serve.
      return .constant(try ExpressionEvaluator(written).value(of: .nil).scalar ?? .nil)
    default: break
    }
    var arguments: [Expression] = []
    for (part, term) in zip(parts, terms) { arguments.append(try argument(term, part.text)) }
    let call = Expression.function(name, arguments)
    if arguments.allSatisfy({ $0.constantValue != nil }), case .value(let value)? = try ExpressionNode(call).constant {
      return .constant(value)
    }
    return .expression(call)
  }
}

extension ColumnType {
  fileprivate var hasLength: Bool { self == .text || self == .uri || self == .data }
}

extension SQLExpr {
  /// NULL where a collection that this looks at is nil.
  @inline(never)
  func unlessNil(_ collection: SQLCollection) -> SQLExpr {
    collection.nilKey.map { SQLExpr(.present(key: $0, self)) } ?? self
  }
}

extension SQLTerm {
  fileprivate var collectionNumber: Int? {
    if case .collection(let collection) = self { collection.number } else { nil }
  }
}

extension Expression {
  /// A path of keys alone. Only these go on from what their beginning is; a conditional is asked for its keys on both
  /// sides, and a collection operator has a say in the keys behind it. Neither gives rows to take the places of.
  fileprivate var isPathOfKeys: Bool {
    switch self {
    case .path(.conditional, _): false
    case .keyPath(let keys), .path(_, let keys): !keys.contains(where: \.isOperator)
    default: false
    }
  }
}
