/// What IN looks into.
indirect enum SQLList {
  case values([SQLExpr])
  case selects(SQLSelects)
  /// Keys that a text index finds, each statement by itself.
  case searched(SQLSelects)
  /// The parameter of an `IDList`.
  case ids(SQLExpr)
  /// The parameters of a `PackedList`.
  case packed(count: SQLExpr, values: SQLExpr)

  /// See `SQLExpr.stack`, behind `IN (`.
  var stack: Int {
    switch self {
    case .values(let values): 2 + values.greatestStack
    case .selects(let selects), .searched(let selects): selects.stack
    case .ids: 12
    case .packed: 21
    }
  }

  var parts: [SQLExpr] {
    switch self {
    case .values(let values): values
    case .selects(let selects), .searched(let selects): selects.all.flatMap(\.parts)
    case .ids(let parameter): [parameter]
    case .packed(let count, let values): [count, values]
    }
  }

  var selects: [SQLSelect] {
    switch self {
    case .selects(let selects), .searched(let selects): selects.all
    default: []
    }
  }
}
