/// What takes a tree apart into the words of its text, in their order.
protocol SQLSink {
  mutating func put(_ text: StaticString)
  mutating func put(name: String)
  mutating func put(_ number: Int)
  mutating func put(_ expr: SQLExpr)
}

extension SQLSink {
  mutating func put(_ kind: SQLExpr.Kind) {
    switch kind {
    case .truth(let holds): put(holds ? "1" : "0")
    case .integer(let integer): put(name: String(integer))
    case .parameter(let number):
      put("?")
      put(number)
    case .column(let name):
      if !name.alias.isEmpty {
        put(name: name.alias)
        put(".")
      }
      put(name: name.column)
    case .rows: put("count(*)")
    case .function(let function, let parts):
      put(name: function.name)
      put("(")
      put(parts, ", ")
      put(")")
    case .real(let part): put("CAST(", part, " AS REAL)")
    case .unindexed(let part): put("+", part, "")
    case .likely(let part): put("likelihood(", part, ", 0.25)")
    case .comparison(let sign, let left, let right):
      put(left)
      put(sign.text)
      put(right)
    case .isNull(let part): put("", part, " IS NULL")
    case .between(let part, let first, let last):
      put("", part, " BETWEEN ")
      put(first)
      put(" AND ")
      put(last)
    case .membership(let part, let list, let isNegated):
      put("", part, isNegated ? " NOT IN (" : " IN (")
      put(list)
      put(")")
    case .chain(let chain, let parts):
      put("(")
      put(parts, chain == .and ? ") AND (" : ") OR (")
      put(")")
    case .group(let part): put("(", part, ")")
    case .not(let part): put("NOT (", part, ")")
    case .isNotTrue(let part): put("(", part, ") IS NOT TRUE")
    case .present(let key, let value):
      put("CASE WHEN ", key, " IS NOT NULL THEN ")
      put("", value, " END")
    case .exists(let select): put("EXISTS (", select, ")")
    case .scalar(let select): put("(", select, ")")
    }
  }

  private mutating func put(_ before: StaticString, _ expr: SQLExpr, _ after: StaticString) {
    put(before)
    put(expr)
    put(after)
  }

  mutating func put(_ exprs: [SQLExpr], _ separator: StaticString) {
    var isFirst = true
    for expr in exprs {
      if !isFirst { put(separator) }
      isFirst = false
      put(expr)
    }
  }

  @inline(never)
  private mutating func put(_ list: SQLList) {
    switch list {
    case .values(let values): put(values, ", ")
    case .selects(let selects), .searched(let selects): put(selects)
    case .ids(let parameter): put("SELECT value FROM json_each(", parameter, ")")
    case .packed(let count, let values):
      put(
        "WITH RECURSIVE place(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM place WHERE i + 1 < ", count, ") SELECT ")
      put(name: SQLFunction.element.name)
      put("(", values, ", i) FROM place")
    }
  }

  // MARK: Statements

  @inline(never)
  private mutating func put(_ before: StaticString, _ select: SQLSelect, _ after: StaticString) {
    put(before)
    put(select)
    put(after)
  }

  private mutating func put(_ select: SQLSelect) {
    put("SELECT ")
    put(select.value)
    if !select.name.isEmpty {
      put(" AS ")
      put(name: select.name)
    }
    put(select.query)
  }

  private mutating func put(_ selects: SQLSelects) {
    var isFirst = true
    for select in selects.all {
      if !isFirst { put(selects.union == .all ? " UNION ALL " : " UNION ") }
      isFirst = false
      put(select)
    }
  }

  mutating func put(_ query: SQLQuery) {
    put(query.tables)
    put(query.conditions)
    if !query.groups.isEmpty {
      put(" GROUP BY ")
      put(query.groups, ", ")
    }
    if let having = query.having { put(" HAVING ", having, "") }
    put(query.order)
    put(query.window)
  }

  mutating func put(_ tables: [SQLTable]) {
    for table in tables {
      put(table.join.text)
      if let selects = table.selects {
        put("(")
        put(selects)
        put(")")
      } else {
        put(name: table.name)
      }
      if !table.alias.isEmpty {
        put(" ")
        put(name: table.alias)
      }
      if let condition = table.condition { put(" ON ", condition, "") }
    }
  }

  mutating func put(_ conditions: [SQLExpr]) {
    if conditions.isEmpty { return }
    put(" WHERE ")
    put(conditions, " AND ")
  }

  mutating func put(_ order: [SQLOrder]) {
    var isFirst = true
    for term in order {
      put(isFirst ? " ORDER BY " : ", ", term.value, term.isDescending ? " DESC" : "")
      isFirst = false
    }
  }

  mutating func put(_ window: SQLQuery.Window?) {
    switch window {
    case nil: return
    case .one(let offset):
      put(" LIMIT 1")
      if let offset {
        put(" OFFSET ")
        put(offset)
      }
    case .parameters(let limit, let offset):
      put(" LIMIT ", limit, " OFFSET ")
      put(offset)
    }
  }
}
