/// What hooks are doing to a context at the moment.
struct HookState {
  /// How many hooks are running, each called by what the one before does.
  var depth = 0
  /// The object whose `awakeFromFetch` is running, or one of the hooks around snapshots. Its values are set without
  /// being changes.
  var awakening: ManagedObject?
  /// What the last hook around snapshots failed with.
  var failure: Failure?
  /// Objects whose `prepareForDeletion` is running.
  var preparing = ObjectSet()
  /// The object whose `validate` is running, and what the hook said.
  var validating: ManagedObject?
  var refusals: [Refusal] = []
  /// Objects that changed since `willSave` was last called for them; nil when there is no such hook.
  var changedInSave: ObjectSet?
}
