@testable import QuireCore

/// Everything that a model says, as lines of text that can be compared.
enum ModelSummary {
  /// The class of transformable values is for Xcode's generated code: a source has it, a compiled model need not.
  static func lines(of model: Model, valueClasses: Bool = true) throws -> [String] {
    try model.freeze()
    var lines: [String] = []
    for entity in model.entities.sorted(by: { $0.name < $1.name }) {
      lines.append(
        "entity \(entity.name): \(entity.parentName) \(entity.isAbstract) '\(entity.versionHashModifier)' "
          + "'\(entity.renamingIdentifier)' '\(entity.className)' \(text(entity.userInfo))")
      lines += entity.ownAttributes.map { attribute($0, valueClasses: valueClasses) }.sorted()
      lines += entity.ownRelationships.map { relationship($0) }.sorted()
      lines += entity.ownFetchedProperties.map {
        "  fetched \($0.name): \($0.isOptional) \(request($0.template)) \(text($0.userInfo))"
      }.sorted()
      // A compiled model declares what a source implies.
      lines += (entity.fetchIndexes + entity.impliedIndexes).map { index($0) }.sorted()
      lines += entity.uniquenessConstraints.map { "  unique \($0)" }
      lines += entity.ownRules.map { rule in
        let predicate = (rule.condition as? PredicateCondition)?.predicate.text ?? "?"
        return "  rule '\(rule.key)' \(predicate): \(rule.message)"
      }
    }
    lines += model.fetchTemplates.map { "template \($0.name): \(request($0.template))" }.sorted()
    lines += model.configurations.map { "configuration \($0.name): \($0.entityNames.sorted())" }.sorted()
    lines += model.versionIdentifiers.map { "identifier \($0)" }.sorted()
    return lines
  }

  static func hashes(of model: Model) throws -> [String: [UInt8]] {
    try model.freeze()
    return Dictionary(uniqueKeysWithValues: VersionHash(model: model).byName.map { ($0.name, $0.hash) })
  }

  private static func common(_ property: Property) -> String {
    "\(property.isOptional) \(property.isTransient) '\(property.versionHashModifier)' "
      + "'\(property.renamingIdentifier)' \(text(property.userInfo))"
  }

  private static func attribute(_ attribute: Attribute, valueClasses: Bool) -> String {
    let rules = attribute.rules, traits = attribute.traits
    let parts: [String] = [
      "  attribute \(attribute.name): \(attribute.type.name)", common(attribute), attribute.defaultValue.kindName,
      exact(attribute.declaredDefault), exact(rules.minimum), exact(rules.maximum),
      "\(rules.minimumLength ?? -1)-\(rules.maximumLength ?? -1)", rules.pattern?.string ?? "-",
      "\(traits.allowsExternalStorage) \(traits.preservesAfterDeletion) \(traits.allowsCloudEncryption)",
      "'\(traits.transformer)'", valueClasses ? "'\(traits.valueClassName)'" : "", derivation(attribute.derivation),
      "\(attribute.composition?.elements.map { self.attribute($0, valueClasses: valueClasses) } ?? [])",
    ]
    return parts.joined(separator: " ")
  }

  private static func derivation(_ derivation: Derivation?) -> String {
    guard let derivation else { return "" }
    let source = derivation.source as? ArchivedDerivation
    let kept = "\(source?.expression?.text ?? "-") \(source?.filter?.text ?? "-")"
    return "\(derivation.operation) \(derivation.keys) \(kept)"
  }

  private static func relationship(_ relationship: Relationship) -> String {
    let parts: [String] = [
      "  relationship \(relationship.name): \(relationship.destinationName)", relationship.inverseName,
      common(relationship), "\(relationship.isToMany) \(relationship.isOrdered)", "\(relationship.minimumCount)",
      "\(relationship.declaredMaximumCount) \(relationship.deleteRule)",
    ]
    return parts.joined(separator: " ")
  }

  private static func exact(_ value: QuireCore.Value) -> String {
    if case .date(let seconds) = value { return "\(seconds)" }
    return value.sectionName.string
  }

  private static func text(_ info: UserInfo) -> String {
    "\(info.entries.map { "\($0.key)=\($0.value)" }.sorted())"
  }

  private static func index(_ index: FetchIndex) -> String {
    let elements = index.elements.map { element in
      let target: String
      switch element.target {
      case .property(let name): target = name
      case .object: target = "SELF"
      case .entity: target = "entity"
      case .expression(let kept): target = (kept as? IndexedExpression)?.expression.text ?? "?"
      }
      return "\(target) \(element.isDescending)"
    }
    let condition = (index.condition as? IndexPredicate)?.predicate.text ?? ""
    return "  index \(index.name): \(index.kind) \(elements) \(condition)"
  }

  private static func request(_ template: any FetchTemplate) -> String {
    guard let request = template as? FetchRequest else { return "?" }
    let order = request.sort.map { "\($0.text) \($0.textOrder.kind)" }
    let parts: [String] = [
      request.entityName, request.predicate?.text ?? "", "\(order)", "\(request.limit ?? -1) \(request.offset)",
      "\(request.batchSize) \(request.resultType)", "\(request.includesSubentities)",
      "\(request.prefetchedKeyPaths)",
    ]
    return parts.joined(separator: " ")
  }
}
