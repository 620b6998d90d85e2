/// Which hooks are called for which entity. Never changes, so that a call in progress may have it replaced.
final class HookTable {
  /// What at least one entity has.
  let kinds: HookKinds
  /// As they were set, by entity number; 0 is for all entities that have none of their own.
  private let given: [Int: any ObjectHooks]
  /// What holds for each entity, by number - 1.
  private let resolved: [(any ObjectHooks)?]

  private init(_ given: [Int: any ObjectHooks], _ model: Model) {
    self.given = given
    resolved = model.numberedEntities.map { entity in
      var current: Entity? = entity
      while let each = current {
        if let hooks = given[each.number] { return hooks }
        current = each.parent
      }
      return given[0]
    }
    kinds = given.values.reduce(into: []) { $0.formUnion($1.kinds) }
  }

  /// A table where `entity` and its heirs, or all others with nil, have these hooks, or with nil none of their own. nil
  /// when no entity has any.
  static func replacing(
    _ table: HookTable?, _ entity: Entity?, with hooks: (any ObjectHooks)?, model: Model
  ) -> HookTable? {
    var given = table?.given ?? [:]
    given[entity?.number ?? 0] = hooks
    return given.isEmpty ? nil : HookTable(given, model)
  }

  func hooks(_ kind: HookKinds, of entity: Entity) -> (any ObjectHooks)? {
    guard kinds.contains(kind), resolved.indices.contains(entity.number - 1),
      let hooks = resolved[entity.number - 1], hooks.kinds.contains(kind)
    else { return nil }
    return hooks
  }
}
