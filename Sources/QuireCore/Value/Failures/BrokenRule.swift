/// Which rule was broken by which value, for a failed validation; its failure says by which object.
final class BrokenRule: Sendable {
  /// Numbers as in `quire_rule`.
  enum Rule: UInt32, Sendable {
    case mandatory = 1
    case tooFew = 2
    case tooMany = 3
    case denied = 4
    case tooSmall = 5
    case tooLarge = 6
    case tooShort = 7
    case tooLong = 8
    case pattern = 9
    case condition = 10
    case hook = 11
  }

  let rule: Rule
  let value: Value
  /// The predicate of a rule that has one, otherwise empty.
  let condition: Text
  /// A value that C sees as text and that has none of its own.
  let valueText: Text?

  init(_ rule: Rule, value: Value, condition: Text = Text("")) {
    self.rule = rule
    self.value = value
    self.condition = condition
    if case .decimal(let decimal) = value { valueText = Text(decimal.description) } else { valueText = nil }
  }
}
