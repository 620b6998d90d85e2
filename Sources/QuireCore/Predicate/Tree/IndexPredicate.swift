/// A predicate as the condition of a fetch index.
final class IndexPredicate: IndexCondition {
  let predicate: Predicate

  init(_ predicate: Predicate) { self.predicate = predicate }

  var keyPaths: [[String]] { predicate.keyPaths }
}
