/// Calls the hooks of a program where objects come, go and are saved.
extension Context {
  /// As many as Core Data allows.
  private static let mostRounds = 1000
  /// Far more than programs need, and far from the end of a thread's stack.
  private static let deepestHooks = 64

  /// Has `hooks` called for the objects of `entity` and its heirs, or of all entities without their own when it is nil.
  func setHooks(_ hooks: (any ObjectHooks)?, for entity: Entity?) {
    // The end of the former ones calls the program, which may use the context again.
    let former = self.hooks
    self.hooks = HookTable.replacing(former, entity, with: hooks, model: model)
    withExtendedLifetime(former) {}
  }

  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents = []) throws(Failure) {
    guard let hooks = hooks?.hooks(kind, of: object.entity) else { return }
    if hookState.depth == Context.deepestHooks {
      throw Failure(
        .invalidState,
        "Hooks have called hooks \(Context.deepestHooks) deep, at last for \(object.summary). What a hook does to "
          + "another object must not come back to the first without end.")
    }
    hookState.depth += 1
    defer { hookState.depth -= 1 }
    try during(.inHook) { () throws(Failure) in try hooks.call(kind, object, events) }
  }

  // MARK: Coming and going

  /// For objects that were just inserted; when a hook fails, none of them has been.
  func awakeFromInsert(_ objects: [ManagedObject]) throws(Failure) {
    guard let hooks, hooks.kinds.contains(.awakeFromInsert) else { return }
    for object in objects {
      do throws(Failure) {
        try call(.awakeFromInsert, object)
      } catch {
        for object in objects where object.state == .inserted { markDeleted(object, isCancelledInsert: true) }
        throw error
      }
    }
  }

  /// Before an object is filed as deleted, with its relationships as they were.
  func prepareForDeletion(_ object: ManagedObject) throws(Failure) {
    guard let hooks, hooks.hooks(.prepareForDeletion, of: object.entity) != nil else { return }
    // Its own hook deletes it, directly or by way of another object.
    if hookState.preparing.contains(object) { return }
    hookState.preparing.insert(object)
    defer { hookState.preparing.remove(object) }
    try call(.prepareForDeletion, object)
  }

  /// Calls `awakeFromFetch` if the object was read and the program has not used it since.
  fileprivate func awakeFromFetch(_ object: ManagedObject) throws(Failure) {
    guard let hooks, hooks.hooks(.awakeFromFetch, of: object.entity) != nil else { return }
    if object.isFault, object.isLive { try object.fulfil() }
    if !object.awaitsAwakening || object.state == .gone { return }
    object.awaitsAwakening = false
    let outer = hookState.awakening
    hookState.awakening = object
    defer { hookState.awakening = outer }
    do throws(Failure) {
      try call(.awakeFromFetch, object)
    } catch {
      object.awaitsAwakening = true
      throw error
    }
  }

  // MARK: Saving

  /// Calls `willSave` for everything pending, and again for what changed meanwhile until nothing does.
  func willSave() throws(Failure) {
    guard let hooks, hooks.kinds.contains(.willSave) else { return }
    defer { hookState.changedInSave = nil }
    try during(.inSaveHooks) { () throws(Failure) in try runWillSave() }
  }

  private func runWillSave() throws(Failure) {
    var round = pending.all
    for _ in 0..<Context.mostRounds {
      hookState.changedInSave = ObjectSet()
      for object in round where isPending(object) {
        // It is about to be called for all changes so far.
        hookState.changedInSave?.remove(object)
        try call(.willSave, object)
      }
      try process()
      round = hookState.changedInSave?.take().filter(isPending) ?? []
      if round.isEmpty { return }
    }
    throw Failure(
      .invalidState,
      "will_save has changed objects in \(Context.mostRounds) rounds of one save, at last \(round[0].summary). "
        + "It must not change an object each time it is called; set a value only when it is another.")
  }

  private func isPending(_ object: ManagedObject) -> Bool {
    object.state == .inserted || object.state == .deleted || object.isUpdated
  }

  /// Calls `didSave` for what a save wrote. It may change objects again, for the next save.
  func didSave(_ inserted: [ManagedObject], _ updated: [ManagedObject], _ deleted: [ManagedObject]) {
    guard let hooks, hooks.kinds.contains(.didSave) else { return }
    during(.inSaveHooks) {
      for objects in [inserted, updated, deleted] {
        // The file has the changes: a hook that fails keeps that to itself.
        for object in objects { try? call(.didSave, object) }
      }
    }
  }

  /// Runs a validation, which must find objects at its end as they were when it looked at them.
  func withoutChanges(_ body: () throws(Failure) -> Void) throws(Failure) {
    guard let hooks, hooks.kinds.contains(.validate) else { return try body() }
    let time = clock.change
    try during(.inSaveHooks, body)
    if clock.change != time {
      throw Failure(
        .invalidState, "A validate hook has changed objects. Change them in will_save, which is called before.")
    }
  }

  /// What the hook `validate` of an object says against it.
  func refusals(of object: ManagedObject) throws(Failure) -> [Refusal] {
    guard let hooks, hooks.hooks(.validate, of: object.entity) != nil else { return [] }
    let outer = (hookState.validating, hookState.refusals)
    hookState.validating = object
    hookState.refusals = []
    defer { (hookState.validating, hookState.refusals) = outer }
    try call(.validate, object)
    return hookState.refusals
  }
}

extension ManagedObject {
  /// The first thing in a call that reads a value.
  func beginReadingValue() throws(Failure) {
    if isFault { try context.beginReading() }
    try awaken()
  }

  /// Tells the program that the object was read, before it first uses it. Values that the library reads for itself, for
  /// predicates and pages, awaken nothing: a fetch may be running.
  func awaken() throws(Failure) {
    if context.hooks != nil { try context.awakeFromFetch(self) }
  }

  /// Says why the object must not be saved; `key` is empty when no property is at fault. For its hook `validate`.
  func refuse(key: String, message: Text) throws(Failure) {
    if context.hookState.validating !== self {
      throw Failure(.invalidState, "\(summary) is not being validated; it is refused from its own validate hook only.")
    }
    var property: Property?
    var value = Value.nil
    if !key.isEmpty {
      let named = try entity.property(named: key)
      property = named
      if (named as? Relationship)?.isToMany != true { value = try self.value(of: named) }
    }
    if message.bytes.count == 0 {
      throw Failure(.invalidArgument, "The refusal of \(summary) has no message; say what is wrong with it.")
    }
    context.hookState.refusals.append(Refusal(property: property, value: value, message: message))
  }

  /// Whether `property` is to be set without being a change, because the object is in a hook that is for that. Its
  /// relationships cannot be set there: the other side would change.
  func isAwakening(for property: Property) throws(Failure) -> Bool {
    if context.hookState.awakening !== self { return false }
    if property is Relationship {
      throw Failure(
        .invalidState,
        "'\(property.qualifiedName)' cannot be changed in awake_from_fetch, awake_from_snapshot or around faults: a "
          + "relationship is a change of both its objects. Set attributes there.", about: .property(property))
    }
    return true
  }
}
