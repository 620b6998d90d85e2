/// The only view that predicates have of an object; the layer above conforms to it.
protocol PropertySource: AnyObject {
  /// The value for comparisons of the object: a reference.
  var identity: Value { get }

  /// Whether it has a property of the key's name.
  func hasProperty(of key: Key) -> Bool

  /// The value of a key, by its property where the key is bound to one. A to-many relationship is a list of objects, in
  /// their order.
  ///
  /// A to-one relationship is an object, whose keys may be asked next, or nil. With `asValue` only the value will be
  /// looked at, and the reference of the object is enough.
  func item(forKey key: Key, asValue: Bool) throws(Failure) -> Item

  /// Whether a value is there that would have to be read from a file; nil for other values.
  func holdsExternally(_ key: Key) throws(Failure) -> Bool?
}

extension PropertySource {
  func holdsExternally(_ key: Key) throws(Failure) -> Bool? { nil }
}
