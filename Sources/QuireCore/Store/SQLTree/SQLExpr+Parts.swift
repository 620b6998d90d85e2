/// What follows for a node from its parts.
extension SQLExpr.Kind {
  var isExact: Bool {
    switch self {
    case .truth, .isNull, .isNotTrue, .exists, .comparison(.same, _, _): true
    case .function(let function, _): function.isExact
    case .chain(_, let parts): parts.allSatisfy(\.isExact)
    case .group(let part), .not(let part), .likely(let part): part.isExact
    default: false
    }
  }

  /// The most entries that the parser of SQLite has on its stack while it reads this. The rules are those of its
  /// grammar. An operand that stands behind others is read on top of them. All are one entry when they have been read.
  var stack: Int {
    switch self {
    case .truth, .integer, .parameter: 1
    case .column(let name): name.alias.isEmpty ? 1 : 3
    case .rows: 4
    case .function(_, let parts):
      // `name(` and DISTINCT, which is never there, come before the first, and a list with a comma before the others.
      parts.count == 1 ? max(4, 3 + parts[0].stack) : 5 + parts.greatestStack
    case .real(let part): max(6, 2 + part.stack)
    case .unindexed(let part), .group(let part): max(3, 1 + part.stack)
    case .likely(let part): max(6, 3 + part.stack)
    case .comparison(_, let left, let right): max(left.stack, 2 + right.stack)
    case .isNull(let part): 1 + part.stack
    case .between(let part, _, _): max(5, part.stack)
    case .membership(let part, let list, let isNegated): max(part.stack, (isNegated ? 4 : 3) + list.stack)
    case .chain(_, let parts): max(1 + parts[0].stack, 3 + parts.dropFirst().greatestStack)
    case .not(let part): 2 + part.stack
    case .isNotTrue(let part): max(4, 1 + part.stack)
    case .present(let key, let value): max(4 + key.stack, 5 + value.stack)
    case .exists(let select): 2 + select.stack
    case .scalar(let select): 1 + select.stack
    }
  }

  /// In the order in which they are written.
  var parts: [SQLExpr] {
    switch self {
    case .truth, .integer, .parameter, .column, .rows: []
    case .real(let part), .unindexed(let part), .likely(let part), .isNull(let part), .between(let part, _, _),
      .group(let part), .not(let part), .isNotTrue(let part):
      [part]
    case .comparison(_, let first, let second), .present(let first, let second): [first, second]
    case .function(_, let parts), .chain(_, let parts): parts
    case .membership(let part, let list, _): [part] + list.parts
    case .exists(let select), .scalar(let select): select.parts
    }
  }

  /// The statements that are part of it.
  var selects: [SQLSelect] {
    switch self {
    case .exists(let select), .scalar(let select): [select]
    case .membership(_, let list, _): list.selects
    default: []
    }
  }
}

extension Collection<SQLExpr> {
  /// 0 for none.
  var greatestStack: Int { reduce(0) { Swift.max($0, $1.stack) } }
}
