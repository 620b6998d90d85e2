/// What else an attribute says of its values: how the store keeps them, and what the application makes of them.
struct AttributeTraits: Sendable {
  /// Large values may lie in files beside the store. Part of the version hash.
  var allowsExternalStorage = false
  /// The history of the store keeps the last value of a deleted object. Part of the version hash.
  var preservesAfterDeletion = false
  /// The transformer of the application that encodes a transformable value; empty for the usual one.
  var transformer: Text = ""
  /// The class of the values of a transformable attribute in the application; empty for none. Models of files may have
  /// one for attributes of any type.
  var valueClassName: Text = ""
  /// CloudKit may encrypt the values. Kept for the application.
  var allowsCloudEncryption = false
  /// Archive of the object that a transformable attribute begins with, where only the application can make its bytes.
  var archivedDefault: Bytes?

  /// Fails where a trait has no meaning for the attribute.
  func check(_ attribute: Attribute) throws(Failure) {
    func failure(_ problem: String) -> Failure {
      Failure(.invalidModel, "Attribute '\(attribute.qualifiedName)' \(problem)", about: .property(attribute))
    }
    if attribute.isTransient, allowsExternalStorage || preservesAfterDeletion {
      throw failure(
        "is transient: the store does not have it, so that it is neither stored externally nor preserved.")
    }
    if allowsExternalStorage, attribute.type != .binary, attribute.type != .transformable {
      throw failure("is of type \(attribute.type.name) and cannot be stored externally: only data can.")
    }
    if !transformer.isEmpty || !valueClassName.isEmpty, attribute.type != .transformable {
      throw failure(
        "is of type \(attribute.type.name): only a transformable one has a transformer or a class of values.")
    }
  }
}
