/// The functions that make one value of a group of rows.
final class SQLAggregation {
  /// What was taken of the rows of a group.
  private(set) var arguments: [Expression] = []

  func add(_ argument: Expression) { arguments.append(argument) }

  /// Whether an expression takes from rows what they need not have in common: a key outside of aggregates that is not
  /// grouped. The key, for a failure.
  func loose(_ expression: Expression, groups: [[String]]) -> String? {
    switch expression {
    case .function(let name, let parts)
    where FunctionTable.aggregates.contains(name) && parts.count == 1 && arguments.contains(parts[0]):
      return nil
    case .selfObject: return "SELF"
    case .keyPath(let keys), .path(.selfObject, let keys):
      let names = keys.names
      return groups.contains(names) ? nil : names.joined(separator: ".")
    default:
      for part in expression.parts { if let key = loose(part, groups: groups) { return key } }
      return nil
    }
  }
}
