extension Model {
  /// The 32 bytes of an entity's version hash. For a frozen model.
  func versionHash(ofEntityNamed name: String) throws(Failure) -> [UInt8] {
    let entity = try entity(named: name)
    return VersionHash(model: self).hashes[entity.number - 1]
  }
}
