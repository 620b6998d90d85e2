/// The validation predicates of an attribute. Those that Xcode makes of bounds have a number for a message; others are
/// rules with a message of their own.
struct AttributeConditions {
  private(set) var rules = AttributeRules()
  private(set) var conditions: [(predicate: Predicate, message: Text)] = []

  init(_ node: ArchiveNode, _ reader: PredicateReader) throws(Failure) {
    let predicates = node["NSValidationPredicates"]?.elements ?? []
    let warnings = predicates.isEmpty ? [] : node["NSValidationWarnings"]?.elements ?? []
    for (place, element) in predicates.enumerated() {
      let predicate = try reader.predicate(element)
      let warning = warnings.indices.contains(place) ? warnings[place] : nil
      if warning?.text == nil, take(predicate) { continue }
      let message = warning?.text ?? "'\(predicate.text)' does not hold."
      conditions.append((predicate, Text(message.isEmpty ? predicate.text : message)))
    }
  }

  /// Whether the predicate is a bound, a length or a pattern.
  private mutating func take(_ predicate: Predicate) -> Bool {
    guard case .comparison(let comparison) = predicate, comparison.modifier == .direct, comparison.options.isEmpty,
      let value = comparison.right.constantValue
    else { return false }
    switch (comparison.left, comparison.operator) {
    case (.selfObject, .greaterThanOrEqual): rules.minimum = value
    case (.selfObject, .lessThanOrEqual): rules.maximum = value
    case (.selfObject, .matches):
      guard case .text(let pattern) = value else { return false }
      rules.pattern = pattern
    case (.keyPath([Key("length")]), let relation):
      guard case .integer(let integer) = value, let length = Int(exactly: integer), length >= 0 else { return false }
      switch relation {
      case .greaterThanOrEqual: rules.minimumLength = length
      case .lessThanOrEqual: rules.maximumLength = length
      default: return false
      }
    default: return false
    }
    return true
  }
}
