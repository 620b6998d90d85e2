/// A derivation that this version does not calculate, as an archive says it.
final class ArchivedDerivation: DerivationSource {
  /// nil where its text is no expression of the language.
  let expression: Expression?
  let filter: Predicate?

  init(_ expression: Expression?, filter: Predicate? = nil) {
    self.expression = expression
    self.filter = filter
  }
}
