import Synchronization

/// The entities of a store. Built by calls, then frozen at first use: after that nothing in it changes.
final class Model: @unchecked Sendable {
  /// Of each kind of part a model of a file has so many at most: names are looked for among all that are there already.
  private static let mostOfFile = 5_000
  /// Most ancestors of an entity in a file.
  static let deepestOfFile = 500

  let origin: ModelOrigin
  /// In the order of declaration.
  private(set) var entities: [Entity] = []
  private let frozen = Atomic<Bool>(false)
  /// Threads that open stores of one model freeze it together.
  private let freezing = RecursiveLock()
  private(set) var fetchTemplates: [(name: Text, template: any FetchTemplate)] = []
  /// Named sets of entities.
  private(set) var configurations: [(name: Text, entityNames: [String])] = []
  /// What the application calls this version of the model; new stores have it in their metadata.
  private(set) var versionIdentifiers: [Text] = []
  private var entitiesByName: [String: Entity] = [:]
  /// By the names of their tables.
  private var entitiesByTable: [String: Entity] = [:]
  /// Entities by number - 1, once frozen.
  private(set) var numberedEntities: [Entity] = []

  init(origin: ModelOrigin = .program) { self.origin = origin }

  /// What a higher layer made of the frozen model, to lend it.
  let lent = Guarded<AnyObject?>(nil)

  var isFrozen: Bool { frozen.load(ordering: .acquiring) }

  func entity(named name: String) throws(Failure) -> Entity {
    if let entity = entitiesByName[name] { return entity }
    let known = entities.map(\.name).sorted().joined(separator: ", ")
    throw Failure(
      .invalidArgument, "The model has no entity '\(name)'. It has: \(known.isEmpty ? "none" : known).")
  }

  /// nil when no entity has that number. For a frozen model.
  func entity(numbered number: Int) -> Entity? {
    numberedEntities.indices.contains(number - 1) ? numberedEntities[number - 1] : nil
  }

  @discardableResult
  func addEntity(
    named name: String, parent: String = "", isAbstract: Bool = false, versionHashModifier: Text = "",
    renamingIdentifier: Text = "", className: Text = ""
  ) throws(Failure) -> Entity {
    try checkMutable("add entity '\(name)'")
    try Names.checkEntity(name, origin)
    try checkRoom(entities.count, "entities")
    if let other = entitiesByTable[Names.table(name)] {
      throw Failure(
        .invalidModel,
        other.name == name
          ? "The model already has an entity '\(name)'."
          : "Entity '\(name)' differs from '\(other.name)' only in case, "
            + "and both would use the table \(Names.table(name)). Rename one.", about: .named(name))
    }
    let entity = Entity(
      name: name, parentName: parent, isAbstract: isAbstract, versionHashModifier: versionHashModifier,
      renamingIdentifier: renamingIdentifier, className: className)
    entities.append(entity)
    entitiesByName[name] = entity
    entitiesByTable[Names.table(name)] = entity
    return entity
  }

  @discardableResult
  func addAttribute(
    named name: String, to entityName: String, type: AttributeType, isOptional: Bool = false,
    isTransient: Bool = false, isSearchable: Bool = false, defaultValue: Value = .nil,
    rules: AttributeRules = AttributeRules(), derivation: String? = nil,
    derivationSource: (any DerivationSource)? = nil, traits: AttributeTraits = AttributeTraits(),
    composition: Composition? = nil, versionHashModifier: Text = "", renamingIdentifier: Text = ""
  ) throws(Failure) -> Attribute {
    let entity = try mutableEntity(entityName, adding: name)
    let derived = try derivation.map { (text) throws(Failure) in
      try self.derivation(text, derivationSource, of: name, entityName)
    }
    if origin == .program, derived != nil, isTransient || !defaultValue.isNil || !rules.isEmpty {
      throw Failure(
        .invalidModel,
        "Attribute '\(entityName).\(name)' is derived: the store calculates it, so that it cannot be transient and has "
          + "neither a default nor rules.", about: .named(entityName, name))
    }
    if type == .undefined, !isTransient {
      throw Failure(
        .invalidModel,
        "Attribute '\(entityName).\(name)' has the type Undefined, which only a transient attribute may have.",
        about: .named(entityName, name))
    }
    if isSearchable, isTransient || (type != .string && type != .uri) {
      throw Failure(
        .invalidModel,
        "Attribute '\(entityName).\(name)' cannot be searchable, being "
          + "\(isTransient ? "transient" : "of type \(type.name)"): only stored text (String or URI) has a text index.",
        about: .named(entityName, name))
    }
    let probe = Attribute(name: name, entity: entity, type: type, isOptional: true, isTransient: isTransient)
    if origin == .program { try traits.check(probe) }
    // Whether it can hold the derived value is checked when the model is frozen, with a more fitting message.
    let declared = try probe.coerce(defaultValue)
    let value = derived.map { (try? probe.coerce($0.valueOfNothing)) ?? .nil } ?? declared
    let attribute = Attribute(
      name: name, entity: entity, type: type, isOptional: isOptional, isTransient: isTransient,
      isSearchable: isSearchable, defaultValue: value, declaredDefault: declared, rules: try rules.fitting(probe),
      derivation: derived, traits: traits, composition: composition, versionHashModifier: versionHashModifier,
      renamingIdentifier: renamingIdentifier)
    entity.add(attribute)
    return attribute
  }

  /// That of a file is kept whatever it is.
  private func derivation(
    _ text: String, _ source: (any DerivationSource)?, of name: String, _ entityName: String
  ) throws(Failure) -> Derivation {
    let qualifiedName = "\(entityName).\(name)"
    if let source {
      return Derivation(
        keeping: text, source,
        problem: Text(
          "Attribute '\(qualifiedName)' is derived from '\(text)' as an archive has it, which this version does not "
            + "calculate."))
    }
    do throws(Failure) { return try Derivation(text, of: qualifiedName) } catch {
      if origin == .file { return Derivation(keeping: text, problem: error.message) }
      throw error.about(.named(entityName, name))
    }
  }

  func addRelationship(_ make: (Entity) -> Relationship, named name: String, to entityName: String) throws(Failure) {
    let entity = try mutableEntity(entityName, adding: name)
    let relationship = make(entity)
    func failure(_ problem: String) -> Failure {
      Failure(.invalidModel, "Relationship '\(entityName).\(name)' \(problem)", about: .named(entityName, name))
    }
    if relationship.isOrdered, !relationship.isToMany {
      throw failure("is ordered but to-one; only a to-many relationship has an order.")
    }
    if !relationship.isToMany, relationship.minimumCount > 1 {
      throw failure("is to-one, so its counts are at most 1.")
    }
    guard relationship.minimumCount >= 0, relationship.maximumCount >= 0,
      Int32(exactly: relationship.minimumCount) != nil, Int32(exactly: relationship.maximumCount) != nil
    else { throw failure("has a count outside 0 to \(Int32.max).") }
    if relationship.maximumCount > 0, relationship.minimumCount > relationship.maximumCount {
      throw failure(
        "has a minimum count of \(relationship.minimumCount) above its maximum of \(relationship.maximumCount).")
    }
    if relationship.isToMany, relationship.maximumCount == 1 {
      throw failure("is to-many with a maximum count of 1; make it to-one.")
    }
    entity.add(relationship)
  }

  /// Models of files may have several indexes of one name in an entity. The store has the first of them.
  func addFetchIndex(
    named name: String, to entityName: String, kind: FetchIndex.Kind = .binary, elements: [FetchIndex.Element],
    condition: (any IndexCondition)? = nil
  ) throws(Failure) {
    try checkMutable("add fetch index '\(name)'")
    let entity = try entity(named: entityName)
    try checkRoom(entity.fetchIndexes.count, "fetch indexes of '\(entityName)'")
    if origin == .program {
      try Names.checkIdentifier(name, what: "fetch index")
      if entity.fetchIndexes.contains(where: { Names.areSame($0.name.string, name) }) {
        throw Failure(
          .invalidModel, "Entity '\(entityName)' already has a fetch index '\(name)'.", about: .named(entityName))
      }
    }
    if elements.isEmpty {
      throw Failure(
        .invalidModel, "Fetch index '\(name)' of entity '\(entityName)' has no elements; give at least one property.",
        about: .named(entityName))
    }
    entity.add(FetchIndex(name: Text(name), kind: kind, elements: elements, condition: condition))
  }

  func addUniquenessConstraint(to entityName: String, properties: [String]) throws(Failure) {
    try checkMutable("add a uniqueness constraint")
    let entity = try entity(named: entityName)
    if properties.isEmpty {
      throw Failure(
        .invalidModel, "A uniqueness constraint of entity '\(entityName)' has no properties; give at least one.",
        about: .named(entityName))
    }
    try checkRoom(entity.uniquenessConstraints.count, "uniqueness constraints of '\(entityName)'")
    if entity.uniquenessConstraints.contains(properties) {
      throw Failure(
        .invalidModel,
        "Entity '\(entityName)' already has the uniqueness constraint (\(properties.joined(separator: ", "))).",
        about: .named(entityName))
    }
    entity.add(uniquenessConstraint: properties)
  }

  /// Adds a condition on the objects of an entity, or on the attribute `key` of them; `key` is empty for the former.
  /// Whether the keys in it exist is checked by `freeze`.
  func addValidationRule(
    to entityName: String, key: String, _ condition: any ValidationCondition, message: Text
  ) throws(Failure) {
    try checkMutable("add a validation rule")
    let entity = try entity(named: entityName)
    if message.bytes.count == 0 {
      throw Failure(
        .invalidModel,
        "A validation rule of entity '\(entityName)' has no message; say what is wrong when it is broken.",
        about: .named(entityName, key))
    }
    entity.add(ValidationRule(key: key, condition: condition, message: message))
  }

  /// Keeps `template`, which never changes any more.
  func addFetchTemplate(named name: String, _ template: any FetchTemplate) throws(Failure) {
    try checkMutable("add fetch template '\(name)'")
    if name.isEmpty {
      throw Failure(.invalidModel, "A fetch template has an empty name. Give it one to ask for it by.")
    }
    try checkRoom(fetchTemplates.count, "fetch templates")
    let name = Text(name)
    if fetchTemplates.contains(where: { $0.name == name }) {
      throw Failure(.invalidModel, "The model already has a fetch template '\(name)'.")
    }
    fetchTemplates.append((name, template))
  }

  /// Adds a fetched property to an entity. `template` never changes any more.
  func addFetchedProperty(
    named name: String, to entityName: String, _ template: any FetchTemplate, isOptional: Bool = true
  ) throws(Failure) {
    let entity = try mutableEntity(entityName, adding: name)
    entity.add(FetchedProperty(name: name, template: template, isOptional: isOptional))
  }

  /// Keeps a text with an entity, or with a property that it declares itself.
  func setUserInfo(of entityName: String, property name: String? = nil, key: Text, to value: Text) throws(Failure) {
    try checkMutable("set the user info '\(key)'")
    let entity = try entity(named: entityName)
    guard let name else { return entity.setUserInfo(key, to: value) }
    if let attribute = entity.ownAttributes.first(where: { $0.name == name }) {
      attribute.setUserInfo(key, to: value)
    } else if let relationship = entity.ownRelationships.first(where: { $0.name == name }) {
      relationship.setUserInfo(key, to: value)
    } else if let fetched = entity.ownFetchedProperties.first(where: { $0.name == name }) {
      fetched.setUserInfo(key, to: value)
    } else {
      let known = entity.ownPropertyNames.sorted().joined(separator: ", ")
      throw Failure(
        .invalidArgument,
        "Entity '\(entityName)' declares no property '\(name)'. It declares: \(known.isEmpty ? "none" : known).",
        about: .entity(entity, key: name))
    }
  }

  /// Names a set of entities. Whether they exist is checked by `freeze`.
  func addConfiguration(named name: Text, entityNames: [String]) throws(Failure) {
    try checkMutable("add configuration '\(name)'")
    if name.isEmpty { throw Failure(.invalidModel, "A configuration has an empty name. Give it one to ask for it by.") }
    try checkRoom(configurations.count, "configurations")
    if configurations.contains(where: { $0.name == name }) {
      throw Failure(.invalidModel, "The model already has a configuration '\(name)'.")
    }
    configurations.append((name, entityNames))
  }

  /// An identifier that the model has already is not added again.
  func addVersionIdentifier(_ identifier: Text) throws(Failure) {
    try checkMutable("add version identifier '\(identifier)'")
    try checkRoom(versionIdentifiers.count, "version identifiers")
    if !versionIdentifiers.contains(identifier) { versionIdentifiers.append(identifier) }
  }

  /// Checks the model as a whole, numbers its entities and forbids further change. Idempotent, and for any thread.
  func freeze() throws(Failure) {
    if isFrozen { return }
    try freezing.withLock { () throws(Failure) in
      if isFrozen { return }
      try resolve()
      frozen.store(true, ordering: .releasing)
    }
  }

  private func resolve() throws(Failure) {
    for (name, template) in fetchTemplates where entitiesByName[template.entityName] == nil {
      throw Failure(
        .invalidModel,
        "Fetch template '\(name)' asks for objects of '\(template.entityName)', which is no entity of the model.")
    }
    for entity in entities {
      for fetched in entity.ownFetchedProperties where entitiesByName[fetched.template.entityName] == nil {
        throw Failure(
          .invalidModel,
          "Fetched property '\(entity.name).\(fetched.name)' asks for objects of '\(fetched.template.entityName)', "
            + "which is no entity of the model.", about: .named(entity.name, fetched.name))
      }
    }
    for (name, entityNames) in configurations {
      if let unknown = entityNames.first(where: { entitiesByName[$0] == nil }) {
        throw Failure(
          .invalidModel, "Configuration '\(name)' has '\(unknown)' in it, which is no entity of the model.")
      }
    }
    numberedEntities = try ModelResolver(entities: entities, byName: entitiesByName, origin: origin).resolve()
  }

  private func mutableEntity(_ entityName: String, adding name: String) throws(Failure) -> Entity {
    try checkMutable("add property '\(name)'")
    let entity = try entity(named: entityName)
    try Names.checkProperty(name, of: entityName, origin)
    try checkRoom(entity.ownPropertyCount, "properties of '\(entityName)'")
    let other =
      origin == .file
      ? entity.declares(name) ? name : nil : entity.ownPropertyNames.first { Names.areSame($0, name) }
    if let other {
      throw Failure(
        .invalidModel,
        other == name
          ? "Entity '\(entityName)' already has a property '\(name)'."
          : "Property '\(name)' of entity '\(entityName)' differs from '\(other)' only in case, "
            + "and both would use one column. Rename one.", about: .named(entityName, name))
    }
    return entity
  }

  private func checkRoom(_ count: Int, _ what: String) throws(Failure) {
    if origin == .file, count >= Model.mostOfFile {
      throw Failure(
        .invalidModel, "The model has more than \(Model.mostOfFile) \(what), as none does that an application can use.")
    }
  }

  private func checkMutable(_ action: String) throws(Failure) {
    if isFrozen {
      throw Failure(.invalidState, "Cannot \(action): the model is in use and no longer changes. Build a new model.")
    }
  }
}
