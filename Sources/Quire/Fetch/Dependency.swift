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
  /// What predicate, sections and sort keys depend on beyond the rows themselves.
  func dependencies() -> [Dependency] {
    var found = predicateReach.dependencies
    for dependency in sections?.reach.dependencies ?? [] where !found.contains(where: { $0.isSame(as: dependency) }) {
      found.append(dependency)
    }
    for path in sortPaths {
      for (depth, _) in path.relationships.enumerated() {
        let prefix = Array(path.relationships[...depth])
        let property = depth + 1 < path.relationships.count ? path.relationships[depth + 1] : path.last
        let dependency = Dependency(path: prefix, property: property)
        if !found.contains(where: { $0.isSame(as: dependency) }) { found.append(dependency) }
      }
    }
    return found
  }
}
