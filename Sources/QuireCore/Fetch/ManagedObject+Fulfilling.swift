extension ManagedObject {
  /// The predicate, to be asked about this object and others of its entity.
  func binding(_ predicate: Predicate) throws(Failure) -> BoundPredicate {
    try BoundPredicate(predicate, to: entity, of: context.store.uuid)
  }

  /// Whether the object, with its values as they are now, fulfils a predicate.
  func fulfils(_ predicate: Predicate) throws(Failure) -> Bool { try binding(predicate).evaluator.matches(self) }
}
