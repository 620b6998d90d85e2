/// A predicate whose names are resolved against an entity, ready for the store and for memory.
///
/// For one thread at a time.
struct BoundPredicate {
  /// As it was written; its keys have their properties, and texts beside dates are dates.
  let predicate: Predicate
  let reach: Reach
  let evaluator: PredicateEvaluator

  /// `store` is the UUID of the store that the objects in the predicate have to be of.
  init(_ predicate: Predicate, to entity: Entity, of store: Text) throws(Failure) {
    do throws(Failure) {
      var binder = Binder(entity, of: store)
      self.predicate = try binder.bind(predicate)
      reach = binder.reach
      if let disorder = binder.disorder { throw disorder }
    } catch {
      // A failure that needs no entity comes first.
      _ = try PredicateEvaluator(predicate)
      throw error
    }
    evaluator = try PredicateEvaluator(self.predicate)
  }
}

/// The same of an expression that stands alone.
struct BoundExpression {
  let expression: Expression
  let reach: Reach

  init(_ expression: Expression, to entity: Entity, of store: Text) throws(Failure) {
    var binder = Binder(entity, of: store)
    self.expression = try binder.bind(standingAlone: expression)
    reach = binder.reach
    if let disorder = binder.disorder { throw disorder }
  }
}
