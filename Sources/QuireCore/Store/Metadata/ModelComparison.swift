/// How entities of a model differ from those of the model that a file keeps, in what version hashes are made of.
struct ModelComparison {
  private static let mostSentences = 12

  private let kept: Model
  private(set) var sentences: [String] = []
  private var surplus = 0

  init(with kept: Model) { self.kept = kept }

  /// All that was found; empty when nothing was.
  var text: String {
    let more = surplus > 0 ? ["There are \(surplus) more differences."] : []
    return (sentences + more).joined(separator: " ")
  }

  /// Own properties alone: an inherited one that differs makes the ancestor differ too.
  mutating func compare(_ entity: Entity) {
    guard let other = try? kept.entity(named: entity.name) else { return }
    let name = "'\(entity.name)'"
    tell(name, "is abstract", entity.isAbstract, other.isAbstract)
    tell(name, "the parent", quoted(entity.parentName), quoted(other.parentName))
    tell(name, "the hash modifier", quoted(entity.versionHashModifier), quoted(other.versionHashModifier))
    tell(name, "the uniqueness constraints", listed(entity), listed(other))
    let own = ModelComparison.ownProperties(of: entity), others = ModelComparison.ownProperties(of: other)
    for (propertyName, property) in own.sorted(by: { $0.key < $1.key }) {
      if let found = others[propertyName] {
        compare(property, with: found)
      } else if !property.isTransient {
        add("The file has nothing for '\(property.qualifiedName)'.")
      }
    }
    for (propertyName, property) in others.sorted(by: { $0.key < $1.key })
    where own[propertyName] == nil && !property.isTransient {
      add("The model has nothing for '\(property.qualifiedName)', \(ModelComparison.kind(of: property)).")
    }
  }

  private mutating func compare(_ property: Property, with other: Property) {
    let name = "'\(property.qualifiedName)'"
    tell(name, "is transient", property.isTransient, other.isTransient)
    if property.isTransient, other.isTransient { return }
    tell(name, "is optional", property.isOptional, other.isOptional)
    tell(name, "the hash modifier", quoted(property.versionHashModifier), quoted(other.versionHashModifier))
    switch (property, other) {
    case (let attribute as Attribute, let other as Attribute):
      tell(name, "the type", attribute.type.name, other.type.name)
      let traits = attribute.traits, others = other.traits
      tell(name, "allows external storage", traits.allowsExternalStorage, others.allowsExternalStorage)
      tell(name, "is preserved after deletion", traits.preservesAfterDeletion, others.preservesAfterDeletion)
      tell(name, "is derived", attribute.isDerived, other.isDerived)
      if let derivation = attribute.derivation, let other = other.derivation,
        derivation.operation != other.operation || derivation.keys != other.keys
      {
        add("\(name) is derived from other things in the file.")
      }
    case (let relationship as Relationship, let other as Relationship):
      tell(name, "the destination", quoted(relationship.destinationName), quoted(other.destinationName))
      tell(name, "the inverse", quoted(relationship.inverseName), quoted(other.inverseName))
      tell(name, "the minimum count", "\(relationship.minimumCount)", "\(other.minimumCount)")
      tell(
        name, "the maximum count", ModelComparison.bound(relationship.declaredMaximumCount),
        ModelComparison.bound(other.declaredMaximumCount))
      tell(name, "is ordered", relationship.isOrdered, other.isOrdered)
    default:
      let kind = ModelComparison.kind(of: property), otherKind = ModelComparison.kind(of: other)
      add("\(name) is \(kind) in the model, and \(otherKind) in the file.")
    }
  }

  private mutating func tell(_ name: String, _ statement: String, _ isTrue: Bool, _ isTrueInFile: Bool) {
    if isTrue == isTrueInFile { return }
    add("\(name) \(statement) in the \(isTrue ? "model, and not in the file" : "file, and not in the model").")
  }

  private mutating func tell(_ name: String, _ field: String, _ value: String, _ valueInFile: String) {
    if value == valueInFile { return }
    add("\(name) has \(field) \(value) in the model, and \(valueInFile) in the file.")
  }

  private mutating func add(_ sentence: String) {
    if sentences.count < ModelComparison.mostSentences { sentences.append(sentence) } else { surplus += 1 }
  }

  private static func ownProperties(of entity: Entity) -> [String: Property] {
    let properties: [Property] = entity.ownAttributes + entity.ownRelationships
    return Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func kind(of property: Property) -> String {
    switch property {
    case let attribute as Attribute: "an attribute of type \(attribute.type.name)"
    case let relationship as Relationship: relationship.isToMany ? "a to-many relationship" : "a to-one relationship"
    default: "a property"
    }
  }

  private static func bound(_ count: Int) -> String {
    switch count {
    case 0: "unbounded"
    case Relationship.unbounded: "unbounded (-1)"
    default: "\(count)"
    }
  }

  private func quoted(_ name: Text) -> String { quoted(name.string) }
  private func quoted(_ name: String) -> String { name.isEmpty ? "none" : "'\(name)'" }

  private func listed(_ entity: Entity) -> String {
    let constraints = entity.uniquenessConstraints.map { "(\($0.joined(separator: ", ")))" }.sorted()
    return constraints.isEmpty ? "none" : constraints.joined(separator: ", ")
  }
}
