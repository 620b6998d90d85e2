extension ModelMapping {
  /// What differs between the models, in words.
  func differences() -> [MigrationStep] {
    added.map { MigrationStep(.addEntity, of: $0.name, "Entity '\($0.name)' is new.") }
      + removed.map {
        MigrationStep(.removeEntity, of: $0.name, "Entity '\($0.name)' is gone, and its objects are deleted.")
      }
      + entities.flatMap { changes(of: $0) } + target.numberedEntities.flatMap { changesOfProperties($0) }
      + source.numberedEntities.flatMap { removedProperties(of: $0) }
  }

  private func changes(of mapping: EntityMapping) -> [MigrationStep] {
    let (source, target) = (mapping.source, mapping.target)
    var steps: [MigrationStep] = []
    if source.name != target.name {
      steps.append(
        MigrationStep(.renameEntity, of: target.name, "Entity '\(source.name)' is called '\(target.name)'."))
    }
    let former = source.parent.map { self.target(of: $0)?.name ?? $0.name } ?? ""
    if former != target.parentName {
      let parent = target.parentName.isEmpty ? "no parent" : "the parent '\(target.parentName)'"
      steps.append(MigrationStep(.changeEntity, of: target.name, "Entity '\(target.name)' has \(parent)."))
    }
    if source.isAbstract != target.isAbstract {
      let state = target.isAbstract ? "abstract" : "not abstract"
      steps.append(MigrationStep(.changeEntity, of: target.name, "Entity '\(target.name)' is \(state)."))
    }
    return steps
  }

  /// Own properties alone. What all of a new entity's are made of, they bring along.
  private func changesOfProperties(_ entity: Entity) -> [MigrationStep] {
    let own = entity.ownAttributes as [Property] + entity.ownRelationships
    let heirs = entities.filter { $0.target.isKind(of: entity) }
    if heirs.isEmpty { return [] }
    return own.filter { !$0.isTransient }.flatMap { property in
      let sources = heirs.compactMap { storedSource(of: property, in: $0) }
      let name = "'\(property.qualifiedName)'"
      guard let source = sources.first else {
        let value = (property as? Attribute).map { !$0.isDerived && !$0.declaredDefault.isNil } ?? false
        return [
          MigrationStep(
            .addProperty, of: entity.name, property: property.name,
            "\(name) is new\(value ? ", and objects have its default" : "").")
        ]
      }
      return changes(of: property, from: source)
    }
  }

  private func changes(of property: Property, from source: Property) -> [MigrationStep] {
    let name = "'\(property.qualifiedName)'"
    var steps: [MigrationStep] = []
    func add(_ kind: MigrationStep.Kind, _ sentence: String) {
      steps.append(MigrationStep(kind, of: property.entity.name, property: property.name, "\(name) \(sentence)."))
    }
    if property.name != source.name { add(.renameProperty, "was called '\(source.name)'") }
    if target(of: source.entity) !== property.entity {
      add(.changeProperty, "was a property of '\(source.entity.name)'")
    }
    if property.isOptional != source.isOptional {
      add(.changeProperty, "is \(property.isOptional ? "" : "not ")optional")
    }
    if let relationship = property as? Relationship, let former = source as? Relationship {
      if relationship.isToMany != former.isToMany { add(.changeProperty, "is to-many") }
      if relationship.isToMany, relationship.isOrdered != former.isOrdered {
        add(.changeProperty, "is \(relationship.isOrdered ? "" : "not ")ordered")
      }
      if relationship.inverse == nil, former.inverse != nil { add(.changeProperty, "has no inverse") }
      if let inverse = relationship.inverse, former.inverse == nil {
        add(.changeProperty, "has the inverse '\(inverse.qualifiedName)'")
      }
    }
    return steps
  }

  private func removedProperties(of entity: Entity) -> [MigrationStep] {
    guard let target = target(of: entity) else { return [] }
    let heirs = entities.filter { $0.source.isKind(of: entity) }
    return (entity.ownAttributes as [Property] + entity.ownRelationships).compactMap { property in
      if property.isTransient || heirs.contains(where: { storedTarget(of: property, in: $0) != nil }) { return nil }
      return MigrationStep(
        .removeProperty, of: target.name, property: property.name,
        "'\(property.qualifiedName)' is gone, with its values.")
    }
  }

  /// What the stored values of a property of the target come from; nil for what is new or was never stored.
  func storedSource(of property: Property, in mapping: EntityMapping) -> Property? {
    guard mapping.sources.indices.contains(property.slot), mapping.target.properties[property.slot] === property,
      let source = mapping.sources[property.slot], !source.isTransient
    else { return nil }
    return source
  }

  private func storedTarget(of property: Property, in mapping: EntityMapping) -> Property? {
    mapping.target(of: property).flatMap { $0.isTransient ? nil : $0 }
  }

  /// The relationships that one of the target was, in whatever entities.
  func storedSources(of relationship: Relationship) -> [Relationship] {
    var sources: [Relationship] = []
    for mapping in entities where mapping.target.isKind(of: relationship.entity) {
      if let source = storedSource(of: relationship, in: mapping) as? Relationship,
        !sources.contains(where: { $0 === source })
      {
        sources.append(source)
      }
    }
    return sources
  }

  /// Concrete entities under `entity` of the source whose objects are deleted.
  func removed(under entity: Entity) -> [Entity] {
    entity.subtree.filter { !$0.isAbstract && target(of: $0) == nil }
  }
}
