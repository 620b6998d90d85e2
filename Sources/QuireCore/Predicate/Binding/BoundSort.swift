/// A sort key whose key path is resolved against an entity.
struct BoundSort {
  let path: ResolvedKeyPath
  let isAscending: Bool
  let textOrder: TextOrder

  init(_ path: ResolvedKeyPath, isAscending: Bool = true, textOrder: TextOrder = .binary) {
    self.path = path
    self.isAscending = isAscending
    self.textOrder = textOrder
  }

  init(_ descriptor: SortDescriptor, of entity: Entity) throws(Failure) {
    self.init(
      try ResolvedKeyPath(descriptor.keyPath, of: entity, for: .sort), isAscending: descriptor.isAscending,
      textOrder: descriptor.textOrder)
  }

  /// As messages call it.
  var text: String { path.text + (isAscending ? "" : " descending") }
}

extension ResolvedKeyPath {
  /// The path as a bound expression has it.
  var keys: [Key] { (relationships + [last]).map { Key($0.name, $0) } }
}
