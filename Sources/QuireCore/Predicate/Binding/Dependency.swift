/// Where a query looks beyond its own rows: a property of the objects at the end of a path of relationships.
struct Dependency {
  let path: [Relationship]
  let property: Property

  func isSame(as other: Dependency) -> Bool {
    property === other.property && path.elementsEqual(other.path, by: ===)
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
