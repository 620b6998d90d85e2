/// Where a query looks beyond its own rows: a property of the objects at the end of a path of relationships.
struct Dependency {
  let path: [Relationship]
  let property: Property

  func isSame(as other: Dependency) -> Bool {
    property === other.property && path.elementsEqual(other.path, by: ===)
  }

  /// The objects that matter to the query when `property` changes, by the entity that declares it.
  func concerns(_ object: ManagedObject) -> Bool {
    path.last.map { object.entity.isKind(of: $0.destination) } ?? false
  }
}

extension FetchQuery {
  /// What predicate, sections, sort keys and further values depend on beyond the rows themselves.
  func dependencies() -> [Dependency] {
    var found = predicateReach.dependencies
    let others = (sections?.reach.dependencies ?? []) + (values?.dependencies ?? [])
    for dependency in others where !found.contains(where: { $0.isSame(as: dependency) }) {
      found.append(dependency)
    }
    for dependency in sortPaths.flatMap(\.dependencies) where !found.contains(where: { $0.isSame(as: dependency) }) {
      found.append(dependency)
    }
    return found
  }
}

extension FetchQuery {
  /// The properties of its rows that decide whether and where they are in the result, or more where it is not known.
  var ownProperties: PropertySet {
    if predicate?.sides.allSatisfy(\.isPure) == false { return .all }
    var found = predicateReach.own
    if let sections { found.formUnion(sections.reach.own) }
    for path in sortPaths { found.insert(slot: (path.relationships.first ?? path.last).slot) }
    return found
  }
}

extension ResolvedKeyPath {
  /// What it depends on beyond the object that it starts from.
  var dependencies: [Dependency] {
    relationships.indices.map { depth in
      Dependency(
        path: Array(relationships[...depth]),
        property: depth + 1 < relationships.count ? relationships[depth + 1] : last)
    }
  }
}
