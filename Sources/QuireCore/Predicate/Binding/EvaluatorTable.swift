/// What one predicate is for objects of several stores and entities.
///
/// An evaluator holds the model of its entity, be the store open or closed, so that few stores are remembered.
struct EvaluatorTable {
  private struct Part {
    let store: Text
    /// The entity is held: none that is made later has its identifier then.
    var evaluators: [ObjectIdentifier: (entity: Entity, evaluator: PredicateEvaluator)] = [:]
  }

  private static let mostStores = 4
  /// Of one store: more than a list of objects has.
  private static let mostEntities = 64

  /// The store that was asked about last comes first.
  private var parts: [Part] = []

  /// The evaluator for objects of `entity` in `store`. `bind` makes it where it is not known.
  mutating func evaluator(
    for entity: Entity, of store: Text, _ bind: () throws(Failure) -> BoundPredicate
  ) throws(Failure) -> PredicateEvaluator {
    let key = ObjectIdentifier(entity)
    if parts.first?.store != store { bringForward(store) }
    if let known = parts.first?.evaluators[key] { return known.evaluator }
    let evaluator = try bind().evaluator
    if parts[0].evaluators.count >= EvaluatorTable.mostEntities { parts[0].evaluators = [:] }
    parts[0].evaluators[key] = (entity, evaluator)
    return evaluator
  }

  private mutating func bringForward(_ store: Text) {
    var part = Part(store: store)
    if let place = parts.firstIndex(where: { $0.store == store }) {
      part = parts.remove(at: place)
    } else if parts.count >= EvaluatorTable.mostStores {
      parts.removeLast()
    }
    parts.insert(part, at: 0)
  }
}
