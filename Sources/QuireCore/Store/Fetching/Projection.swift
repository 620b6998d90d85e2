/// The result of a fetch in place of objects: columns of values, of rows or of groups of rows.
struct Projection {
  struct Column {
    let name: String
    let expression: Expression

    init(name: String, expression: Expression) {
      self.name = name
      self.expression = expression
    }

    init(keyPath: [String]) {
      self.init(name: keyPath.joined(separator: "."), expression: .keyPath([Key](named: keyPath)))
    }
  }

  var columns: [Column] = []
  /// Key paths; rows with equal values there are one row of the result.
  var groups: [[String]] = []
  /// Which groups there are.
  var having: Predicate?
  var isDistinct = false
  /// By columns, by what they are called, or by key paths of the rows.
  var order: [SortDescriptor] = []
}

extension SQLCompiler {
  /// An aggregate of the rows of a group; nil when the function is to be asked of each row by itself.
  ///
  /// `before` is how many arguments there were when the term was not compiled yet.
  func aggregate(
    _ name: String, _ part: Expression, _ term: SQLTerm, before: Int, _ written: Expression, _ scope: SQLScope
  ) throws(Failure) -> SQLTerm? {
    guard let aggregation = scope.aggregation, FunctionTable.aggregates.contains(name) else { return nil }
    let argument: SQLTerm
    switch term {
    case .column(let column): argument = .column(column)
    case .row(let row):
      argument = .column(SQLColumn(expr: row.key, type: .object(root: row.entity.rootNumber)))
    case .constant, .collection: return nil
    case .expression(let expression):
      if givesList(expression) { return nil }
      argument = .expression(expression)
    }
    if aggregation.arguments.count > before {
      throw Failure(
        .invalidArgument,
        "\(written.text) is an aggregate of an aggregate, of which a group has but one value. "
          + "Take the inner one alone.")
    }
    aggregation.add(part)
    if case .column(let column) = argument {
      switch name {
      case "count:":
        return .column(SQLColumn(expr: .call(.count, column.expr), type: .integer))
      case "min:", "max:":
        guard column.type.comparisonClass.hasOrder else {
          throw Failure(
            .invalidPredicate, "\(written.text) compares \(column.type.comparisonClass.name), which has no order.")
        }
        let extreme = SQLExpr.call(name == "min:" ? .minimum : .maximum, column.expr)
        return .column(SQLColumn(expr: extreme, type: column.type))
      case "sum:", "average:", "avg:":
        guard column.type.comparisonClass == .number else {
          throw Failure(
            .invalidPredicate,
            "\(written.text) calculates with \(column.type.comparisonClass.name). Only numbers have sums.")
        }
        return .expression(leaf(SQLCompiler.calculation(name == "sum:", column), written.text))
      default: break
      }
    }
    let value: SQLExpr, kind: SQLLeaf.Kind
    switch argument {
    case .column(let column): (value, kind) = (column.expr, .value(column.type))
    case .expression(let expression):
      (value, kind) = (try computed(expression, .coded), .coded)
      if name == "count:" { return .column(SQLColumn(expr: .call(.count, value), type: .integer)) }
    default: return nil
    }
    let list = leaf(SQLLeaf(expr: .call(.pack, value), kind: .list(kind), home: 0), part.text)
    return .expression(.function(name, [list]))
  }

  /// The sum or the average of a column of numbers.
  private static func calculation(_ isSum: Bool, _ column: SQLColumn) -> SQLLeaf {
    if column.type != .decimal {
      return SQLLeaf(expr: .call(isSum ? .sum : .average, column.expr), kind: .number, home: 0)
    }
    if !isSum { return SQLLeaf(expr: .call(.decimalAverage, column.expr), kind: .number, home: 0) }
    return SQLLeaf(
      expr: .call(.decimalSum, column.expr), kind: .coded, home: 0, order: .call(.decimalTotal, column.expr))
  }

  /// Whether an expression has many values in each row, so that a function such as max: is one of the row.
  private func givesList(_ expression: Expression) -> Bool {
    switch expression {
    case .list, .set, .subquery, .function("mode:", _): return true
    case .argument(let number, _):
      if case .list = leaves[number].kind { return true }
      return false
    case .path(let base, let keys):
      guard let operation = keys.last(where: \.isOperator)?.name else { return givesList(base) }
      return operation.hasPrefix("@union") || operation.hasPrefix("@distinctUnion")
    case .conditional(_, let first, let second): return givesList(first) || givesList(second)
    default: return false
    }
  }
}
