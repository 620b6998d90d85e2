/// An attribute as a file declares it.
struct LoadedAttribute {
  let name: String
  let type: AttributeType
  let isOptional: Bool
  let isTransient: Bool
  let isSearchable: Bool
  let defaultValue: Value
  let rules: AttributeRules
  /// Rules that bounds and a pattern do not say.
  let conditions: [(predicate: Predicate, message: Text)]
  let derivation: String?
  var derivationSource: (any DerivationSource)?
  let traits: AttributeTraits
  let modifier: Text
  let renaming: Text
  var isIndexed = false
  var impliesIndex = false
  /// Of a composite one: the name, and what it is made of.
  var composition: (name: Text, elements: [LoadedAttribute])?
}

/// A relationship as a file declares it.
struct LoadedRelationship {
  let name: String
  let destination: String
  let inverse: String
  let isToMany: Bool
  let isOrdered: Bool
  let isOptional: Bool
  let isTransient: Bool
  let minimum: Int
  let maximum: Int
  let rule: DeleteRule
  let namesJoinTable: Bool
  let modifier: Text
  let renaming: Text
  var isIndexed = false
}

extension Model {
  /// Adds an attribute of a file. A default that it cannot hold is none, and rules that its type does not have are left
  /// out: Core Data takes both from a model, and they change nothing in the file.
  func addLoadedAttribute(_ loaded: LoadedAttribute, to entityName: String) throws(Failure) {
    let entity = try entity(named: entityName)
    let probe = Attribute(
      name: loaded.name, entity: entity, type: loaded.type, isOptional: true, isTransient: loaded.isTransient)
    let isText = !loaded.isTransient && (loaded.type == .string || loaded.type == .uri)
    let attribute = try addAttribute(
      named: loaded.name, to: entityName, type: loaded.type, isOptional: loaded.isOptional,
      isTransient: loaded.isTransient, isSearchable: loaded.isSearchable && isText,
      defaultValue: loaded.fittingDefault(probe), rules: loaded.fittingRules(probe),
      derivation: loaded.derivation, derivationSource: loaded.derivationSource, traits: loaded.traits,
      composition: try composition(loaded, entity), versionHashModifier: loaded.modifier,
      renamingIdentifier: loaded.renaming)
    attribute.isIndexed = loaded.isIndexed
    attribute.impliesIndex = loaded.impliesIndex
    for (predicate, message) in loaded.conditions {
      try addValidationRule(to: entityName, key: loaded.name, PredicateCondition(keeping: predicate), message: message)
    }
  }

  private func composition(_ loaded: LoadedAttribute, _ entity: Entity) throws(Failure) -> Composition? {
    guard let composition = loaded.composition else { return nil }
    var elements: [Attribute] = []
    for element in composition.elements {
      try Names.checkProperty(element.name, of: "\(entity.name).\(loaded.name)", .file)
      let probe = Attribute(name: element.name, entity: entity, type: element.type, isOptional: true, isTransient: true)
      elements.append(
        Attribute(
          name: element.name, entity: entity, type: element.type, isOptional: element.isOptional,
          isTransient: element.isTransient, defaultValue: element.fittingDefault(probe),
          rules: element.fittingRules(probe), traits: element.traits,
          composition: try self.composition(element, entity), versionHashModifier: element.modifier,
          renamingIdentifier: element.renaming))
    }
    return Composition(name: composition.name, elements: elements)
  }

  func addLoadedRelationship(_ loaded: LoadedRelationship, to entityName: String) throws(Failure) {
    try addRelationship(
      { entity in
        let relationship = Relationship(
          name: loaded.name, entity: entity, destinationName: loaded.destination, inverseName: loaded.inverse,
          isToMany: loaded.isToMany, isOrdered: loaded.isOrdered, isOptional: loaded.isOptional,
          isTransient: loaded.isTransient, minimumCount: loaded.minimum, maximumCount: loaded.maximum,
          deleteRule: loaded.rule, namesJoinTable: loaded.namesJoinTable, versionHashModifier: loaded.modifier,
          renamingIdentifier: loaded.renaming)
        relationship.isIndexed = loaded.isIndexed
        return relationship
      }, named: loaded.name, to: entityName)
  }
}

extension LoadedAttribute {
  fileprivate func fittingDefault(_ probe: Attribute) -> Value {
    (try? probe.coerce(probe.rounded(defaultValue))) ?? .nil
  }

  fileprivate func fittingRules(_ probe: Attribute) -> AttributeRules {
    var rules = self.rules
    rules.minimum = probe.rounded(rules.minimum)
    rules.maximum = probe.rounded(rules.maximum)
    return (try? rules.fitting(probe)) ?? AttributeRules()
  }
}

/// What the library knows of a property and Core Data does not. In files it stands in the user info of the property.
/// A model shows it as a trait.
enum OwnTrait {
  /// Of an attribute with a text index.
  static let searchable = "QuireSearchable"
  /// Of a relationship. A store says it by the name of the table.
  static let namesJoinTable = "QuireNamesJoinTable"

  static let all: Set<String> = [searchable, namesJoinTable]
}

extension Property {
  func userInfo(with trait: String, if isSo: Bool) -> UserInfo {
    var info = userInfo
    if isSo { info.set(Text(trait), to: "YES") }
    return info
  }
}

/// The selectors that order texts.
enum SortSelector {
  private static let selectors: [(TextOrder.Kind, String)] = [
    (.binary, "compare:"), (.caseInsensitive, "caseInsensitiveCompare:"), (.localized, "localizedCompare:"),
    (.localizedCaseInsensitive, "localizedCaseInsensitiveCompare:"), (.localizedStandard, "localizedStandardCompare:"),
  ]

  /// Other selectors are the application's own; their texts are in the order of their bytes.
  static func order(of selector: String) -> TextOrder.Kind {
    selectors.first { $0.1 == selector }?.0 ?? .binary
  }

  static func selector(of order: TextOrder.Kind) -> String { selectors.first { $0.0 == order }?.1 ?? "compare:" }
}
