/// A kind of object: its name, its place in the inheritance tree and what it declares.
final class Entity: @unchecked Sendable {
  let name: String
  /// The same, for callers to borrow.
  let nameText: Text
  /// Empty for a root entity.
  let parentName: String
  let isAbstract: Bool
  let versionHashModifier: Text
  /// What it was called in an earlier model; empty when that was the same.
  let renamingIdentifier: Text
  /// The class of its objects in the application; empty for none of its own.
  let className: Text

  /// The entity's own declarations, in their order.
  private(set) var ownAttributes: [Attribute] = []
  private(set) var ownRelationships: [Relationship] = []
  private(set) var fetchIndexes: [FetchIndex] = []
  private(set) var uniquenessConstraints: [[String]] = []
  private(set) var ownRules: [ValidationRule] = []
  private(set) var ownFetchedProperties: [FetchedProperty] = []
  private var ownNames: Set<String> = []
  private(set) var userInfo = UserInfo()

  // Resolved by `Model.freeze`.
  unowned(unsafe) var parent: Entity?
  /// Sorted by name, case-insensitively: the order of Core Data's entity numbers.
  var children: [Entity] = []
  /// Z_ENT: from 1, depth first, children by name (docs/file-format.md, Entities).
  var number = 0
  /// Number of the root of the tree, which names the table.
  var rootNumber = 0
  /// Highest number in the subtree: descendants are `number...lastNumber`.
  var lastNumber = 0
  /// Own and inherited, by slot: ancestors' properties first.
  private(set) var properties: [Property] = []
  private(set) var attributes: [Attribute] = []
  private(set) var relationships: [Relationship] = []
  /// The values of a new object, by slot.
  private(set) var initialValues: ContiguousArray<Value> = []
  private(set) var propertiesByName: [String: Property] = [:]

  init(
    name: String, parentName: String = "", isAbstract: Bool = false, versionHashModifier: Text = "",
    renamingIdentifier: Text = "", className: Text = ""
  ) {
    self.name = name
    nameText = Text(name)
    self.parentName = parentName
    self.isAbstract = isAbstract
    self.versionHashModifier = versionHashModifier
    self.renamingIdentifier = renamingIdentifier
    self.className = className
  }

  /// Puts together what is inherited and what is declared here, once, because objects ask for these all the time. An
  /// entity that declares nothing shares what its parent has.
  func inherit() {
    let own: [Property] = ownAttributes + ownRelationships
    if let parent, own.isEmpty {
      (properties, propertiesByName) = (parent.properties, parent.propertiesByName)
      (attributes, relationships, initialValues) = (parent.attributes, parent.relationships, parent.initialValues)
      return
    }
    for (place, property) in own.enumerated() { property.slot = (parent?.properties.count ?? 0) + place }
    properties = (parent?.properties ?? []) + own
    attributes = (parent?.attributes ?? []) + ownAttributes
    relationships = (parent?.relationships ?? []) + ownRelationships
    initialValues =
      (parent?.initialValues ?? []) + ContiguousArray(own.map { ($0 as? Attribute)?.defaultValue ?? .nil })
    propertiesByName = parent?.propertiesByName ?? [:]
    for property in own { propertiesByName[property.name] = property }
  }

  /// Those that attributes have in models before iOS 11, named as these, in each entity that has the attribute. A
  /// compiled model declares them, too. For a frozen model.
  var impliedIndexes: [FetchIndex] {
    attributes.compactMap { attribute in
      guard attribute.impliesIndex, !attribute.isTransient,
        !attribute.entity.fetchIndexes.contains(where: { $0.name == attribute.nameText || $0.isOf(attribute) })
      else { return nil }
      return FetchIndex(name: attribute.nameText, elements: [FetchIndex.Element(.property(attribute.name))])
    }
  }

  /// Own and inherited.
  var rules: [ValidationRule] { ancestry.reversed().flatMap(\.ownRules) }
  var root: Entity {
    var root = self
    while let parent = root.parent { root = parent }
    return root
  }
  var hasChildren: Bool { !children.isEmpty }

  /// Whether `self` is `other` or inherits from it.
  func isKind(of other: Entity) -> Bool { (other.number...other.lastNumber).contains(number) }

  /// The entity, its parent, and so on to the root.
  var ancestry: some Sequence<Entity> { sequence(first: self, next: \.parent) }

  /// The entity and all that inherit from it, in the order of their numbers.
  var subtree: [Entity] {
    var found: [Entity] = [], waiting = [self]
    while let next = waiting.popLast() {
      found.append(next)
      waiting.append(contentsOf: next.children.reversed())
    }
    return found
  }

  /// Whether `property` is one of its own or inherited ones, and not of the same name elsewhere.
  func declares(_ property: Property) -> Bool {
    properties.indices.contains(property.slot) && properties[property.slot] === property
  }

  /// The property called `name`, or an error that says which names exist.
  func property(named name: String) throws(Failure) -> Property {
    if let property = propertiesByName[name] { return property }
    if ancestry.contains(where: { $0.ownFetchedProperties.contains { $0.name == name } }) {
      throw Failure(
        .invalidArgument,
        "'\(self.name).\(name)' is a fetched property, which is neither stored nor set. Read it "
          + "(quire_object_get_fetched), or fetch what its request asks for.", about: .entity(self, key: name))
    }
    let known = propertiesByName.keys.sorted().joined(separator: ", ")
    throw Failure(
      .invalidArgument,
      "Entity '\(self.name)' has no property '\(name)'. It has: \(known.isEmpty ? "none" : known)."
        + advice(onUnknown: name), about: .entity(self, key: name))
  }

  /// What may have been meant by a name that it does not have.
  private func advice(onUnknown name: String) -> String {
    if let first = name.split(separator: ".").first, first.count < name.count, propertiesByName[String(first)] != nil {
      return " This takes one key and no key path: read '\(first)' first."
    }
    let owners = subtree.filter { $0.propertiesByName[name] != nil && $0.parent?.propertiesByName[name] == nil }
      .map { "'\($0.name)'" }
    if owners.isEmpty { return "" }
    let verbs = owners.count == 1 ? "inherits from it, has" : "inherit from it, have"
    return " \(owners.joined(separator: " and ")), which \(verbs) it: ask for that entity."
  }

  /// The request of a fetched property, own or inherited, or an error that says which names exist.
  func fetchedProperty(named name: String) throws(Failure) -> FetchedProperty {
    let all = ancestry.flatMap(\.ownFetchedProperties)
    if let found = all.first(where: { $0.name == name }) { return found }
    let known = all.map(\.name).sorted().joined(separator: ", ")
    throw Failure(
      .invalidArgument,
      "Entity '\(self.name)' has no fetched property '\(name)'. It has: \(known.isEmpty ? "none" : known).",
      about: .entity(self, key: name))
  }

  // Called by `Model`, which has checked that it is not frozen.
  func add(_ attribute: Attribute) {
    ownAttributes.append(attribute)
    ownNames.insert(attribute.name)
  }
  func add(_ relationship: Relationship) {
    ownRelationships.append(relationship)
    ownNames.insert(relationship.name)
  }
  func add(_ index: FetchIndex) { fetchIndexes.append(index) }
  func add(_ rule: ValidationRule) { ownRules.append(rule) }
  func add(uniquenessConstraint properties: [String]) { uniquenessConstraints.append(properties) }
  func add(_ property: FetchedProperty) {
    ownFetchedProperties.append(property)
    ownNames.insert(property.name)
  }
  func setUserInfo(_ key: Text, to value: Text) { userInfo.set(key, to: value) }
  var ownPropertyCount: Int { ownAttributes.count + ownRelationships.count + ownFetchedProperties.count }
  /// Whether it declares a property of exactly this name.
  func declares(_ name: String) -> Bool { ownNames.contains(name) }
  var ownPropertyNames: [String] {
    ownAttributes.map(\.name) + ownRelationships.map(\.name) + ownFetchedProperties.map(\.name)
  }
}
