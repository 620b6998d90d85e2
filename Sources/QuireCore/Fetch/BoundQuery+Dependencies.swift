extension BoundQuery {
  /// What predicate, sections, sort keys and further values depend on beyond the rows themselves.
  func dependencies() -> [Dependency] {
    var found = predicate?.reach.dependencies ?? []
    let others = (sections?.reach.dependencies ?? []) + (values?.dependencies ?? [])
    for dependency in others where !found.contains(where: { $0.isSame(as: dependency) }) {
      found.append(dependency)
    }
    for dependency in sort.flatMap(\.path.dependencies) where !found.contains(where: { $0.isSame(as: dependency) }) {
      found.append(dependency)
    }
    return found
  }
}

extension BoundQuery {
  /// The properties of its rows that decide whether and where they are in the result, or more where it is not known.
  var ownProperties: PropertySet {
    if predicate?.predicate.sides.allSatisfy(\.isPure) == false { return .all }
    var found = predicate?.reach.own ?? PropertySet()
    if let sections { found.formUnion(sections.reach.own) }
    for key in sort { found.insert(slot: (key.path.relationships.first ?? key.path.last).slot) }
    return found
  }
}

extension Dependency {
  /// The objects that matter to the query when `property` changes, by the entity that declares it.
  func concerns(_ object: ManagedObject) -> Bool {
    path.last.map { object.entity.isKind(of: $0.destination) } ?? false
  }
}
