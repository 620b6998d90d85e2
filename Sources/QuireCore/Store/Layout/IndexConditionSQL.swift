/// The condition of a partial index as SQL, spelled as Core Data spells it: `ZFAVORITE = 1`, `(ZA = 0 AND ZB <> 1)`.
/// It has columns of the row and constants, since nothing else may be in an index.
struct IndexConditionSQL {
  let schema: Schema
  let index: FetchIndexSQL

  func text(_ predicate: Predicate) throws(Failure) -> String {
    switch predicate {
    case .constant(let holds): return holds ? "1" : "0"
    case .not(let part): return "NOT (\(try text(part)))"
    case .and(let parts): return try joined(parts, by: " AND ")
    case .or(let parts): return try joined(parts, by: " OR ")
    case .comparison(let comparison): return try text(comparison)
    }
  }

  private func joined(_ parts: [Predicate], by separator: String) throws(Failure) -> String {
    var texts: [String] = []
    for part in parts { texts.append(try text(part)) }
    return "(\(texts.joined(separator: separator)))"
  }

  private func text(_ comparison: Comparison) throws(Failure) -> String {
    guard comparison.modifier == .direct, comparison.options.isEmpty else { throw unknown(comparison) }
    var (left, right, relation) = (comparison.left, comparison.right, comparison.operator)
    if left.constantValue != nil {
      (left, right) = (right, left)
      relation = mirrored(relation)
    }
    guard let property = property(left), let column = schema.valueColumn(of: property),
      let value = right.constantValue
    else { throw unknown(comparison) }
    if value.isNil {
      switch relation {
      case .equal: return "\(column) IS NULL"
      case .notEqual: return "\(column) IS NOT NULL"
      default: throw unknown(comparison)
      }
    }
    guard let sign = sign(relation), let literal = literal(value) else { throw unknown(comparison) }
    return "\(column) \(sign) \(literal)"
  }

  private func property(_ expression: Expression) -> Property? {
    switch expression {
    case .keyPath(let keys) where keys.count == 1, .path(.selfObject, let keys) where keys.count == 1:
      index.entity.propertiesByName[keys[0].name]
    default: nil
    }
  }

  private func sign(_ relation: Comparison.Operator) -> String? {
    switch relation {
    case .equal: "="
    case .notEqual: "<>"
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    default: nil
    }
  }

  private func mirrored(_ relation: Comparison.Operator) -> Comparison.Operator {
    switch relation {
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    default: relation
    }
  }

  /// nil for what no condition of Core Data's has.
  private func literal(_ value: Value) -> String? {
    switch value {
    case .double(let double), .date(let double): double.isFinite ? SQLLiteral.text(value) : nil
    case .float(let float): float.isFinite ? SQLLiteral.text(value) : nil
    case .decimal(let decimal): decimal.description
    case .text(let text), .uri(let text): text.bytes.buffer.contains(0) ? nil : SQLLiteral.text(value)
    case .integer, .boolean: SQLLiteral.text(value)
    default: nil
    }
  }

  private func unknown(_ comparison: Comparison) -> Failure {
    index.failure(
      "has the condition '\(Predicate.comparison(comparison).text)'. A condition compares columns of the row with "
        + "constants.")
  }
}
