/// An expression as an element of a fetch index.
final class IndexedExpression: IndexExpression {
  let expression: Expression

  private init(_ expression: Expression) { self.expression = expression }

  /// What an index orders its rows by for this expression. SELF, `entity` and single keys have columns of their own.
  static func target(_ expression: Expression, of entity: Entity) -> FetchIndex.Target {
    switch expression {
    case .selfObject: return .object
    case .keyPath(let keys) where keys.count == 1, .path(.selfObject, let keys) where keys.count == 1:
      let name = keys[0].name
      // Those that it inherits may be added later; whether there is one is checked when the model is frozen.
      let isDeclared = entity.ownPropertyNames.contains(name)
      if keys[0].isSelf, !isDeclared { return .object }
      if name == "entity", !isDeclared { return .entity }
      return .property(name)
    default: return .expression(IndexedExpression(expression))
    }
  }
}
