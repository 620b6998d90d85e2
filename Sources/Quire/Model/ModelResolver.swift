/// Turns declared entities into a consistent whole: parents, numbers, slots, destinations and inverses.
///
/// Nothing is stored in the entities before every check has passed, so a model that failed can be mended.
struct ModelResolver {
  let entities: [Entity]
  let byName: [String: Entity]

  func resolve() throws(Failure) -> [Entity] {
    if entities.isEmpty {
      throw Failure(.invalidModel, "The model has no entities; add at least one.")
    }
    for entity in entities { try checkAncestors(of: entity) }
    for entity in entities {
      try checkInherited(entity)
      for relationship in entity.ownRelationships { try check(relationship) }
      for attribute in entity.ownAttributes {
        if let derivation = attribute.derivation { try check(attribute, derivedBy: derivation, of: entity) }
      }
      try checkIndexes(entity)
      for rule in entity.ownRules { try check(rule, of: entity) }
    }
    return link()
  }

  private func parent(of entity: Entity) -> Entity? { byName[entity.parentName] }

  /// The chain from `entity` to its root, itself first.
  private func chain(_ entity: Entity) -> [Entity] {
    var chain = [entity]
    while let parent = parent(of: chain[chain.count - 1]) { chain.append(parent) }
    return chain
  }

  private func checkAncestors(of entity: Entity) throws(Failure) {
    var seen = [entity]
    while let current = seen.last, !current.parentName.isEmpty {
      guard let parent = parent(of: current) else {
        throw Failure(
          .invalidModel,
          "Entity '\(current.name)' has the parent '\(current.parentName)', which the model does not have.")
      }
      if seen.contains(where: { $0 === parent }) {
        let names = (seen.map(\.name) + [parent.name]).joined(separator: " -> ")
        throw Failure(.invalidModel, "The parents of entity '\(entity.name)' form a cycle: \(names).")
      }
      seen.append(parent)
    }
  }

  private func checkInherited(_ entity: Entity) throws(Failure) {
    for ancestor in chain(entity).dropFirst() {
      for name in entity.ownPropertyNames {
        if let other = ancestor.ownPropertyNames.first(where: { Names.areSame($0, name) }) {
          throw Failure(
            .invalidModel,
            "Entity '\(entity.name)' declares '\(name)', which it inherits from '\(ancestor.name)' "
              + "as '\(other)'. Remove or rename one.")
        }
      }
    }
  }

  /// Whether one inherits from the other: an inverse may be declared by an ancestor of the destination.
  private func areRelated(_ left: Entity, _ right: Entity) -> Bool {
    chain(left).contains { $0 === right } || chain(right).contains { $0 === left }
  }

  func property(_ name: String, of entity: Entity) -> Property? {
    for ancestor in chain(entity) {
      if let found = ancestor.ownAttributes.first(where: { $0.name == name }) { return found }
      if let found = ancestor.ownRelationships.first(where: { $0.name == name }) { return found }
    }
    return nil
  }

  private func check(_ relationship: Relationship) throws(Failure) {
    let subject = "Relationship '\(relationship.qualifiedName)'"
    guard let destination = byName[relationship.destinationName] else {
      throw Failure(
        .invalidModel,
        "\(subject) points to entity '\(relationship.destinationName)', which the model does not have.",
        about: .property(relationship))
    }
    if relationship.inverseName.isEmpty { return }
    guard let inverse = property(relationship.inverseName, of: destination) as? Relationship else {
      throw Failure(
        .invalidModel,
        "\(subject) names the inverse '\(destination.name).\(relationship.inverseName)', "
          + "which is not a relationship of that entity.", about: .property(relationship))
    }
    let back = byName[inverse.destinationName]
    let pointsBack =
      inverse.inverseName == relationship.name
      && back.map { areRelated($0, relationship.entity) } == true
    if !pointsBack {
      throw Failure(
        .invalidModel,
        "\(subject) names the inverse '\(inverse.qualifiedName)', "
          + "whose inverse is '\(inverse.destinationName).\(inverse.inverseName)'. Inverses must point at each other.",
        about: .property(relationship))
    }
    if inverse.isTransient != relationship.isTransient {
      throw Failure(
        .invalidModel, "\(subject) and its inverse '\(inverse.qualifiedName)' must both be transient or neither.",
        about: .property(relationship))
    }
  }

  private func checkIndexes(_ entity: Entity) throws(Failure) {
    func column(_ name: String, in subject: String) throws(Failure) {
      guard let property = property(name, of: entity) else {
        throw Failure(
          .invalidModel, "\(subject) names '\(name)', which entity '\(entity.name)' does not have.",
          about: .entity(entity, key: name))
      }
      if property.isTransient || (property as? Relationship)?.isToMany == true {
        throw Failure(
          .invalidModel,
          "\(subject) names '\(name)', which has no column: only stored attributes and to-one relationships have one.",
          about: .entity(entity, key: name))
      }
    }
    for index in entity.fetchIndexes {
      for element in index.elements {
        try column(element.property, in: "Fetch index '\(index.name)' of entity '\(entity.name)'")
      }
    }
    for constraint in entity.uniquenessConstraints {
      for (position, name) in constraint.enumerated() {
        try column(name, in: "A uniqueness constraint of entity '\(entity.name)'")
        if property(name, of: entity)?.isDerived == true {
          throw Failure(
            .invalidModel,
            "A uniqueness constraint of entity '\(entity.name)' names '\(name)', which is derived while a save is "
              + "under way. Name what it is derived from.", about: .entity(entity, key: name))
        }
        if constraint[..<position].contains(name) {
          throw Failure(
            .invalidModel, "A uniqueness constraint of entity '\(entity.name)' names '\(name)' twice.",
            about: .entity(entity, key: name))
        }
      }
    }
  }

  /// Whether the keys that a rule asks for are there.
  private func check(_ rule: ValidationRule, of entity: Entity) throws(Failure) {
    func failure(_ problem: String) -> Failure {
      let place = rule.key.isEmpty ? entity.name : "\(entity.name).\(rule.key)"
      return Failure(
        .invalidModel, "The rule \"\(rule.message)\" of '\(place)' \(problem)", about: .entity(entity, key: rule.key))
    }
    var start: Property?
    if !rule.key.isEmpty {
      guard let attribute = property(rule.key, of: entity) as? Attribute else {
        throw failure(
          "is for a key that is no attribute of it. A rule about a relationship is a rule of the object: give no key.")
      }
      if attribute.isDerived {
        throw failure("is for a derived attribute, which is calculated after the rules were asked. Ask for its source.")
      }
      start = attribute
    }
    for path in rule.condition.keyPaths {
      var current = entity, last = start
      // A collection operator, such as @count, stands between keys or at the end, and changes nothing about them.
      for key in path where key != "self" && key.utf8.first != UInt8(ascii: "@") {
        if let attribute = last as? Attribute {
          if key == "length", attribute.hasLength { continue }
          throw failure("asks for '\(path.joined(separator: "."))': '\(attribute.name)' is a value, without keys.")
        }
        guard let next = property(key, of: current) else {
          throw failure("asks for '\(path.joined(separator: "."))': '\(current.name)' has no property '\(key)'.")
        }
        last = next
        // Whether the destination exists was checked, if not here, then with the entity that declares it.
        if let relationship = next as? Relationship { current = byName[relationship.destinationName] ?? current }
      }
    }
  }

  /// Stores the resolved references and numbers; cannot fail.
  private func link() -> [Entity] {
    for entity in entities {
      entity.parent = parent(of: entity)
      entity.children = entities.filter { $0.parentName == entity.name }
        .sorted { Names.precedes($0.name, $1.name) }
    }
    var numbered: [Entity] = []
    func number(_ entity: Entity, root: Int) {
      numbered.append(entity)
      entity.number = numbered.count
      entity.rootNumber = root == 0 ? entity.number : root
      entity.properties = (entity.parent?.properties ?? []) + entity.ownAttributes + entity.ownRelationships
      for (slot, property) in entity.properties.enumerated() where property.slot < 0 { property.slot = slot }
      entity.propertiesByName = Dictionary(uniqueKeysWithValues: entity.properties.map { ($0.name, $0) })
      for child in entity.children { number(child, root: entity.rootNumber) }
      entity.lastNumber = numbered.count
    }
    for root in entities.filter({ $0.parentName.isEmpty }).sorted(by: { Names.precedes($0.name, $1.name) }) {
      number(root, root: 0)
    }
    for relationship in entities.flatMap(\.ownRelationships) {
      if let destination = byName[relationship.destinationName] { relationship.destination = destination }
    }
    for relationship in entities.flatMap(\.ownRelationships) where !relationship.inverseName.isEmpty {
      relationship.inverse = relationship.destination.propertiesByName[relationship.inverseName] as? Relationship
    }
    return numbered
  }
}
