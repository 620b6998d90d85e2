final class Attribute: Property, @unchecked Sendable {
  let type: AttributeType
  let defaultValue: Value
  /// The store keeps a text index of it. No part of the version hash.
  let isSearchable: Bool
  /// No part of the version hash either.
  let rules: AttributeRules
  /// The expression from which the store calculates it; nil for an attribute that is set. No part of the version hash.
  let derivation: Derivation?
  /// Why the store cannot calculate it; nil where it can. Only models of files have such. Set by `Model.freeze`.
  var derivationProblem: Text?
  /// As it was declared. The value of a new object of a derived attribute is another one.
  let declaredDefault: Value
  let traits: AttributeTraits
  /// Of a composite one.
  let composition: Composition?

  init(
    name: String, entity: Entity, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
    isSearchable: Bool = false, defaultValue: Value = .nil, declaredDefault: Value? = nil,
    rules: AttributeRules = AttributeRules(), derivation: Derivation? = nil,
    traits: AttributeTraits = AttributeTraits(), composition: Composition? = nil, versionHashModifier: Text = "",
    renamingIdentifier: Text = ""
  ) {
    self.type = type
    self.derivation = derivation
    self.declaredDefault = declaredDefault ?? defaultValue
    self.traits = traits
    self.composition = composition
    self.rules = rules
    self.isSearchable = isSearchable
    self.defaultValue = defaultValue
    super.init(
      name: name, entity: entity, isOptional: isOptional, isTransient: isTransient,
      versionHashModifier: versionHashModifier, renamingIdentifier: renamingIdentifier)
  }
}
