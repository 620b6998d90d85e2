/// What a composite attribute is made of.
struct Composition: Sendable {
  /// What the model calls it; empty where a compiled model does not say.
  let name: Text
  /// Each may be composite itself.
  let elements: [Attribute]
}
