/// The calculations of a list over its rows: expressions with names, made of aggregates. Of no entity yet.
struct AggregatePlan {
  enum Kind {
    case count, sum, min, max, average

    fileprivate init?(_ name: String) {
      switch name {
      case "count:": self = .count
      case "sum:": self = .sum
      case "min:": self = .min
      case "max:": self = .max
      case "average:", "avg:": self = .average
      default: return nil
      }
    }
  }

  /// One aggregate: of the values of a column.
  struct Part {
    let kind: Kind
    let column: Int
    let expression: Expression
  }

  struct Formula {
    let name: Text
    /// Its parts are the arguments of the expression.
    fileprivate(set) var parts: [Part] = []
    fileprivate(set) var node = ExpressionNode.subject

    fileprivate init(_ name: String) { self.name = Text(name) }
  }

  /// The values needed of each row.
  private(set) var columns: [Expression] = []
  private(set) var formulas: [Formula] = []

  var isEmpty: Bool { formulas.isEmpty }

  func place(of name: String) throws(Failure) -> Int {
    let text = Text(name)
    if let place = formulas.firstIndex(where: { $0.name == text }) { return place }
    throw Failure(.notFound, "The results have no aggregate called '\(name)'.")
  }

  mutating func add(_ name: String, _ expression: Expression) throws(Failure) {
    if name.isEmpty || (try? place(of: name)) != nil {
      throw Failure(.invalidArgument, "An aggregate needs a name that no other has, and not '\(name)'.")
    }
    var formula = Formula(name)
    let rest = try gather(expression, &formula)
    if formula.parts.isEmpty {
      throw Failure(.invalidArgument, "\(expression.text) has no aggregate in it, such as sum:(price).")
    }
    formula.node = try ExpressionNode(rest)
    formulas.append(formula)
  }

  /// The expression with an argument in place of each aggregate.
  private mutating func gather(_ expression: Expression, _ formula: inout Formula) throws(Failure) -> Expression {
    switch expression {
    case .constant: return expression
    case .list(let parts): return .list(try gather(parts, &formula))
    case .function(let name, let parts):
      guard parts.count == 1, FunctionTable.aggregates.contains(name), !parts[0].isWrittenOut else {
        return .function(name, try gather(parts, &formula))
      }
      guard let kind = Kind(name) else {
        throw Failure(
          .unsupported,
          "\(expression.text) is not kept up to date; the aggregates of results are sum: count: min: max: average:.")
      }
      if !parts[0].isPure {
        throw Failure(
          .invalidArgument, "\(parts[0].text) may give another value each time, so that no aggregate can follow it.")
      }
      // To count rows nothing is to be known of them.
      let argument = kind == .count && parts[0] == .selfObject ? .constant(.boolean(true)) : parts[0]
      let column = columns.firstIndex(of: argument) ?? columns.count
      if column == columns.count { columns.append(argument) }
      formula.parts.append(Part(kind: kind, column: column, expression: expression))
      return .argument(formula.parts.count - 1, expression.text)
    default:
      throw Failure(
        .invalidArgument,
        "\(expression.text) need not be the same in all rows. Put it into an aggregate: max:(\(expression.text)).")
    }
  }

  private mutating func gather(_ parts: [Expression], _ formula: inout Formula) throws(Failure) -> [Expression] {
    var results: [Expression] = []
    for part in parts { results.append(try gather(part, &formula)) }
    return results
  }

  /// Refuses aggregates of keys whose values have none. `columns` are those of the plan, bound to `entity`.
  func check(_ columns: [Expression], in entity: Entity) throws(Failure) {
    for part in formulas.flatMap(\.parts) where part.kind != .count {
      guard case .keyPath(let keys) = columns[part.column],
        let kind = try entity.columnType(atKeyPath: keys)?.comparisonClass
      else { continue }
      let isSum = part.kind == .sum || part.kind == .average
      if isSum ? kind != .number : !kind.hasOrder {
        throw Failure(
          .invalidPredicate,
          "\(part.expression.text) \(isSum ? "calculates with" : "compares") \(kind.name). "
            + (isSum ? "Only numbers have sums." : "That has no order."))
      }
    }
  }
}

extension Expression {
  fileprivate var isWrittenOut: Bool {
    switch self {
    case .constant, .list: true
    default: false
    }
  }
}
