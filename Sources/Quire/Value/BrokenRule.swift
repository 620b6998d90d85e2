/// Which rule was broken by which object, for a failed validation. It names the object instead of holding it, so that
/// an error may outlive the context and be used by any thread.
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
  let entityName: Text
  /// nil for a row that has no object: that of a batch request.
  let object: ObjectReferenceBox?
  /// Empty when the rule is about the object as a whole.
  let key: Text
  let value: Value
  /// The predicate of a rule that has one, otherwise empty.
  let condition: Text
  /// A value that C sees as text and that has none of its own.
  let valueText: Text?

  init(
    _ rule: Rule, entityName: Text, object: ObjectReferenceBox?, key: Text, value: Value, condition: Text = Text("")
  ) {
    self.rule = rule
    self.entityName = entityName
    self.object = object
    self.key = key
    self.value = value
    self.condition = condition
    if case .decimal(let decimal) = value { valueText = Text(decimal.description) } else { valueText = nil }
  }
}
