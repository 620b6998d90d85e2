/// Predicates as WHERE clauses that give, for every saved row, the answer that memory gives.
///
/// Comparisons that stand under AND alone are bare (`=`, ranges), so that indexes serve them; under NOT they are made
/// two-valued. What SQL has no words for, a program answers that SQL hands the values to. The connection must have the
/// functions of `PredicateFunctions`.
extension SQLCompiler {
  func fragment(_ predicate: Predicate, _ scope: SQLScope) throws(Failure) -> SQLFragment {
    switch predicate {
    case .constant(let holds): return .constant(holds)
    case .not(let part): return fitted(try fragment(part, scope).negated)
    case .and(let parts): return fitted(.chain(.and, try fragments(Predicate.gathered(and: parts), scope)))
    case .or(let parts): return fitted(.chain(.or, try fragments(Predicate.gathered(or: parts), scope)))
    case .comparison(let comparison): return fitted(try fragment(comparison, scope))
    }
  }

  private func fragments(_ parts: [Predicate], _ scope: SQLScope) throws(Failure) -> [SQLFragment] {
    var fragments: [SQLFragment] = []
    for part in parts { fragments.append(try fragment(part, scope)) }
    return fragments
  }

  // MARK: Comparisons

  private func fragment(_ comparison: Comparison, _ scope: SQLScope) throws(Failure) -> SQLFragment {
    let left = try term(comparison.left, scope)
    if comparison.options.contains(.word) { return try tested(comparison, left, scope) }
    if comparison.modifier == .direct { return try direct(comparison, left, scope) }
    guard case .collection(let collection) = left else {
      if case .expression = left { return try tested(comparison, left, scope) }
      if case .constant = left { return try tested(comparison, left, scope) }
      throw Failure(
        .invalidPredicate,
        "\(comparison.modifier == .any ? "ANY" : "ALL") needs a collection on its left side, and in "
          + "\(Predicate.comparison(comparison).text) there is \(comparison.left.text), which has one value.")
    }
    var one = comparison
    one.modifier = .direct
    let isAll = comparison.modifier == .all, element = one
    let found = try exists(collection, isInner: false) { term throws(Failure) in
      let test = try self.direct(element, term, scope)
      return isAll ? test.negated : test
    }
    return isAll ? found.negated : found
  }

  /// Whether a test holds for some element; of collections in a collection, for some of theirs.
  private func exists(
    _ collection: SQLCollection, isInner: Bool, _ test: (SQLTerm) throws(Failure) -> SQLFragment
  ) throws(Failure) -> SQLFragment {
    let (fragment, lowest) = try enclosed(above: collection.number) { () throws(Failure) -> SQLFragment in
      let element = try self.element(of: collection)
      guard case .collection(let inner) = element else { return try test(element) }
      return try exists(inner, isInner: true, test)
    }
    touch(collection.home)
    // What is nil has no elements, and is one where it stands in a collection itself.
    var whenNil = SQLFragment.constant(false)
    if isInner, let key = collection.nilKey {
      let isNil = SQLFragment(sql: "\(key) IS NULL", isExact: true, stack: 1 + collection.ownerStack)
      whenNil = .chain(.and, [isNil, try test(.constant(.nil))])
    }
    return fitted(.chain(.or, [found(collection, fragment, lowest), whenNil]))
  }

  private func found(_ collection: SQLCollection, _ fragment: SQLFragment, _ lowest: Int) -> SQLFragment {
    if fragment.isFalse { return .constant(false) }
    let more = fragment.isTrue ? [] : [fragment]
    let isFiltered = !more.isEmpty || collection.conditions.contains { !$0.isExact }
    // Without a look at the outer row the owners are found once, from the other end; a part would find them each time.
    if let link = collection.link, isFiltered, lowest >= collection.number, !parting.isOn {
      let owners = collection.select(link.column, also: more, isLinked: false)
      let stack = max(collection.ownerStack, 3 + collection.stack(also: more, isLinked: false))
      return fitted(SQLFragment(sql: "\(link.owner) IN (\(owners))", isExact: false, stack: stack))
    }
    return fitted(
      SQLFragment(
        sql: "EXISTS (\(collection.select("1", also: more)))", isExact: true,
        stack: 2 + collection.stack(also: more)))
  }

  /// `comparison` with `left` for its left side, as it is, without ANY or ALL.
  private func direct(_ comparison: Comparison, _ left: SQLTerm, _ scope: SQLScope) throws(Failure) -> SQLFragment {
    if let parts = comparison.right.listParts, comparison.operator == .isIn || comparison.operator == .between,
      let leftSide = side(left)
    {
      var sides: [ComparisonSQL.Side] = []
      for part in parts { if let side = side(try term(part, scope)) { sides.append(side) } }
      if sides.count == parts.count,
        let fragment = try ComparisonSQL(comparison, arguments).fragment(leftSide, parts: sides)
      {
        return fragment
      }
      return try tested(comparison, left, scope)
    }
    let right = try term(comparison.right, scope)
    if comparison.operator == .contains, let parts = comparison.left.listParts, let value = side(right) {
      var membership = comparison
      membership.operator = .isIn
      var sides: [ComparisonSQL.Side] = []
      for part in parts { if let side = side(try term(part, scope)) { sides.append(side) } }
      if sides.count == parts.count,
        let fragment = try ComparisonSQL(membership, arguments).fragment(value, parts: sides)
      {
        return fragment
      }
    }
    if let leftSide = side(left), let rightSide = side(right),
      let fragment = try ComparisonSQL(comparison, arguments).fragment(leftSide, rightSide)
    {
      return fragment
    }
    if comparison.operator == .isIn, case .collection(let collection) = right, side(left) != nil {
      return try contains(collection, left, comparison)
    }
    if comparison.operator == .contains, case .collection(let collection) = left, side(right) != nil {
      return try contains(collection, right, comparison)
    }
    return try tested(comparison, left, scope)
  }

  /// Whether one of the elements equals a single value.
  private func contains(
    _ collection: SQLCollection, _ item: SQLTerm, _ comparison: Comparison
  ) throws(Failure) -> SQLFragment {
    var equality = comparison
    equality.operator = .equal
    let (fragment, lowest) = try enclosed(above: collection.number) { () throws(Failure) -> SQLFragment in
      touch(item)
      let element = try self.element(of: collection)
      // A list is no single value, but what is nil is no list.
      if case .collection(let inner) = element {
        guard let key = inner.nilKey, let item = side(item) else { return .constant(false) }
        let isNil = try ComparisonSQL(equality, arguments).fragment(item, .constant(.nil)) ?? .constant(false)
        let isNilKey = SQLFragment(sql: "\(key) IS NULL", isExact: true, stack: 1 + inner.ownerStack)
        return .chain(.and, [isNilKey, isNil])
      }
      if let left = side(element), let right = side(item),
        let fragment = try ComparisonSQL(equality, arguments).fragment(left, right)
      {
        return fragment
      }
      equality.left = try argument(element, comparison.left.text)
      equality.right = try argument(item, comparison.right.text)
      return try tested(equality)
    }
    touch(collection.home)
    return found(collection, fragment, lowest)
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
        SQLColumn(sql: row.key, type: .object(root: row.entity.rootNumber), home: row.home, stack: row.keyStack))
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

  private func tested(_ comparison: Comparison, _ left: SQLTerm, _ scope: SQLScope) throws(Failure) -> SQLFragment {
    var comparison = comparison
    comparison.left = try argument(left, comparison.left.text)
    comparison.right = try argument(comparison.right, scope)
    return try tested(comparison)
  }
}
