/// The predicate of a validation rule.
final class PredicateCondition: ValidationCondition {
  let predicate: Predicate
  let text: Text
  let keyPaths: [[String]]

  /// Refuses what could not be evaluated for any object.
  init(_ predicate: Predicate) throws(Failure) {
    self.predicate = predicate
    text = Text(predicate.text)
    keyPaths = predicate.keyPaths
    if let variable = predicate.freeVariables.first {
      throw Failure(
        .invalidPredicate,
        "The predicate of a rule has the variable $\(variable), for which a save has no value: \(text). "
          + "Substitute one.")
    }
    _ = try PredicateEvaluator(predicate)
  }

  /// Takes what a model of a file says. A predicate that cannot be evaluated is refused by the save that asks it.
  init(keeping predicate: Predicate) {
    self.predicate = predicate
    text = Text(predicate.text)
    keyPaths = predicate.keyPaths
  }
}
