import CQuire

/// Hooks of C callbacks. It holds the caller's `user_data` and calls `destroy` when it goes.
private final class HookCallbacks: ObjectHooks {
  let kinds: HookKinds
  private let callbacks: quire_hooks

  init(_ callbacks: quire_hooks) {
    self.callbacks = callbacks
    var kinds: HookKinds = []
    if callbacks.awake_from_insert != nil { kinds.insert(.awakeFromInsert) }
    if callbacks.awake_from_fetch != nil { kinds.insert(.awakeFromFetch) }
    if callbacks.prepare_for_deletion != nil { kinds.insert(.prepareForDeletion) }
    if callbacks.will_save != nil { kinds.insert(.willSave) }
    if callbacks.validate != nil { kinds.insert(.validate) }
    if callbacks.did_save != nil { kinds.insert(.didSave) }
    if callbacks.will_turn_into_fault != nil { kinds.insert(.willTurnIntoFault) }
    if callbacks.did_turn_into_fault != nil { kinds.insert(.didTurnIntoFault) }
    if callbacks.awake_from_snapshot != nil { kinds.insert(.awakeFromSnapshot) }
    self.kinds = kinds
  }

  deinit { callbacks.destroy?(callbacks.user_data) }

  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents) throws(Failure) {
    let lent = UnsafeMutablePointer<quire_object>.lending(object)
    let name: String
    let hook:
      (
        @convention(c) (
          UnsafeMutableRawPointer?, UnsafeMutablePointer<quire_object>?,
          UnsafeMutablePointer<quire_value>?
        ) -> Bool
      )?
    switch kind {
    case .awakeFromInsert: (name, hook) = ("awake_from_insert", callbacks.awake_from_insert)
    case .awakeFromFetch: (name, hook) = ("awake_from_fetch", callbacks.awake_from_fetch)
    case .prepareForDeletion: (name, hook) = ("prepare_for_deletion", callbacks.prepare_for_deletion)
    case .willSave: (name, hook) = ("will_save", callbacks.will_save)
    case .validate: (name, hook) = ("validate", callbacks.validate)
    case .willTurnIntoFault: (name, hook) = ("will_turn_into_fault", callbacks.will_turn_into_fault)
    case .didTurnIntoFault: (name, hook) = ("did_turn_into_fault", callbacks.did_turn_into_fault)
    case .awakeFromSnapshot: (name, hook) = ("awake_from_snapshot", nil)
    default:
      callbacks.did_save?(callbacks.user_data, lent)
      return
    }
    var reason = quire_value()
    let isWell = withExtendedLifetime(object) {
      kind == .awakeFromSnapshot
        ? callbacks.awake_from_snapshot?(callbacks.user_data, lent, events.rawValue, &reason)
        : hook?(callbacks.user_data, lent, &reason)
    }
    if isWell != false { return }
    let subject = "The hook \(name) of \(object.summary) failed"
    guard quire_value_kind(rawValue: reason.kind) == QUIRE_VALUE_TEXT,
      case .text(let text)? = try? value(reason, "out_reason")
    else { throw Failure(.function, "\(subject) and gave no reason.") }
    throw Failure(.function, "\(subject): \(text)")
  }
}

@_cdecl("quire_context_set_hooks") @implementation
public func quire_context_set_hooks(
  _ context: UnsafeMutablePointer<quire_context>?, _ entity: CText, _ entity_size: Int,
  _ hooks: UnsafePointer<quire_hooks>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    let entity = entity == nil ? nil : try context.model.entity(named: string(entity, entity_size, "entity"))
    guard hooks != nil else { return context.setHooks(nil, for: entity) }
    let callbacks = try options(hooks, defaults: quire_hooks(), "hooks")
    try checkReserved(callbacks.reserved, "hooks")
    context.setHooks(HookCallbacks(callbacks), for: entity)
  }
}
