extension ManagedObject: PropertySource {
  var identity: Value { .object(reference) }

  func hasProperty(of key: Key) -> Bool { entity.propertiesByName[key.name] != nil }

  /// For predicates. An object that is no longer in the store is nil, and no member of anything, as in SQL. Members of
  /// which only the references or the number are wanted are not read to find out.
  func item(forKey key: Key, asValue: Bool) throws(Failure) -> Item {
    let property = try key.property(of: entity)
    guard let relationship = property as? Relationship else { return .value(try value(of: property)) }
    if relationship.isToMany {
      let members = try objects(of: relationship)
      if !asValue { try context.fulfil(members) }
      var items: [Item] = []
      items.reserveCapacity(members.count)
      for member in members {
        if !asValue, try !member.isStillStored() { continue }
        items.append(.subject(member))
      }
      return .list(items)
    }
    if asValue { return .value(try value(of: property)) }
    guard let target = try object(of: relationship), try target.isStillStored() else { return .nil }
    return .subject(target)
  }

  func holdsExternally(_ key: Key) throws(Failure) -> Bool? {
    let property = try key.property(of: entity)
    if property.externalColumn == nil { return nil }
    return try !storedValue(of: property).isNil
  }

  /// The value at a path that has been resolved, for this entity or one above. An empty relationship makes
  /// the whole path nil, and so does one whose object is no longer in the store, as in SQL.
  ///
  /// With `isShown` the call fails for an object that is only gone from what is read now, while the context goes on to
  /// show it.
  func value(at path: ResolvedKeyPath, isShown: Bool = false) throws(Failure) -> Value {
    try value(at: path, after: 0, isShown)
  }

  /// `step` relationships of the path have led to this object.
  private func value(at path: ResolvedKeyPath, after step: Int, _ isShown: Bool) throws(Failure) -> Value {
    let isLast = step == path.relationships.count
    if !entity.declares(isLast ? path.last : path.relationships[step]) {
      // Of another entity of the tree, about which a list may ask.
      return try value(at: ResolvedKeyPath(Array(path.names[step...]), of: entity, for: .column), isShown: isShown)
    }
    if isLast { return try value(of: path.last) }
    guard let target = try object(of: path.relationships[step]) else { return .nil }
    do throws(Failure) {
      return try target.value(at: path, after: step + 1, isShown)
    } catch {
      if error.kind == .notFound, !target.isLive || target.isFault && !isShown { return .nil }
      throw error
    }
  }
}
