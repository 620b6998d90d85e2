/// Predicates as WHERE clauses that give, for every saved row, the answer that memory gives.
///
/// Comparisons that stand under AND alone are bare (`=`, ranges), so that indexes serve them; under NOT they are made
/// two-valued. What SQL has no words for, a program answers that SQL hands the values to. The connection must have the
/// functions of `PredicateFunctions`.
extension SQLCompiler {
  func condition(_ predicate: Predicate, _ scope: SQLScope) throws(Failure) -> SQLExpr {
    switch predicate {
    case .constant(let holds): return constant(holds)
    case .not(let part): return try negation(of: part, scope)
    case .and(let parts): return try chain(.and, Predicate.gathered(and: parts), scope)
    case .or(let parts): return try chain(.or, Predicate.gathered(or: parts), scope)
    case .comparison(let comparison): return try condition(comparison, scope)
    }
  }

  @inline(never)
  private func constant(_ holds: Bool) -> SQLExpr { .constant(holds) }

  @inline(never)
  private func negation(of part: Predicate, _ scope: SQLScope) throws(Failure) -> SQLExpr {
    negated(try condition(part, scope))
  }

  @inline(never)
  private func negated(_ condition: SQLExpr) -> SQLExpr { fitted(condition.negated) }

  @inline(never)
  private func chain(
    _ chain: SQLExpr.Chain, _ parts: [Predicate], _ scope: SQLScope
  ) throws(Failure) -> SQLExpr {
    joined(chain, try parts.count <= SQLCompiler.mostTerms ? conditions(parts, scope) : inBundles(chain, parts, scope))
  }

  @inline(never)
  private func inBundles(
    _ chain: SQLExpr.Chain, _ parts: [Predicate], _ scope: SQLScope
  ) throws(Failure) -> [SQLExpr] {
    var direct: [Predicate] = []
    var bundles: [[Predicate]] = []
    var room = 0
    for part in parts {
      guard direct.count >= SQLCompiler.mostTerms, let keyCount = part.keyCount else {
        direct.append(part)
        continue
      }
      if room < keyCount || (bundles.last?.count ?? .max) >= SQLCompiler.mostBundled {
        bundles.append([])
        room = SQLCompiler.mostArguments
      }
      bundles[bundles.count - 1].append(part)
      room -= keyCount
    }
    var conditions = try conditions(direct, scope)
    for bundle in bundles { conditions.append(try tested(chain == .or ? .or(bundle) : .and(bundle), scope)) }
    return conditions
  }

  @inline(never)
  private func joined(_ chain: SQLExpr.Chain, _ parts: [SQLExpr]) -> SQLExpr {
    fitted(.chain(chain, parts))
  }

  /// SQLite takes time by the square for the constants of a statement, and has no more than 32,766. What a chain has
  /// beyond so many terms, programs answer.
  private static let mostTerms = 1000
  /// How many terms one program answers.
  private static let mostBundled = 60

  @inline(never)
  private func conditions(_ parts: [Predicate], _ scope: SQLScope) throws(Failure) -> [SQLExpr] {
    var conditions: [SQLExpr] = []
    for part in parts { conditions.append(try condition(part, scope)) }
    return conditions
  }

  // MARK: Comparisons

  /// A side of a comparison: a term, or the terms of a list that is written out.
  private enum Operand {
    case term(SQLTerm)
    case parts([SQLTerm])
  }

  @inline(never)
  private func condition(_ comparison: Comparison, _ scope: SQLScope) throws(Failure) -> SQLExpr {
    let left = try operand(comparison.left, inParts: comparison.hasPartsOnLeft, scope)
    // What the right side looks at counts where its value is used, which may be in a collection.
    let outer = enter()
    let right = try operand(comparison.right, inParts: comparison.hasPartsOnRight, scope)
    return try condition(comparison, left, right, lowest: leave(outer, above: .max))
  }

  @inline(never)
  private func operand(_ expression: Expression, inParts: Bool, _ scope: SQLScope) throws(Failure) -> Operand {
    guard inParts, let parts = expression.listParts else { return .term(try term(expression, scope)) }
    var terms: [SQLTerm] = []
    terms.reserveCapacity(parts.count)
    for part in parts { terms.append(try term(part, scope)) }
    return .parts(terms)
  }

  @inline(never)
  private func condition(
    _ comparison: Comparison, _ left: Operand, _ right: Operand, lowest: Int
  ) throws(Failure) -> SQLExpr {
    if comparison.options.contains(.word) { return fitted(try tested(comparison, left, right)) }
    if comparison.modifier == .direct { return fitted(try direct(comparison, left, right)) }
    guard case .term(.collection(let collection)) = left else {
      switch left {
      case .parts, .term(.expression), .term(.constant): return fitted(try tested(comparison, left, right))
      default: break
      }
      throw Failure(
        .invalidPredicate,
        "\(comparison.modifier == .any ? "ANY" : "ALL") needs a collection on its left side, and in "
          + "\(Predicate.comparison(comparison).text) there is \(comparison.left.text), which has one value.")
    }
    var one = comparison
    one.modifier = .direct
    let isAll = comparison.modifier == .all, element = one
    let found = try exists(collection, isInner: false) { term throws(Failure) in
      self.touch(lowest)
      let test = try self.direct(element, .term(term), right)
      return isAll ? test.negated : test
    }
    return fitted(isAll ? found.negated : found)
  }

  /// Whether a test holds for some element; of collections in a collection, for some of theirs.
  private func exists(
    _ collection: SQLCollection, isInner: Bool, _ test: (SQLTerm) throws(Failure) -> SQLExpr
  ) throws(Failure) -> SQLExpr {
    let (condition, lowest) = try enclosed(above: collection.number) { () throws(Failure) -> SQLExpr in
      let element = try self.element(of: collection)
      guard case .collection(let inner) = element else { return try test(element) }
      return try exists(inner, isInner: true, test)
    }
    touch(collection.home)
    // What is nil has no elements, and is one where it stands in a collection itself.
    var whenNil = SQLExpr.constant(false)
    if isInner, let key = collection.nilKey {
      whenNil = .chain(.and, [.isNull(key), try test(.constant(.nil))])
    }
    return fitted(.chain(.or, [found(collection, condition, lowest), whenNil]))
  }

  private func found(_ collection: SQLCollection, _ condition: SQLExpr, _ lowest: Int) -> SQLExpr {
    if condition.isFalse { return .constant(false) }
    let more = condition.isTrue ? [] : [condition]
    let isFiltered = !more.isEmpty || collection.conditions.contains { !$0.isExact }
    // Without a look at the outer row the owners are found once, from the other end; a part would find them each time.
    if let link = collection.link, isFiltered, lowest >= collection.number, !parting.isOn {
      let owners = collection.select(link.column, also: more, isLinked: false)
      return fitted(.member(link.owner, of: .selects(SQLSelects(owners))))
    }
    return fitted(SQLExpr(.exists(collection.select(.constant(true), also: more))))
  }

  /// `comparison` with these sides, as it is, without ANY or ALL.
  private func direct(_ comparison: Comparison, _ left: Operand, _ right: Operand) throws(Failure) -> SQLExpr {
    switch (left, right) {
    case (.parts(let parts), .term(let right)):
      if let value = side(right), let sides = sides(parts) {
        var membership = comparison
        membership.operator = .isIn
        if let condition = try ComparisonSQL(membership, arguments).condition(value, parts: sides) { return condition }
      }
    case (.term(let left), .parts(let parts)):
      if let value = side(left), let sides = sides(parts),
        let condition = try ComparisonSQL(comparison, arguments).condition(value, parts: sides)
      {
        return condition
      }
    case (.term(let left), .term(let right)):
      if let leftSide = side(left), let rightSide = side(right),
        let condition = try ComparisonSQL(comparison, arguments).condition(leftSide, rightSide)
      {
        return condition
      }
      if comparison.operator == .isIn, case .collection(let collection) = right, side(left) != nil {
        return try contains(collection, left, comparison)
      }
      if comparison.operator == .contains, case .collection(let collection) = left, side(right) != nil {
        return try contains(collection, right, comparison)
      }
    case (.parts, .parts): break
    }
    return try tested(comparison, left, right)
  }

  /// nil when one of them has none.
  private func sides(_ terms: [SQLTerm]) -> [ComparisonSQL.Side]? {
    var sides: [ComparisonSQL.Side] = []
    sides.reserveCapacity(terms.count)
    for term in terms {
      guard let side = side(term) else { return nil }
      sides.append(side)
    }
    return sides
  }

  /// Whether one of the elements equals a single value.
  private func contains(
    _ collection: SQLCollection, _ item: SQLTerm, _ comparison: Comparison
  ) throws(Failure) -> SQLExpr {
    var equality = comparison
    equality.operator = .equal
    let (condition, lowest) = try enclosed(above: collection.number) { () throws(Failure) -> SQLExpr in
      touch(item)
      let element = try self.element(of: collection)
      // A list is no single value, but what is nil is no list.
      if case .collection(let inner) = element {
        guard let key = inner.nilKey, let item = side(item) else { return .constant(false) }
        let isNil = try ComparisonSQL(equality, arguments).condition(item, .constant(.nil)) ?? .constant(false)
        return .chain(.and, [.isNull(key), isNil])
      }
      if let left = side(element), let right = side(item),
        let condition = try ComparisonSQL(equality, arguments).condition(left, right)
      {
        return condition
      }
      equality.left = try argument(element, comparison.left.text)
      equality.right = try argument(item, comparison.right.text)
      return try tested(equality)
    }
    touch(collection.home)
    return found(collection, condition, lowest)
  }

  /// nil for what has no column and is no single constant.
  private func side(_ term: SQLTerm) -> ComparisonSQL.Side? {
    switch term {
    case .constant(.list), .collection, .expression: return nil
    case .constant(let value): return .constant(value)
    case .column(let column):
      touch(column.home)
      return .column(column)
    case .row(let row):
      touch(row.home)
      return .column(
        SQLColumn(expr: row.key, type: .object(root: row.entity.rootNumber), home: row.home))
    }
  }

  private func touch(_ term: SQLTerm) {
    switch term {
    case .constant: return
    case .column(let column): touch(column.home)
    case .row(let row): touch(row.home)
    case .collection(let collection): touch(collection.home)
    case .expression: touch(0)
    }
  }

  private func tested(_ comparison: Comparison, _ left: Operand, _ right: Operand) throws(Failure) -> SQLExpr {
    var comparison = comparison
    comparison.left = try argument(left, comparison.left)
    comparison.right = try argument(right, comparison.right)
    return try tested(comparison)
  }

  private func argument(_ operand: Operand, _ written: Expression) throws(Failure) -> Expression {
    switch operand {
    case .term(let term): return try argument(term, of: written)
    case .parts(let terms):
      guard case .list(let parts) = written else { return written }
      var arguments: [Expression] = []
      for (part, term) in zip(parts, terms) { arguments.append(try argument(term, of: part)) }
      return .aggregate(arguments)
    }
  }
}

extension Predicate {
  /// How many keys a program looks up for it; nil for what a program does not answer so well.
  fileprivate var keyCount: Int? {
    switch self {
    case .constant: return 0
    case .not(let part): return part.keyCount
    case .and(let parts), .or(let parts): return Predicate.keyCount(of: parts)
    case .comparison(let comparison): return comparison.keyCount
    }
  }

  @inline(never)
  private static func keyCount(of parts: [Predicate]) -> Int? {
    var count = 0
    for part in parts {
      guard let inner = part.keyCount, count + inner <= SQLCompiler.mostArguments else { return nil }
      count += inner
    }
    return count
  }
}

extension Comparison {
  fileprivate var keyCount: Int? {
    guard let left = left.keyCount, let right = right.keyCount, left + right <= SQLCompiler.mostArguments else {
      return nil
    }
    return left + right
  }
}

extension Expression {
  fileprivate var keyCount: Int? {
    switch self {
    case .constant: return 0
    case .keyPath(let keys): return keys.contains(where: \.isOperator) ? nil : 1
    case .function(let name, let parts) where FunctionTable.isPure(name):
      var count = 0
      for part in parts {
        guard let inner = part.keyCount else { return nil }
        count += inner
      }
      return count
    default: return nil
    }
  }
}

extension Comparison {
  /// Whether a list on that side is looked up part by part. Under ANY and ALL the parts of a list on the left are
  /// asked, and not the list.
  fileprivate var hasPartsOnLeft: Bool { `operator` == .contains && modifier == .direct }
  fileprivate var hasPartsOnRight: Bool { `operator` == .isIn || `operator` == .between }
}
