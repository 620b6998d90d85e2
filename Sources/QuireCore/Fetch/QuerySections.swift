/// A section rule resolved against an entity. For the thread of one context.
final class QuerySections {
  let rule: SectionRule
  /// The key of the rule, bound.
  private let key: Expression
  /// Where the key looks beyond the rows themselves.
  let reach: Reach
  /// The way to the object that makes the section, where that is what the key leads to.
  let objectPath: [Relationship]?
  private let maker: SectionMaker
  private let evaluator: ExpressionEvaluator

  init(_ rule: SectionRule, in entity: Entity, of store: any Engine) throws(Failure) {
    self.rule = rule
    let key = try BoundExpression(rule.key, to: entity, of: store.uuid)
    self.key = key.expression
    reach = key.reach
    if !rule.key.isPure {
      throw Failure(
        .invalidArgument,
        "\(rule.key.text) may give another value each time, so that no section can be made of it. Store the value.")
    }
    var path: [Relationship]?
    if case .keyPath(let keys) = key.expression, let type = try entity.columnType(atKeyPath: keys) {
      if let wanted = rule.grouping.comparisonClass, type.comparisonClass != wanted {
        throw Failure(
          .invalidArgument,
          "The sections are made of \(wanted.name), and '\(rule.key.text)' is \(type.comparisonClass.name). "
            + "Cast it, or group it otherwise.")
      }
      if case .value = rule.grouping {
        for case let kind? in rule.fixed.map(\.comparisonClass) where kind != type.comparisonClass {
          throw Failure(
            .invalidArgument,
            "A fixed section is \(kind.name), and '\(rule.key.text)' is \(type.comparisonClass.name), so that it would "
              + "never have rows. Name fixed sections by values of the key.")
        }
      }
      if case .object = type {
        let steps = keys.compactMap { $0.property as? Relationship }
        if steps.count == keys.count, !steps.contains(where: \.isTransient) { path = steps }
      }
    }
    objectPath = path
    maker = try rule.maker()
    evaluator = try ExpressionEvaluator(key.expression)
  }

  /// Those that are there in any case.
  var fixed: [SectionKey] { maker.fixed }

  /// The section of an object, with its values as they are now.
  func section(of object: ManagedObject) throws(Failure) -> SectionKey {
    try maker.section(of: evaluator.value(of: .subject(object)).sectionValue(of: rule.key))
  }

  func scan() -> SectionScan { SectionScan(key, maker) }
}
