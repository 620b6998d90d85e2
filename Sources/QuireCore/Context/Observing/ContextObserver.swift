/// Something that follows the changes of a context.
protocol ContextObserver: AnyObject {
  /// Objects that were inserted, changed or deleted, with their values as they are now.
  func contextDidChange(_ batch: ChangeBatch) throws(Failure)
  /// Temporary ids have become permanent, oldest first. What else follows from that, the observer touches.
  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)])
  /// The store has become another one, and nothing tells in what: the next notice is to be of all that differs.
  func loseTrack()
  /// Tells that now, or what was worked out beside the context, unless a notice has done so.
  func tellRest() throws(Failure)
  /// What a merge makes of it, to be worked out beside the context; nil where only the thread of the context can do
  /// that. Called on any thread while no call of the context is under way.
  func preparation() -> (any PreparedObserver)?
  /// Whether objects of that entity can matter to it.
  func follows(_ entity: Entity) -> Bool
  /// Whether it is to be fetched beside the context.
  var isFetchAsked: Bool { get }
  /// Has it fetched by the thread of the context after all.
  func fetchHere() throws(Failure)
}

extension ContextObserver {
  var isFetchAsked: Bool { false }
  func fetchHere() {}
}
