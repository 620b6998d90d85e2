/// The validation rules of a model, made ready entity by entity as they are needed. For one thread at a time.
final class RuleBook {
  private var books: [Int: EntityRules] = [:]

  func rules(of entity: Entity) throws(Failure) -> EntityRules {
    if let made = books[entity.number] { return made }
    let made = try EntityRules(entity)
    books[entity.number] = made
    return made
  }
}

/// What a save asks of the objects of one entity, besides values where there must be some, counts and deny rules.
final class EntityRules {
  /// By slot; empty when no attribute has any.
  private var byAttribute: [[RuleTest]] = []
  private(set) var conditions: [RuleCondition] = []
  /// Whether any object is valid, as far as its values and counts go.
  let isSatisfied: Bool

  fileprivate init(_ entity: Entity) throws(Failure) {
    var byAttribute = [[RuleTest]](repeating: [], count: entity.properties.count)
    for attribute in entity.attributes { byAttribute[attribute.slot] = try RuleTest.tests(attribute.rules) }
    for rule in entity.rules {
      let condition = try RuleCondition(rule)
      if rule.key.isEmpty {
        conditions.append(condition)
      } else {
        byAttribute[try entity.property(named: rule.key).slot].append(.condition(condition))
      }
    }
    let hasTests = byAttribute.contains { !$0.isEmpty }
    if hasTests { self.byAttribute = byAttribute }
    isSatisfied =
      !hasTests && conditions.isEmpty
      && entity.properties.allSatisfy { property in
        guard property.isOptional || property.isDerived else { return false }
        guard let relationship = property as? Relationship, relationship.isToMany else { return true }
        return relationship.minimumCount == 0 && relationship.maximumCount == 0
      }
  }

  var hasTests: Bool { !byAttribute.isEmpty }

  func tests(of property: Property) -> [RuleTest] { byAttribute.isEmpty ? [] : byAttribute[property.slot] }
}

/// One rule about the values of an attribute.
indirect enum RuleTest {
  case minimum(Value)
  case maximum(Value)
  case minimumLength(Int)
  case maximumLength(Int)
  case pattern(RegularExpression, Text)
  case condition(RuleCondition)

  fileprivate static func tests(_ rules: AttributeRules) throws(Failure) -> [RuleTest] {
    var tests: [RuleTest] = []
    if !rules.minimum.isNil { tests.append(.minimum(rules.minimum)) }
    if !rules.maximum.isNil { tests.append(.maximum(rules.maximum)) }
    if let bound = rules.minimumLength, bound > 0 { tests.append(.minimumLength(bound)) }
    if let bound = rules.maximumLength { tests.append(.maximumLength(bound)) }
    if let pattern = rules.pattern { tests.append(.pattern(try RegularExpression(pattern, []), pattern)) }
    return tests
  }

  /// The problem of a value that is not nil: the rule, and a sentence that goes on after the attribute's name, or
  /// stands alone when the rule has one of its own. nil without a problem.
  func problem(with value: Value) throws(Failure) -> (rule: BrokenRule.Rule, sentence: String)? {
    switch self {
    case .minimum(let bound):
      // What has no order, NaN in a transient attribute, is not within bounds.
      if let order = Value.order(value, bound), order >= 0 { return nil }
      return (.tooSmall, "is \(value.written), below its minimum of \(bound.written).")
    case .maximum(let bound):
      if let order = Value.order(value, bound), order <= 0 { return nil }
      return (.tooLarge, "is \(value.written), above its maximum of \(bound.written).")
    case .minimumLength(let bound):
      guard let length = value.length, length < bound else { return nil }
      return (.tooShort, "has the length \(length), below its minimum of \(bound).")
    case .maximumLength(let bound):
      guard let length = value.length, length > bound else { return nil }
      return (.tooLong, "has the length \(length), above its maximum of \(bound).")
    case .pattern(let expression, let pattern):
      guard let text = value.comparableText, try !expression.matches(text.bytes.buffer) else { return nil }
      return (.pattern, "does not match its pattern \(pattern).")
    case .condition(let condition):
      return try condition.holds(for: Item(value)) ? nil : (.condition, condition.message.string)
    }
  }

  /// The condition in the language of predicates, for rules that were set so.
  var predicate: RuleCondition? { if case .condition(let condition) = self { condition } else { nil } }
}

/// A rule that is a predicate.
final class RuleCondition {
  let message: Text
  let text: Text
  private let evaluator: PredicateEvaluator

  fileprivate init(_ rule: ValidationRule) throws(Failure) {
    guard let condition = rule.condition as? PredicateCondition else {
      throw Failure(.unsupported, "The rule \"\(rule.message)\" is no predicate, and nothing else is evaluated.")
    }
    message = rule.message
    text = condition.text
    evaluator = try PredicateEvaluator(condition.predicate)
  }

  func holds(for item: Item) throws(Failure) -> Bool { try evaluator.matches(item) }
}
