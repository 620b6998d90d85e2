/// What a bound predicate or expression looks at.
struct Reach {
  /// What it looks at beyond the object under test.
  private(set) var dependencies: [Dependency] = []
  /// Properties of the object itself, or more where it is not known which.
  var own = PropertySet()

  /// Adds a property of the objects at the end of a path from the object under test.
  mutating func add(_ path: [Relationship], _ property: Property) {
    if path.isEmpty {
      own.insert(slot: property.slot)
      return
    }
    if dependencies.contains(where: { $0.property === property && $0.path.elementsEqual(path, by: ===) }) { return }
    dependencies.append(Dependency(path: path, property: property))
  }
}
