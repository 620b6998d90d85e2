/// The only view that predicates have of an object; the layer above conforms to it.
protocol PropertySource {
  /// The value at the end of to-one relationships, nil when one of them is. The empty path is the object itself.
  func value(atKeyPath path: [String]) throws(Failure) -> Value
}
