extension ManagedObject: PropertySource {
  var identity: Value { .object(reference) }

  /// For predicates. An object that is no longer in the store is nil, and no member of anything, as in SQL. Members of
  /// which only the references or the number are wanted are not read to find out.
  func item(forKey key: String, asValue: Bool) throws(Failure) -> Item {
    let property = try entity.property(named: key)
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

  /// The value at a path of this entity, or one above, that has been resolved.
  func value(at path: ResolvedKeyPath) throws(Failure) -> Value {
    let slot = path.last.slot
    if path.relationships.isEmpty, entity.properties.indices.contains(slot), entity.properties[slot] === path.last {
      return try value(of: path.last)
    }
    return try value(atKeyPath: path.names)
  }

  /// Follows a key path through to-one relationships. An empty relationship makes the whole path nil, and so does one
  /// whose object is no longer in the store, as in SQL. The empty path is the object itself.
  func value(atKeyPath path: [String]) throws(Failure) -> Value {
    guard let key = path.first else { return .object(reference) }
    let property = try entity.property(named: key)
    if path.count == 1 { return try value(of: property) }
    guard let relationship = property as? Relationship else {
      throw Failure(
        .invalidArgument,
        "The key path '\(path.joined(separator: "."))' goes on behind '\(property.qualifiedName)', "
          + "which is an attribute.", about: .property(property))
    }
    if relationship.isToMany {
      throw Failure(
        .unsupported,
        "The key path '\(path.joined(separator: "."))' goes through the to-many relationship "
          + "'\(property.qualifiedName)', which this version does not evaluate.", about: .property(property))
    }
    guard let target = try object(of: relationship) else { return .nil }
    do {
      return try target.value(atKeyPath: Array(path.dropFirst()))
    } catch {
      if error.kind == .notFound, !target.isLive { return .nil }
      throw error
    }
  }
}
