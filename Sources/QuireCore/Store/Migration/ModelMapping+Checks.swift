// What cannot be inferred is refused before anything is written, whether or not the file has objects of it.
extension ModelMapping {
  func check(_ mapping: EntityMapping) throws(Failure) {
    if mapping.source.isAbstract { return }
    if mapping.target.isAbstract {
      throw refused(
        "Entity '\(mapping.target.name)' is abstract, so that the objects of '\(mapping.source.name)' cannot become "
          + "its objects. Make it concrete, or leave the entity out to delete them.", .entity(mapping.target))
    }
    for (property, source) in zip(mapping.target.properties, mapping.sources) where !property.isTransient {
      // What was never stored has no values.
      let stored = source.flatMap { $0.isTransient ? nil : $0 }
      switch (property, stored) {
      case (let attribute as Attribute, nil): try checkNew(attribute, mapping)
      case (let attribute as Attribute, let source as Attribute): try check(attribute, source, mapping)
      case (let relationship as Relationship, nil): try checkNew(relationship, mapping)
      case (let relationship as Relationship, let source as Relationship): try check(relationship, source)
      default:
        throw refused(
          "'\(property.qualifiedName)' is \(ModelMapping.kind(of: property)), and was "
            + "\(source.map(ModelMapping.kind) ?? "something else"). Give it another name to have a new one.",
          .property(property))
      }
    }
  }

  // MARK: Attributes

  private func checkNew(_ attribute: Attribute, _ mapping: EntityMapping) throws(Failure) {
    if attribute.isOptional || attribute.isDerived || !attribute.declaredDefault.isNil { return }
    throw refused(
      "'\(attribute.qualifiedName)' is new and neither optional nor has a default, so that the objects of "
        + "'\(mapping.source.name)' have no value for it. Give it a default, or make it optional.", .property(attribute)
    )
  }

  private func check(_ attribute: Attribute, _ source: Attribute, _ mapping: EntityMapping) throws(Failure) {
    if attribute.isDerived { return }
    if attribute.type != source.type {
      throw refused(
        "'\(attribute.qualifiedName)' is of type \(attribute.type.name), and was of type \(source.type.name). Add an "
          + "attribute with another name, and set it in a stage whose model has both.",
        .property(attribute))
    }
    if attribute.traits.allowsExternalStorage != source.traits.allowsExternalStorage {
      let states =
        attribute.traits.allowsExternalStorage
        ? "may lie in files, and did not" : "lies in the store, and may have lain in files"
      throw refused(
        "'\(attribute.qualifiedName)' \(states). Add an attribute with another name, and set it in a stage whose model "
          + "has both.", .property(attribute))
    }
    if !attribute.isOptional, source.isOptional, attribute.declaredDefault.isNil {
      throw refused(
        "'\(attribute.qualifiedName)' was optional and is not, and has no default for objects without a value. Give it "
          + "one.", .property(attribute))
    }
  }

  // MARK: Relationships

  private func checkNew(_ relationship: Relationship, _ mapping: EntityMapping) throws(Failure) {
    if relationship.isOptional { return }
    throw refused(
      "'\(relationship.qualifiedName)' is new and not optional, and the objects of '\(mapping.source.name)' refer to "
        + "nothing by it. Make it optional.", .property(relationship))
  }

  private func check(_ relationship: Relationship, _ source: Relationship) throws(Failure) {
    let name = "'\(relationship.qualifiedName)'"
    if source.isToMany, !relationship.isToMany {
      throw refused(
        "\(name) is to-one, and was to-many. Which of several objects it is to be cannot be inferred. Add a "
          + "relationship with another name, and set it in a stage whose model has both.",
        .property(relationship))
    }
    if source.isOptional, !relationship.isOptional {
      throw refused(
        "\(name) was optional and is not, and some objects may refer to nothing by it. Leave it optional.",
        .property(relationship))
    }
    for entity in source.destination.subtree where !entity.isAbstract {
      guard let destination = target(of: entity), !destination.isKind(of: relationship.destination) else { continue }
      throw refused(
        "\(name) leads to '\(relationship.destination.name)', and has led to '\(entity.name)', whose objects become "
          + "those of '\(destination.name)'. Add a relationship with another name, and set it in a stage "
          + "whose model has both.",
        .property(relationship))
    }
    try checkInverse(of: relationship, source)
  }

  /// One may come or go, but not another one take its place: the two share their columns or their table.
  private func checkInverse(of relationship: Relationship, _ source: Relationship) throws(Failure) {
    guard let inverse = relationship.inverse else { return }
    guard let former = source.inverse else {
      if inverse === relationship {
        throw refused(
          "'\(relationship.qualifiedName)' is its own inverse, and was not. Objects that refer to others would be "
            + "referred to by them. Give it another name, and set it in a stage whose model has both.",
          .property(relationship))
      }
      // Each has pairs of its own, all of which only a join table holds.
      if relationship.isManyToMany || storedSources(of: inverse).isEmpty { return }
      throw refused(
        "'\(relationship.qualifiedName)' and '\(inverse.qualifiedName)' are each other's inverse, and were not. What "
          + "the objects refer to by one need not be what they refer to by the other. Give one of them another name, "
          + "and set it in a stage whose model has both.",
        .property(relationship))
    }
    for mapping in entities where mapping.source.isKind(of: former.entity) && mapping.target.isKind(of: inverse.entity)
    {
      if mapping.target(of: former) === inverse { return }
    }
    throw refused(
      "The inverse of '\(relationship.qualifiedName)' is '\(inverse.qualifiedName)', and was "
        + "'\(former.qualifiedName)'. Name the one as the renaming identifier of the other if it is the same.",
      .property(relationship))
  }

  // MARK: Trees

  /// All entities of a tree share one table, with keys of their own.
  func checkTrees() throws(Failure) {
    var first: [Int: EntityMapping] = [:]
    for mapping in entities where !mapping.source.isAbstract {
      let root = mapping.target.rootNumber
      guard let other = first[root] else {
        first[root] = mapping
        continue
      }
      if other.source.rootNumber == mapping.source.rootNumber { continue }
      throw refused(
        "Entities '\(other.target.name)' and '\(mapping.target.name)' have a common ancestor, "
          + "'\(mapping.target.root.name)', and had none. Their objects have equal keys, which one table cannot have. "
          + "Leave one of them as it was.", .entity(mapping.target))
    }
  }

  private static func kind(of property: Property) -> String {
    switch property {
    case let relationship as Relationship: relationship.isToMany ? "a to-many relationship" : "a to-one relationship"
    default: "an attribute"
    }
  }

  func refused(_ message: String, _ offender: Offender) -> Failure {
    Failure(.unsupported, "The store cannot be migrated: \(message)", about: offender)
  }
}
