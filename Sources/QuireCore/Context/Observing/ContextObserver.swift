/// Something that follows the changes of a context.
protocol ContextObserver: AnyObject {
  /// Objects that were inserted, changed or deleted, with their values as they are now.
  func contextDidChange(_ batch: ChangeBatch) throws(Failure)
  /// Temporary ids have become permanent, oldest first. What else follows from that, the observer touches.
  func contextDidAssignIDs(_ objects: [(object: ManagedObject, temporary: Int64)])
  /// Whether objects of that entity can matter to it.
  func follows(_ entity: Entity) -> Bool
}
