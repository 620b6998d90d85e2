extension Context {
  /// Reads the objects that `paths` lead to from `objects`: for each step of a path one statement, or none when nothing
  /// is missing. The caller holds the result to keep the objects read.
  func prefetch(_ paths: [[Relationship]], from objects: [ManagedObject]) throws(Failure) -> [ManagedObject] {
    var held = ObjectSet()
    for path in paths {
      var reached = objects
      for relationship in path {
        if reached.isEmpty { break }
        reached = try prefetch(relationship, of: reached)
        for object in reached { held.insert(object) }
      }
    }
    return Array(held)
  }

  private func prefetch(_ relationship: Relationship, of owners: [ManagedObject]) throws(Failure) -> [ManagedObject] {
    let owners = owners.filter { $0.isLive && !$0.isFault && $0.entity.isKind(of: relationship.entity) }
    // The objects read here may have no other reference.
    var read = relationship.isToMany ? try prefetchMembers(of: relationship, owners) : []
    var references: [ObjectReference] = []
    var seen = Set<ObjectReference>()
    for owner in owners {
      if relationship.isToMany {
        for reference in try owner.members(of: relationship) where seen.insert(reference).inserted {
          references.append(reference)
        }
      } else if case .object(let box) = owner.values[relationship.slot], seen.insert(box.reference).inserted {
        references.append(box.reference)
      }
    }
    var missing: [Int64] = []
    for reference in references {
      if let object = registeredObject(reference), !object.isFault || object.state != .saved { continue }
      missing.append(reference.id)
    }
    read += try source.rows(root: relationship.destination.root, ids: missing).map { object(for: $0) }
    return withExtendedLifetime(read) { references.compactMap(registeredObject) }
  }

  /// Reads the members of a to-many relationship where they are not known; returns those that had to be read.
  private func prefetchMembers(
    of relationship: Relationship, _ owners: [ManagedObject]
  ) throws(Failure) -> [ManagedObject] {
    let owners = owners.filter { $0.toMany[relationship.slot] == nil && $0.state == .saved }
    return owners.isEmpty ? [] : try source.readMembers(of: relationship, owners, in: self)
  }
}
