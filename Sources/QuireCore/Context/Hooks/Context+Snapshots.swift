/// Hooks around the context's own changes of objects' values. They are called when everything is in its place, and
/// cannot take it back. Their failure comes out of the call at its end.
extension Context {
  /// Runs the hooks of objects whose values are others now.
  func runHooks(_ events: SnapshotEvents, _ objects: some Sequence<ManagedObject>) {
    guard let hooks, hooks.kinds.contains(.awakeFromSnapshot) else { return }
    for object in objects where object.state != .forgotten { runHook(.awakeFromSnapshot, object, events) }
  }

  /// Has `body` take the values of those objects away for which that is possible, before and after the hooks.
  func turnIntoFaults(
    _ objects: [ManagedObject], if canTurn: (ManagedObject) -> Bool, _ body: (ManagedObject) -> Void
  ) {
    let isTold = hooks?.kinds.intersection([.willTurnIntoFault, .didTurnIntoFault]).isEmpty == false
    let told = isTold ? objects.filter { !$0.isFault } : []
    for object in told where canTurn(object) { runHook(.willTurnIntoFault, object) }
    for object in objects where canTurn(object) { body(object) }
    for object in told where object.isFault { runHook(.didTurnIntoFault, object) }
  }

  /// Throws what the hooks since the last time have failed with, if they have.
  func throwHookFailure() throws(Failure) {
    guard let failure = hookState.failure else { return }
    hookState.failure = nil
    throw failure
  }

  /// What the object sets of itself meanwhile is no change.
  private func runHook(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents = []) {
    let outer = hookState.awakening
    hookState.awakening = object
    defer { hookState.awakening = outer }
    do throws(Failure) { try call(kind, object, events) } catch { hookState.failure = error }
  }
}
