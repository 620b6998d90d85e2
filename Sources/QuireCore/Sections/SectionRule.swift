/// By what a list gathers its rows, and in which order its sections come. Plain data, of no entity yet.
final class SectionRule: Sendable {
  let key: Expression
  let grouping: SectionGrouping
  let isDescending: Bool
  /// Of texts that are gathered by their value.
  let textOrder: TextOrder
  /// Sections that are there in any case, as values that they have.
  let fixed: [Value]

  /// Refuses what shows without a model.
  init(
    _ key: Expression, _ grouping: SectionGrouping = .value, isDescending: Bool = false,
    textOrder: TextOrder = .binary, fixed: [Value] = []
  ) throws(Failure) {
    self.key = key
    self.grouping = grouping
    self.isDescending = isDescending
    self.textOrder = textOrder
    self.fixed = fixed
    _ = try maker()
  }

  /// For one thread.
  func maker() throws(Failure) -> SectionMaker {
    try SectionMaker(grouping, isDescending: isDescending, textOrder: textOrder, fixed: fixed, source: key.text)
  }

  /// The key path of a property whose values are the sections as they are, so that a sort by it makes them.
  var plainKeyPath: [String]? {
    guard case .value = grouping, fixed.isEmpty, case .keyPath(let keys) = key else { return nil }
    return keys.contains { $0.isOperator || $0.isSelf } ? nil : keys.names
  }
}
