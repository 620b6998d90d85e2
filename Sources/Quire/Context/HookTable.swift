/// Points in the life of an object at which a program is called.
struct HookKinds: OptionSet, Sendable {
  let rawValue: UInt16

  static let awakeFromInsert = HookKinds(rawValue: 1)
  static let awakeFromFetch = HookKinds(rawValue: 2)
  static let prepareForDeletion = HookKinds(rawValue: 4)
  static let willSave = HookKinds(rawValue: 8)
  static let validate = HookKinds(rawValue: 16)
  static let didSave = HookKinds(rawValue: 32)
  static let willTurnIntoFault = HookKinds(rawValue: 64)
  static let didTurnIntoFault = HookKinds(rawValue: 128)
  static let awakeFromSnapshot = HookKinds(rawValue: 256)
}

/// What a program has called for the objects of an entity.
protocol ObjectHooks: AnyObject {
  var kinds: HookKinds { get }
  /// Calls one of `kinds`; what it fails with is the program's. `events` are for `awakeFromSnapshot`.
  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents) throws(Failure)
}

/// Who is called for which entity. Never changes, so that a call in progress may have it replaced.
final class HookTable {
  /// What at least one entity has.
  let kinds: HookKinds
  /// As they were given, by entity number; 0 is for all entities that have none of their own.
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
  /// when nobody has any.
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
