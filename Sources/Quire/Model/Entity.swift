/// A kind of object: its name, its place in the inheritance tree and what it declares.
final class Entity: @unchecked Sendable {
  let name: String
  /// The same, for callers to borrow.
  let nameText: Text
  /// Empty for a root entity.
  let parentName: String
  let isAbstract: Bool
  let versionHashModifier: String

  /// What this entity itself declares, in the order of declaration.
  private(set) var ownAttributes: [Attribute] = []
  private(set) var ownRelationships: [Relationship] = []
  private(set) var fetchIndexes: [FetchIndex] = []
  private(set) var uniquenessConstraints: [[String]] = []
  private(set) var ownRules: [ValidationRule] = []
  private(set) var ownFetchedProperties: [(name: String, template: any FetchTemplate)] = []

  // Resolved by `Model.freeze`.
  unowned(unsafe) var parent: Entity?
  /// Sorted by name, case-insensitively: the order of Core Data's entity numbers.
  var children: [Entity] = []
  /// Z_ENT: from 1, depth first, children by name (store-format.md 1.3).
  var number = 0
  /// Number of the root of the tree, which names the table.
  var rootNumber = 0
  /// Highest number in the subtree: descendants are `number...lastNumber`.
  var lastNumber = 0
  /// Own and inherited, by slot: ancestors' properties first.
  var properties: [Property] = [] { didSet { sortProperties() } }
  private(set) var attributes: [Attribute] = []
  private(set) var relationships: [Relationship] = []
  /// What the values of a new object are, by slot.
  private(set) var initialValues: ContiguousArray<Value> = []
  var propertiesByName: [String: Property] = [:]

  init(name: String, parentName: String = "", isAbstract: Bool = false, versionHashModifier: String = "") {
    self.name = name
    nameText = Text(name)
    self.parentName = parentName
    self.isAbstract = isAbstract
    self.versionHashModifier = versionHashModifier
  }

  /// Once for the entity, because objects ask for these all the time.
  private func sortProperties() {
    attributes = properties.compactMap { $0 as? Attribute }
    relationships = properties.compactMap { $0 as? Relationship }
    initialValues = ContiguousArray(properties.map { ($0 as? Attribute)?.defaultValue ?? .nil })
  }

  /// Own and inherited.
  var rules: [ValidationRule] { (parent?.rules ?? []) + ownRules }
  var root: Entity { parent?.root ?? self }
  var hasChildren: Bool { !children.isEmpty }

  /// Whether `self` is `other` or inherits from it.
  func isKind(of other: Entity) -> Bool { (other.number...other.lastNumber).contains(number) }

  /// The entity and all that inherit from it, in the order of their numbers.
  var subtree: [Entity] { [self] + children.flatMap(\.subtree) }

  /// The property called `name`, or an error that says which names exist.
  func property(named name: String) throws(Failure) -> Property {
    if let property = propertiesByName[name] { return property }
    if sequence(first: self, next: \.parent).contains(where: { $0.ownFetchedProperties.contains { $0.name == name } }) {
      throw Failure(
        .invalidArgument,
        "'\(self.name).\(name)' is a fetched property, which is neither stored nor set. Read it "
          + "(quire_object_get_fetched), or fetch what its request asks for.", about: .entity(self, key: name))
    }
    let known = propertiesByName.keys.sorted().joined(separator: ", ")
    throw Failure(
      .invalidArgument, "Entity '\(self.name)' has no property '\(name)'. It has: \(known.isEmpty ? "none" : known).",
      about: .entity(self, key: name))
  }

  /// The request of a fetched property, own or inherited, or an error that says which names exist.
  func fetchedProperty(named name: String) throws(Failure) -> any FetchTemplate {
    let all = sequence(first: self, next: \.parent).flatMap(\.ownFetchedProperties)
    if let found = all.first(where: { $0.name == name }) { return found.template }
    let known = all.map(\.name).sorted().joined(separator: ", ")
    throw Failure(
      .invalidArgument,
      "Entity '\(self.name)' has no fetched property '\(name)'. It has: \(known.isEmpty ? "none" : known).",
      about: .entity(self, key: name))
  }

  // Called by `Model`, which has checked that it is not frozen.
  func add(_ attribute: Attribute) { ownAttributes.append(attribute) }
  func add(_ relationship: Relationship) { ownRelationships.append(relationship) }
  func add(_ index: FetchIndex) { fetchIndexes.append(index) }
  func add(_ rule: ValidationRule) { ownRules.append(rule) }
  func add(uniquenessConstraint properties: [String]) { uniquenessConstraints.append(properties) }
  func addFetchedProperty(named name: String, _ template: any FetchTemplate) {
    ownFetchedProperties.append((name, template))
  }
  var ownPropertyNames: [String] {
    ownAttributes.map(\.name) + ownRelationships.map(\.name) + ownFetchedProperties.map(\.name)
  }
}
