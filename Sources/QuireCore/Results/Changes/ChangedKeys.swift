/// Which properties of a row changed, and at which of the names of a `ListWatch` something that it shows did.
struct ChangedKeys: Hashable {
  var properties = PropertySet()
  var names: Set<Int> = []
  /// Whether a row is to be reported even if it stays where it is.
  var isDisplayed = false
  /// Whether the row may have come to belong elsewhere.
  var isDecisive = false

  mutating func formUnion(_ other: ChangedKeys) {
    properties.formUnion(other.properties)
    names.formUnion(other.names)
    isDisplayed = isDisplayed || other.isDisplayed
    isDecisive = isDecisive || other.isDecisive
  }

  func texts(of entity: Entity, _ watch: ListWatch) -> [Text] {
    let own = entity.properties.filter { properties.contains($0) }.map { Text($0.name) }
    return own + names.sorted().filter { $0 < watch.names.count }.map { watch.names[$0] }
  }
}
