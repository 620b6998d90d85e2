/// What a program has called for the objects of an entity.
protocol ObjectHooks: AnyObject {
  var kinds: HookKinds { get }
  /// Calls one of `kinds`; what it fails with is the program's. `events` are for `awakeFromSnapshot`.
  func call(_ kind: HookKinds, _ object: ManagedObject, _ events: SnapshotEvents) throws(Failure)
}
