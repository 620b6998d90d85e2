extension Context {
  /// The object of `entity` that has a value of one property; of several, the one that a fetch returns first.
  ///
  /// Delete rules are applied first, as by every fetch.
  func find(_ entity: Entity, _ property: Property, _ value: Value) throws(Failure) -> ManagedObject? {
    let value = try soughtValue(value, of: property)
    let request = FetchRequest(entityName: entity.name)
    request.predicate = .comparison(
      Comparison(left: .keyPath([Key(property.name, property)]), operator: .equal, right: .constant(value)))
    request.limit = 1
    try beginFetching()
    if !(property is Attribute) || !findsPendingByValue { return try fetch(request).firstObject { _ in true } }

    request.includesPendingChanges = false
    var saved = try fetch(request).firstObject { _ in true }
    if saved?.isPending == true {
      // Its saved value is not the one that it has. Few rows share a value by which objects are looked up.
      request.limit = nil
      saved = try fetch(request).firstObject { !$0.isPending }
    }
    var found = pending.objects(with: value, of: property).filter { $0.entity.isKind(of: entity) }
    if let saved { found.append(saved) }
    return found.min { $0.isBefore($1) }
  }

  /// The same; where there is none, an object that is inserted with that value.
  func findOrInsert(
    _ entity: Entity, _ property: Property, _ value: Value
  ) throws(Failure) -> (object: ManagedObject, isInserted: Bool) {
    try checkMayChange()
    try property.checkNotDerived()
    if let found = try find(entity, property, value) { return (found, false) }
    let object = try insert(checking: entity)
    do throws(Failure) { try object.set(value, for: property) } catch {
      try delete(object)
      throw error
    }
    return (object, true)
  }

  /// Whether pending objects are to be looked up by their values.
  ///
  /// While observers are told of changes, the lookup does not know of all of them.
  private var findsPendingByValue: Bool { !source.holdsObjects && !isNotifying && pending.isLarge }

  /// The value in the form in which the property has it.
  private func soughtValue(_ value: Value, of property: Property) throws(Failure) -> Value {
    if let attribute = property as? Attribute {
      let value = try attribute.coerce(value)
      if case .decimal(let decimal) = value { return .decimal(decimal.stored) }
      return value
    }
    guard let relationship = property as? Relationship, !relationship.isToMany else {
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-many relationship, by which no single object is found. Fetch with a "
          + "predicate, such as 'ANY \(property.name) == %@'.")
    }
    if value.isNil { return value }
    // Ids of another tree of entities may be the same numbers.
    guard case .object(let box) = value, let target = registeredObject(box.reference),
      target.entity.isKind(of: relationship.destination)
    else {
      throw Failure(
        .invalidArgument,
        "'\(property.qualifiedName)' is a to-one relationship; look for an object of entity "
          + "'\(relationship.destination.name)' or for none.")
    }
    return value
  }
}

extension ObjectList {
  fileprivate func firstObject(where isSought: (ManagedObject) -> Bool) throws(Failure) -> ManagedObject? {
    for place in 0..<count {
      let object = try object(at: place)
      if isSought(object) { return object }
    }
    return nil
  }
}

extension ManagedObject {
  /// Whether its values here may be others than in the store.
  fileprivate var isPending: Bool { state != .saved || isUpdated }
}
